import { describe, expect, it } from 'vitest';
import { planProblem } from '../../../src/scheduler/submissions.ts';
import { role } from './fixtures.ts';

const pipeline = ['planner', 'coder', 'test'].map(role);
const fine = { title: 't', expected_paths: [], instructions: 'i' };

describe('planProblem', () => {
  it('takes a plan whose roles and dependencies exist', () => {
    expect(planProblem({ tasks: [fine, { ...fine, steps: ['coder'], depends_on: [0] }] }, pipeline)).toBeUndefined();
  });

  it.each([
    [[], 'holds no task'],
    [[{ ...fine, steps: ['reviewer'] }], 'names the role reviewer'],
    [[{ ...fine, steps: ['planner'] }], 'names the role planner'],
    [[{ ...fine, depends_on: [1] }], 'depends on 1'],
    [[{ ...fine, depends_on: [0] }], 'depends on 0'],
    [
      [
        { ...fine, depends_on: [1] },
        { ...fine, depends_on: [0] },
      ],
      'circle',
    ],
    [Array.from({ length: 31 }, () => fine), '31 tasks'],
  ])('says what is wrong with %j', (tasks, text) => {
    expect(planProblem({ tasks }, pipeline)).toContain(text);
  });
});
