"""Tables of outbox.db: operations, journal, notes and requests, in one file so that one transaction covers all."""

from __future__ import annotations

_SCHEMA = """
CREATE TABLE operation (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  op_id TEXT NOT NULL UNIQUE,
  store TEXT NOT NULL,
  principal TEXT NOT NULL,
  app_user TEXT NOT NULL,
  operation TEXT NOT NULL,
  lanes TEXT NOT NULL,
  merge_key TEXT NOT NULL,
  path TEXT NOT NULL,
  query TEXT NOT NULL,
  body TEXT NOT NULL,
  sent_body BLOB,
  fingerprint TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,
  live INTEGER NOT NULL DEFAULT 1,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before REAL NOT NULL DEFAULT 0,
  first_sent_at REAL,
  last_error TEXT NOT NULL DEFAULT '',
  created_at REAL NOT NULL,
  occurred_at TEXT NOT NULL,
  depends_on TEXT NOT NULL DEFAULT '',
  superseded_by TEXT NOT NULL DEFAULT '',
  job_id TEXT NOT NULL DEFAULT '',
  event_seq INTEGER NOT NULL DEFAULT 0,
  answer TEXT NOT NULL DEFAULT '',
  confirmed_at REAL,
  read_back_at REAL,
  closed_by TEXT NOT NULL DEFAULT '',
  schema_version INTEGER NOT NULL DEFAULT 1,
  has_key INTEGER NOT NULL DEFAULT 0,
  in_doubt_at REAL,
  absence_final_at REAL,
  parts TEXT NOT NULL DEFAULT '',
  evidence TEXT NOT NULL DEFAULT '',
  terminal TEXT NOT NULL DEFAULT '',
  replayed_at REAL,
  keyed_since REAL,
  read_intervals TEXT NOT NULL DEFAULT ''
);
CREATE INDEX operation_live ON operation (state, n) WHERE live = 1;
CREATE INDEX operation_merge ON operation (merge_key, n) WHERE state = 'queued' AND merge_key <> '';
CREATE INDEX operation_depends ON operation (depends_on) WHERE depends_on <> '';
CREATE TABLE operation_lane (
  lane TEXT NOT NULL,
  n INTEGER NOT NULL REFERENCES operation (n),
  PRIMARY KEY (lane, n)
) WITHOUT ROWID;
CREATE INDEX operation_lane_n ON operation_lane (n);
CREATE VIEW ready AS
SELECT o.n, o.op_id, o.sent_body, o.not_before, o.principal FROM operation o
WHERE o.live = 1 AND o.state = 'queued'
AND NOT EXISTS (
  SELECT 1 FROM operation_lane mine
  JOIN operation_lane elder ON elder.lane = mine.lane AND elder.n < mine.n
  JOIN operation other ON other.n = elder.n
  WHERE mine.n = o.n AND other.state IN ('queued', 'sending', 'in_doubt', 'needs_person')
)
AND (o.depends_on = '' OR EXISTS (
  SELECT 1 FROM operation first WHERE first.op_id = o.depends_on AND first.state IN ('done', 'closed')
));

CREATE TABLE session (
  session_id TEXT PRIMARY KEY,
  terminal TEXT NOT NULL,
  store TEXT NOT NULL,
  user TEXT NOT NULL,
  version TEXT NOT NULL,
  pid INTEGER NOT NULL,
  birth TEXT NOT NULL,
  started REAL NOT NULL,
  last_seen REAL NOT NULL,
  ended REAL
) WITHOUT ROWID;
CREATE INDEX session_seen ON session (last_seen);
CREATE TABLE sign_in (
  terminal TEXT PRIMARY KEY,
  user TEXT NOT NULL,
  name TEXT NOT NULL,
  since REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE job (
  job_id TEXT PRIMARY KEY,
  store TEXT NOT NULL,
  user TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  parent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  opened REAL NOT NULL,
  opened_seq INTEGER NOT NULL,
  closed REAL,
  snapshot TEXT NOT NULL DEFAULT '',
  snapshot_seq INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX job_open ON job (store, user, opened_seq) WHERE closed IS NULL;
CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  at REAL NOT NULL,
  occurred TEXT NOT NULL,
  raw TEXT NOT NULL,
  kind TEXT NOT NULL,
  event TEXT NOT NULL,
  facts TEXT NOT NULL,
  step_before TEXT NOT NULL,
  step_after TEXT NOT NULL,
  verdict TEXT NOT NULL
);
CREATE INDEX event_job ON event (job_id, seq);

CREATE TABLE read_request (
  topic TEXT NOT NULL,
  key TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (topic, key)
) WITHOUT ROWID;

CREATE INDEX operation_logs ON operation (created_at) WHERE operation = 'create-store-product-logs';

CREATE INDEX operation_doubt ON operation (not_before) WHERE live = 1 AND state IN ('in_doubt', 'needs_person');
CREATE TABLE observed_behaviour (name TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL) WITHOUT ROWID;

CREATE TABLE order_in_work (
  order_number TEXT NOT NULL,
  job_id TEXT NOT NULL,
  since REAL NOT NULL,
  PRIMARY KEY (order_number, job_id)
) WITHOUT ROWID;
CREATE INDEX order_in_work_job ON order_in_work (job_id);

CREATE TABLE local_note (
  topic TEXT NOT NULL,
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  user TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (topic, key)
) WITHOUT ROWID;
CREATE INDEX operation_order ON operation (body ->> '$.orders.order_number', n)
WHERE operation = 'update-customer-order';

CREATE TABLE request (
  request_id TEXT PRIMARY KEY,
  store TEXT NOT NULL,
  user TEXT NOT NULL,
  terminal TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  has_secret INTEGER NOT NULL,
  requested_at REAL NOT NULL,
  deadline REAL NOT NULL,
  state TEXT NOT NULL,
  started_at REAL,
  ended_at REAL,
  answer TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX request_open ON request (requested_at) WHERE state IN ('requested', 'started');
CREATE INDEX operation_day ON operation (created_at, operation, app_user);

CREATE INDEX operation_settings ON operation (body ->> '$[0].product_number', n)
WHERE operation = 'update-store-products';

CREATE TABLE user_token (principal TEXT PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX operation_own ON operation (principal, n) WHERE live = 1 AND state = 'queued' AND principal <> 'store';

-- Sequence of writes to operations: a reader that has read all reads again only those written later.
CREATE TABLE operation_change (seq INTEGER PRIMARY KEY, n INTEGER NOT NULL);
CREATE TRIGGER operation_added AFTER INSERT ON operation BEGIN INSERT INTO operation_change (n) VALUES (new.n); END;
CREATE TRIGGER operation_changed
AFTER UPDATE OF n, body, state, live, parts, confirmed_at, first_sent_at, in_doubt_at, evidence ON operation
BEGIN INSERT INTO operation_change (n) VALUES (new.n); END;
CREATE TRIGGER operation_dropped AFTER DELETE ON operation WHEN old.live = 1
BEGIN INSERT INTO operation_change (n) VALUES (old.n); END;
CREATE TRIGGER operation_change_pruned AFTER INSERT ON operation_change WHEN new.seq % 1000 = 0
BEGIN DELETE FROM operation_change WHERE seq <= new.seq - 10000; END;
INSERT INTO operation_change (n) VALUES (0);

-- Keys in the body of an operation, by which the overlay of pending operations finds it. A key that a body has no
-- longer stays until the operation is deleted: who reads by it checks the body.
CREATE TABLE operation_key (
  field TEXT NOT NULL,
  key TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (field, key, n)
) WITHOUT ROWID;
CREATE INDEX operation_key_n ON operation_key (n, field);
CREATE VIEW body_key AS
SELECT o.n, iif(e.key = 'customer_order_number', 'order_number', e.key) AS field, e.atom AS key
FROM operation o, json_tree(o.body) e
WHERE e.key IN ('order_number', 'customer_order_number', 'product_number', 'location_code', 'reference')
AND e.type IN ('text', 'integer');
CREATE TRIGGER operation_keyed AFTER INSERT ON operation
BEGIN INSERT OR IGNORE INTO operation_key (field, key, n) SELECT field, key, n FROM body_key WHERE n = new.n; END;
CREATE TRIGGER operation_rekeyed AFTER UPDATE OF body ON operation
BEGIN INSERT OR IGNORE INTO operation_key (field, key, n) SELECT field, key, n FROM body_key WHERE n = new.n; END;
CREATE TRIGGER operation_key_dropped AFTER DELETE ON operation WHEN old.live = 0
BEGIN DELETE FROM operation_key WHERE n = old.n; END;

-- Five weeks of sessions are kept.
CREATE INDEX session_terminal ON session (terminal);
CREATE INDEX session_open ON session (started) WHERE ended IS NULL;

-- Host start that the stored times refer to (see aisle.courier.clock_skew_and_clock_jump).
CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, began REAL NOT NULL);

-- A month is kept, and each opening of an order deletes older rows.
CREATE INDEX order_in_work_since ON order_in_work (since);

-- Restores of the service, with the operations replayed. `keyed_since`: time since when the service keeps the key.
CREATE INDEX operation_confirmed ON operation (confirmed_at) WHERE state = 'done' AND has_key = 1;
CREATE INDEX operation_unkeyed ON operation (confirmed_at) WHERE state = 'done' AND has_key = 0;
CREATE TABLE restore (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  noticed_at REAL NOT NULL,
  how TEXT NOT NULL,
  again INTEGER NOT NULL,
  looked_for INTEGER NOT NULL
);
"""
"""Records of outbox and journal follow the order of the columns.

`read_intervals` has the intervals in which reads included an operation before it was replayed, one for each restore.
"""

OUTBOX_MIGRATIONS = (_SCHEMA,)
"""One script for each version of the file; a released one is never changed, columns are appended."""
