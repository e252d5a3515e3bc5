import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bindingChanges, bindingDigest } from '../../../src/checkpoints/binding.ts';
import type { Binding } from '../../../src/domain/checkpoint.ts';
import type { ObjectId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';

const bindings = fc.record({
  action: fc.string(),
  content: fc.string(),
  targetCommit: fc.string() as unknown as fc.Arbitrary<ObjectId>,
  policyDigest: fc.string(),
  paths: fc.array(fc.string()) as unknown as fc.Arbitrary<RepoPath[]>,
  nonce: fc.string(),
}) satisfies fc.Arbitrary<Binding>;

test('the digest differs for any two bindings that differ, and ignores the order of paths', () => {
  fc.assert(
    fc.property(bindings, bindings, (left, right) => {
      const canonical = (binding: Binding) => ({ ...binding, paths: [...binding.paths].sort() });
      const same = JSON.stringify(canonical(left)) === JSON.stringify(canonical(right));
      expect(bindingDigest(left) === bindingDigest(right)).toBe(same);
      expect(bindingDigest({ ...left, paths: [...left.paths].reverse() })).toBe(bindingDigest(left));
    }),
  );
});

test('text that moves from one field to its neighbour changes the digest', () => {
  const base = { content: '', targetCommit: '' as ObjectId, policyDigest: '', paths: [], nonce: '' };
  expect(bindingDigest({ ...base, action: 'ab', content: 'c' })).not.toBe(
    bindingDigest({ ...base, action: 'a', content: 'bc' }),
  );
});

test('changes name every difference, and none where there is none', () => {
  fc.assert(
    fc.property(bindings, fc.boolean(), fc.boolean(), fc.boolean(), (binding, content, target, policy) => {
      const changed = bindingChanges(binding, {
        content: content ? `${binding.content}x` : binding.content,
        targetCommit: target ? `${binding.targetCommit}x` : binding.targetCommit,
        policyDigest: policy ? `${binding.policyDigest}x` : binding.policyDigest,
      });
      expect(changed).toHaveLength([content, target, policy].filter(Boolean).length);
    }),
  );
});
