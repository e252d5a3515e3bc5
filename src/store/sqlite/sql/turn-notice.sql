-- Replaces the record of a turn that is done (a human's answer is added to its notices).
UPDATE turns SET data = :data, snapshot = :snapshot WHERE agent = :agent AND turn = :turn
