"""The tables, as numbered migrations. A migration that was released is never changed again."""

from __future__ import annotations

from aisle.service.sql.schema_fields import IN_DIALECT
from aisle.service.sql.schema_first import FIRST

# Tables whose rows are short and read by their whole key.
NARROW = frozenset({"counter", "product_code", "balance", "taken", "anchor", "change", "token_store"})

# Keys belonged to tokens (twelve digits and a slash in front of them), so a replaced token made its requests new ones.
_KEYS_OF_STORES = (
    "ALTER TABLE idempotency RENAME TO idempotency_of_tokens",
    """CREATE TABLE idempotency (
        store_number TEXT NOT NULL,
        request_key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        status BIGINT NOT NULL,
        body BYTEA NOT NULL,
        created_on TEXT NOT NULL,
        PRIMARY KEY (store_number, request_key)
    )""",
    """INSERT INTO idempotency (store_number, request_key, fingerprint, status, body, created_on)
        SELECT store_number, request_key, fingerprint, status, body, created_on FROM idempotency_of_tokens
        WHERE true ORDER BY created_on, principal_id
        ON CONFLICT (store_number, request_key) DO NOTHING""",
    "DROP TABLE idempotency_of_tokens",
    "CREATE INDEX idempotency_age ON idempotency (created_on)",
    # Where two tokens had used the same key, one of them gives it its name from now on.
    """UPDATE leg SET op_id = substr(op_id, 14)
        WHERE op_id LIKE '____________/%' AND NOT EXISTS (
            SELECT 1 FROM token t JOIN leg twin
                ON twin.store_number = leg.store_number AND twin.leg = leg.leg
                AND twin.op_id = t.token_id || '/' || substr(leg.op_id, 14)
            WHERE t.token_id < substr(leg.op_id, 1, 12))""",
    "UPDATE stock_log SET op_id = substr(op_id, 14) WHERE op_id LIKE '____________/%'",
)

# Grows with each change of the order or its lines, for `If-Match`.
_VERSIONS = ("ALTER TABLE customer_order ADD COLUMN version BIGINT NOT NULL DEFAULT 1",)

# Goods that are announced, what came of them, and goods that a clearance has assigned to be moved.
_DELIVERIES = (
    """CREATE TABLE delivery (
        store_number TEXT NOT NULL,
        order_number TEXT NOT NULL,
        seq BIGINT NOT NULL,
        ordinal BIGINT NOT NULL,
        order_type BIGINT NOT NULL,
        status TEXT NOT NULL,
        supplier_code TEXT NOT NULL,
        supplier_search TEXT NOT NULL,
        expected_on TEXT NOT NULL,
        updated_on TEXT NOT NULL,
        receipt_seq BIGINT,
        fingerprint TEXT NOT NULL,
        item TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (store_number, order_number),
        FOREIGN KEY (store_number) REFERENCES store (store_number)
    )""",
    "CREATE UNIQUE INDEX delivery_seq ON delivery (store_number, seq)",
    "CREATE INDEX delivery_chain ON delivery (seq, ordinal, store_number)",
    "CREATE INDEX delivery_receipt ON delivery (receipt_seq, ordinal, store_number) WHERE receipt_seq IS NOT NULL",
    """CREATE TABLE delivery_line (
        store_number TEXT NOT NULL,
        order_number TEXT NOT NULL,
        line_number BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        product_number TEXT NOT NULL,
        quantity BIGINT NOT NULL,
        received BIGINT NOT NULL,
        target_pool BIGINT,
        customer_order TEXT NOT NULL,
        customer_line BIGINT NOT NULL,
        updated_on TEXT NOT NULL,
        item TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (store_number, order_number, line_number),
        FOREIGN KEY (store_number, order_number) REFERENCES delivery (store_number, order_number),
        FOREIGN KEY (product_number) REFERENCES product (product_number)
    )""",
    """CREATE TABLE assignment (
        store_number TEXT NOT NULL,
        seq BIGINT NOT NULL,
        product_number TEXT NOT NULL,
        location_code TEXT NOT NULL,
        pool BIGINT NOT NULL,
        order_number TEXT NOT NULL,
        line_number BIGINT NOT NULL,
        quantity BIGINT NOT NULL,
        location_tag TEXT NOT NULL,
        created_on TEXT NOT NULL,
        done_on TEXT,
        PRIMARY KEY (store_number, seq)
    )""",
    """CREATE UNIQUE INDEX assignment_open
        ON assignment (store_number, product_number, location_code, pool, order_number, line_number)
        WHERE done_on IS NULL""",
)

