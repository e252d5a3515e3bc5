-- Times are milliseconds since the epoch; *_milli are thousandths of a work token; data columns hold JSON.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  run TEXT, task TEXT, role TEXT, agent TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_run ON events (run, seq);

CREATE TABLE runs (
  id TEXT PRIMARY KEY, state TEXT NOT NULL, created_at INTEGER NOT NULL, data TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
  run TEXT NOT NULL, id TEXT NOT NULL, ordinal INTEGER NOT NULL, state TEXT NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (run, id)
) STRICT;

CREATE TABLE steps (
  run TEXT NOT NULL, task TEXT NOT NULL, role TEXT NOT NULL, attempt INTEGER NOT NULL,
  ordinal INTEGER NOT NULL, state TEXT NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (run, task, role, attempt)
) STRICT;

-- One row a turn of a conversation. state: pending (tool calls not all answered) | done. snapshot: tree after the turn.
CREATE TABLE turns (
  agent TEXT NOT NULL, turn INTEGER NOT NULL, state TEXT NOT NULL, snapshot TEXT, data TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (agent, turn)
) STRICT;

CREATE TABLE snapshots (
  run TEXT NOT NULL, task TEXT NOT NULL, role TEXT NOT NULL, n INTEGER NOT NULL, tree TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (run, task, role, n)
) STRICT;

CREATE TABLE checkpoints (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, run TEXT NOT NULL, task TEXT, role TEXT,
  created_at INTEGER NOT NULL, answered_at INTEGER, data TEXT NOT NULL
) STRICT;
CREATE INDEX checkpoints_by_state ON checkpoints (state, created_at);

-- A scope of spending. cap_milli is null for unlimited. Invariant: spent + held <= cap at every admission.
CREATE TABLE budgets (
  scope TEXT PRIMARY KEY, cap_milli INTEGER, spent_milli INTEGER NOT NULL DEFAULT 0, held_milli INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One row a logical model call, durable before the first upstream byte. state: reserved | sent | settled | forfeit.
CREATE TABLE calls (
  id TEXT PRIMARY KEY, state TEXT NOT NULL,
  run TEXT, task TEXT, role TEXT NOT NULL, agent TEXT, attempt INTEGER, model TEXT NOT NULL, protocol TEXT NOT NULL,
  key_tail TEXT NOT NULL, day TEXT NOT NULL,
  reserved_input INTEGER NOT NULL, reserved_output INTEGER NOT NULL, reserved_milli INTEGER NOT NULL, scopes TEXT NOT NULL,
  requests INTEGER NOT NULL DEFAULT 0,
  input INTEGER NOT NULL DEFAULT 0, cache_read INTEGER NOT NULL DEFAULT 0, cache_write_5m INTEGER NOT NULL DEFAULT 0,
  cache_write_1h INTEGER NOT NULL DEFAULT 0, output INTEGER NOT NULL DEFAULT 0, reasoning INTEGER NOT NULL DEFAULT 0,
  work_milli INTEGER NOT NULL DEFAULT 0, estimated_tokens INTEGER NOT NULL DEFAULT 0, forfeit_tokens INTEGER NOT NULL DEFAULT 0,
  usd_micros INTEGER, source TEXT, created_at INTEGER NOT NULL, settled_at INTEGER
) STRICT;
CREATE INDEX calls_by_state ON calls (state);
CREATE INDEX calls_by_run ON calls (run, task, role);

-- One row a physical attempt of a call (retries are children).
CREATE TABLE call_attempts (
  call TEXT NOT NULL, n INTEGER NOT NULL, status INTEGER, outcome TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (call, n)
) STRICT;

-- An external effect: the intent row is written first, then the effect happens, then the row is done (or void).
CREATE TABLE intents (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, run TEXT, created_at INTEGER NOT NULL, data TEXT NOT NULL
) STRICT;

CREATE TABLE violations (
  id TEXT PRIMARY KEY, run TEXT, task TEXT, role TEXT, path TEXT NOT NULL, detected_at INTEGER NOT NULL, data TEXT NOT NULL
) STRICT;

CREATE TABLE conflicts (
  id TEXT PRIMARY KEY, run TEXT NOT NULL, path TEXT NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, data TEXT NOT NULL
) STRICT;

-- What a human allowed: kind access (the path may be written in this task) or content (exactly this blob; '' = deleted).
CREATE TABLE grants (
  run TEXT NOT NULL, task TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, blob TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL, checkpoint TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (run, task, path, kind, blob)
) STRICT;
