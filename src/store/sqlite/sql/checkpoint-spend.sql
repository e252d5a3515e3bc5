-- Spends an approval on a merge: only once, only for the run, result tree, target commit and policy that it was bound to.
UPDATE checkpoints
SET data = json_set(data, '$.usedBy', :intent)
WHERE id = :id AND state = 'approved' AND kind = 'merge' AND run = :run
  AND json_extract(data, '$.usedBy') IS NULL
  AND json_extract(data, '$.binding.content') = :tree
  AND json_extract(data, '$.binding.targetCommit') = :target_commit
  AND (:policy_digest IS NULL OR json_extract(data, '$.binding.policyDigest') = :policy_digest)