# Products that are deleted while history still names them, groups of products, the word that an order's creator gives a
# line for its state, and the shipments that bring goods for order lines.
_CONFORMANCE = (
    "ALTER TABLE product ADD COLUMN deleted_on TEXT",
    "ALTER TABLE product ADD COLUMN group_code TEXT NOT NULL DEFAULT ''",
    "UPDATE product SET group_code = category_code",
    "ALTER TABLE order_line ADD COLUMN fulfilment TEXT NOT NULL DEFAULT ''",
    """CREATE TABLE shipment_line (
        store_number TEXT NOT NULL,
        order_number TEXT NOT NULL,
        line_number BIGINT NOT NULL,
        shipment_number TEXT NOT NULL,
        shipment_line BIGINT,
        PRIMARY KEY (store_number, order_number, line_number)
    )""",
    "CREATE INDEX shipment_line_of ON shipment_line (store_number, shipment_number)",
)

# What an advanced search looks through; '' of products that were not written since.
_DETAIL = ("ALTER TABLE product ADD COLUMN detail TEXT NOT NULL DEFAULT ''",)

# Where goods that are held for a line lie; '' is somebody's hand. Of goods put down before, nobody knows the origin.
_ORIGINS = ("ALTER TABLE taken ADD COLUMN held_place TEXT NOT NULL DEFAULT ''",)

# Tokens that people got for their PIN, from which token and as whom; PINs that were wrong; counts that were ordered;
# lines that are rejected.
_SIGN_IN = (
    "ALTER TABLE token ADD COLUMN parent_id TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE token ADD COLUMN person_store TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE token ADD COLUMN person_badge TEXT NOT NULL DEFAULT ''",
    """CREATE TABLE sign_in_failure (
        store_number TEXT NOT NULL,
        who TEXT NOT NULL,
        failures BIGINT NOT NULL,
        failed_on TEXT NOT NULL,
        locked_until TEXT NOT NULL,
        PRIMARY KEY (store_number, who)
    )""",
    """CREATE TABLE recount (
        store_number TEXT NOT NULL,
        seq BIGINT NOT NULL,
        product_number TEXT NOT NULL,
        location_code TEXT NOT NULL,
        log_seq BIGINT,
        note TEXT NOT NULL,
        state TEXT NOT NULL,
        ordered_by TEXT NOT NULL,
        ordered_on TEXT NOT NULL,
        ended_by TEXT NOT NULL,
        ended_on TEXT,
        count_seq BIGINT,
        PRIMARY KEY (store_number, seq),
        FOREIGN KEY (product_number) REFERENCES product (product_number)
    )""",
    """CREATE UNIQUE INDEX recount_open ON recount (store_number, product_number, location_code)
        WHERE state = 'open'""",
    "ALTER TABLE order_line ADD COLUMN is_rejected BIGINT NOT NULL DEFAULT 0",
)

# Where a store's log begins to be younger than a moment.
_LOG_AGES = ("CREATE INDEX stock_log_created ON stock_log (store_number, created_on, seq)",)

# Receipts of a kind in the order of the chain's list: any page of it is in one place of the index.
_KINDS_OF_RECEIPTS = (
    """CREATE INDEX delivery_receipt_kind ON delivery (order_type, receipt_seq, ordinal, store_number, seq)
        WHERE receipt_seq IS NOT NULL""",
)

# Receipts of a kind of one store; every list of receipts is of one kind, the index without kinds has no more use.
_RECEIPTS_OF_STORES = (
    """CREATE INDEX delivery_receipt_store ON delivery (store_number, order_type, receipt_seq, ordinal, seq)
        WHERE receipt_seq IS NOT NULL""",
    "DROP INDEX delivery_receipt",
)

