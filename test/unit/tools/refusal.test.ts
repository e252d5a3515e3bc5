import { describe, expect, it } from 'vitest';
import { refusalText } from '../../../src/agents/builtin/tools/refusal.ts';

describe('refusalText', () => {
  it('says decision, rule, origin and what to do instead', () => {
    const verdict = { decision: 'deny', rule: 'Lib/test/**', origin: 'policies/roles/coder.yaml:8' } as const;
    const text = refusalText({ role: 'coder', operation: 'modify', path: 'Lib/test/x.py', verdict });
    expect(text).toContain('coder may not modify Lib/test/x.py');
    expect(text).toContain('decision deny, rule Lib/test/**, policies/roles/coder.yaml:8');
    expect(text).toContain('append_note');
  });

  it('names the command behind a generated file', () => {
    const generatedSources = [{ output: 'Lib/keyword.py', command: 'make regen-keyword' }];
    const verdict = { decision: 'generated' } as const;
    const refusal = { role: 'coder', operation: 'modify', path: 'Lib/keyword.py', verdict, generatedSources } as const;
    expect(refusalText(refusal)).toContain('make regen-keyword');
    expect(refusalText({ ...refusal, path: 'Lib/token.py' })).not.toContain('make regen-keyword');
    const clinic = [...generatedSources, { output: '**/clinic/*.{c.h,h.h}', command: 'make clinic' }];
    expect(refusalText({ ...refusal, path: 'Modules/clinic/a.c.h', generatedSources: clinic })).toContain(
      'make clinic',
    );
  });

  it('says why a path is not in the repository', () => {
    const verdict = { decision: 'out' } as const;
    const text = refusalText({
      role: 'coder',
      operation: 'create',
      path: '/etc/x',
      verdict,
      outside: 'it is elsewhere',
    });
    expect(text).toContain('decision out, it is elsewhere');
  });
});