# What a chain is asked for again and again: what changed since, what is to be reviewed, and why goods were lost. Of a
# change of stock it is the day that has an index: a row that has one already is written without touching any.
_POLLS = (
    "ALTER TABLE store_product ADD COLUMN stock_modified_day TEXT NOT NULL DEFAULT ''",
    """UPDATE store_product SET stock_modified_day = substr(stock_modified_on, 1, 10)
        WHERE stock_modified_on IS NOT NULL""",
    "CREATE INDEX store_product_stocked ON store_product (stock_modified_day, seq, ordinal, store_number)",
    "CREATE INDEX product_modified ON product (modified_on)",
    "CREATE INDEX stock_log_updated ON stock_log (updated_on, seq, ordinal, store_number)",
    """CREATE INDEX stock_log_review ON stock_log (review_status, seq, ordinal, store_number)
        WHERE review_status <> 0""",
    """CREATE INDEX stock_log_reason ON stock_log (reason_code, seq, ordinal, store_number)
        WHERE reason_code IS NOT NULL""",
    "CREATE INDEX store_product_modified ON store_product (modified_on, seq, ordinal, store_number)",
    "CREATE INDEX delivery_updated ON delivery (updated_on, seq, ordinal, store_number)",
    "CREATE INDEX delivery_number ON delivery (order_number, seq, ordinal, store_number)",
)

# A log goes on for years, and what is asked for are its last months: the chain's, a product's, a store's own. The
# moment itself comes last: without it PostgreSQL would look at each row for what the index knows of it.
_LOG_MONTHS = (
    "CREATE INDEX stock_log_month ON stock_log (substr(created_on, 1, 7), seq, ordinal, store_number, created_on)",
    """CREATE INDEX stock_log_article
        ON stock_log (product_number, substr(created_on, 1, 7), seq, ordinal, store_number, created_on)""",
    "CREATE INDEX stock_log_months ON stock_log (store_number, substr(created_on, 1, 7), seq, ordinal, created_on)",
    "DROP INDEX stock_log_created",
)

# What is to come of a group of products, wherever it comes to.
_GROUPS_OF_DELIVERIES = (
    "CREATE INDEX product_group ON product (group_code)",
    "CREATE INDEX delivery_line_product ON delivery_line (product_number, store_number, order_number)",
)

# How many there are is counted as they come and go, and what changed in a store is found without looking through it.
_COUNTERS = (
    """INSERT INTO counter (store_number, name, value)
        SELECT '*', 'product', count(*) FROM product WHERE deleted_on IS NULL""",
    """INSERT INTO counter (store_number, name, value)
        SELECT c.store_number, 'location_gone', c.value - count(l.location_code)
        FROM counter c LEFT JOIN location l ON l.store_number = c.store_number
        WHERE c.name = 'location' GROUP BY c.store_number, c.value""",
    "CREATE INDEX product_known ON product (product_number) WHERE deleted_on IS NULL",
    "CREATE INDEX store_area ON store (area_id, store_number)",
    "CREATE INDEX store_warehouse ON store (is_warehouse, store_number)",
    "CREATE INDEX store_product_stocked_here ON store_product (store_number, stock_modified_day, seq)",
    "CREATE INDEX store_product_modified_here ON store_product (store_number, modified_on, seq)",
)

# Texts that are searched, in words as `aisle.words` keeps them: they had their punctuation, and letters that no accent
# makes. The function is the program's own (`text.refolded`); PostgreSQL has it done for it.
REFOLDED = (
    "UPDATE product SET search = refolded(search)",
    "UPDATE product SET detail = refolded(detail)",
    "UPDATE store SET search = refolded(search)",
    "UPDATE location SET search = refolded(search)",
    "UPDATE customer_order SET search = refolded(search)",
    "UPDATE delivery SET supplier_search = refolded(supplier_search)",
)

# What stands anywhere in a product's texts; each engine has this index in its own way (`storage/grams.py`).
GRAMS = "CREATE INDEX product_gram ON product (search)"

# Measures of products, as words of their own: `200g` and `200 g` are one (`text.measured`, by each engine in its way).
MEASURED = "UPDATE product SET search = measured(search, product_name), detail = measured(detail, product_name)"

# The keys of all barcodes, as the program makes them now (`product_codes.keys_of`); PostgreSQL has it done for it.
CODES_ANEW = (
    "INSERT INTO product_code (code, product_number) SELECT k.value, p.product_number"
    " FROM product p, json_each(code_keys(p.item)) k WHERE p.deleted_on IS NULL ON CONFLICT DO NOTHING"
)
_CODES = ("DELETE FROM product_code", CODES_ANEW)

# What the log has named a reason last, and a store's entries of a reason without those of others.
_REASONS = (
    "CREATE INDEX stock_log_reasons ON stock_log (store_number, reason_code, seq) WHERE reason_code IS NOT NULL",
)

# What belongs to a category, in the order of lists, without looking through the catalogue.
_CATEGORIES = (
    "CREATE INDEX product_category ON product (category_code, product_number)",
    "CREATE INDEX product_parent_category ON product (parent_category_code, product_number)",
)

# What documented fields need that had no way in: the cost center of a store, and the carrier that stands at a place.
_FIELDS = (
    "ALTER TABLE store ADD COLUMN cost_center TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE location ADD COLUMN carrier_code TEXT NOT NULL DEFAULT ''",
    *IN_DIALECT,
)

# Which write made which changes: by it a host finds out that the database was put back from an earlier copy, however
# far it has gone on since (`op_id`: the write, and a word of its own for each time it was carried out). And what of
# picks that are said again after that has found no room on its line yet.
_HISTORY = (
    """CREATE TABLE write_history (
        store_number TEXT NOT NULL,
        seq BIGINT NOT NULL,
        op_id TEXT NOT NULL,
        written_on TEXT NOT NULL,
        PRIMARY KEY (store_number, seq)
    )""",
    "CREATE INDEX write_history_age ON write_history (written_on)",
    """CREATE TABLE carried_pick (
        store_number TEXT NOT NULL,
        order_number TEXT NOT NULL,
        line_number BIGINT NOT NULL,
        quantity BIGINT NOT NULL,
        PRIMARY KEY (store_number, order_number, line_number)
    )""",
)

# Who changed what, from what to what; of a store or of the chain.
_AUDIT = (
    """CREATE TABLE audit (
        store_number TEXT NOT NULL,
        seq BIGINT NOT NULL,
        recorded_on TEXT NOT NULL,
        token_id TEXT NOT NULL,
        token_name TEXT NOT NULL,
        app_user TEXT NOT NULL,
        subject TEXT NOT NULL,
        item_key TEXT NOT NULL,
        said_before TEXT NOT NULL,
        said_after TEXT NOT NULL,
        PRIMARY KEY (store_number, seq)
    )""",
    "CREATE INDEX audit_age ON audit (recorded_on)",
)

# When a key changed last and an order was finished, so that what is old can be forgotten. Of what is there already
# nobody knows it: it counts as of the store's last write.
_AGES = (
    "ALTER TABLE change ADD COLUMN changed_on TEXT NOT NULL DEFAULT ''",
    """UPDATE change SET changed_on = COALESCE((
        SELECT h.written_on FROM write_history h WHERE h.store_number = change.store_number
        ORDER BY h.seq DESC LIMIT 1), '')""",
    "ALTER TABLE customer_order ADD COLUMN finished_on TEXT NOT NULL DEFAULT ''",
    """UPDATE customer_order SET finished_on = COALESCE((
        SELECT h.written_on FROM write_history h WHERE h.store_number = customer_order.store_number
        ORDER BY h.seq DESC LIMIT 1), '') WHERE is_active = 0""",
    "CREATE INDEX customer_order_finished ON customer_order (store_number, finished_on) WHERE finished_on <> ''",
    "CREATE INDEX delivery_received ON delivery (store_number, updated_on) WHERE status = 'received'",
)

# When something was said last that would be undone by what another host says again after a restore, and said before.
_SAID = (
    """CREATE TABLE said_last (
        store_number TEXT NOT NULL,
        subject TEXT NOT NULL,
        item_key TEXT NOT NULL,
        said_on TEXT NOT NULL,
        PRIMARY KEY (store_number, subject, item_key)
    )""",
    "CREATE INDEX said_last_age ON said_last (said_on)",
)

# Orders that are rejected are over, too: of those that are there already nobody knows since when.
_REJECTED = (
    """UPDATE customer_order SET finished_on = COALESCE((
        SELECT h.written_on FROM write_history h WHERE h.store_number = customer_order.store_number
        ORDER BY h.seq DESC LIMIT 1), '') WHERE fulfilment = 'rejected' AND finished_on = ''""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    FIRST,
    _KEYS_OF_STORES,
    _VERSIONS,
    _DELIVERIES,
    _CONFORMANCE,
    _DETAIL,
    _ORIGINS,
    _SIGN_IN,
    _LOG_AGES,
    _KINDS_OF_RECEIPTS,
    _RECEIPTS_OF_STORES,
    _POLLS,
    _LOG_MONTHS,
    _GROUPS_OF_DELIVERIES,
    _COUNTERS,
    (GRAMS,),
    REFOLDED,
    (MEASURED,),
    _REASONS,
    _CATEGORIES,
    _FIELDS,
    _HISTORY,
    _CODES,
    _AUDIT,
    _AGES,
    _SAID,
    _REJECTED,
)
