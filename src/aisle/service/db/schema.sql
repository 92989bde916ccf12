-- Tables and indexes of the service, for SQLite and PostgreSQL. A statement ends with a semicolon at the end of a line.

-- Chain-wide tables: few rows or the same for every store.

CREATE TABLE store (
    store_number TEXT PRIMARY KEY,
    ordinal BIGINT NOT NULL UNIQUE,
    store_name TEXT NOT NULL,
    is_warehouse BIGINT NOT NULL,
    is_active BIGINT NOT NULL,
    area_id TEXT NOT NULL,
    secondary_key TEXT NOT NULL,
    search TEXT NOT NULL,
    item TEXT NOT NULL,
    data TEXT NOT NULL,
    cost_center TEXT NOT NULL DEFAULT ''
);
CREATE INDEX store_area ON store (area_id, store_number);
CREATE INDEX store_warehouse ON store (is_warehouse, store_number);

CREATE TABLE product (
    product_number TEXT PRIMARY KEY,
    product_name TEXT NOT NULL,
    barcode TEXT NOT NULL,
    category_code TEXT NOT NULL,
    parent_category_code TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    is_stock BIGINT NOT NULL,
    allow_decimal BIGINT NOT NULL,
    price TEXT NOT NULL,
    attention_code TEXT NOT NULL,
    search TEXT NOT NULL,
    entry TEXT NOT NULL,
    item TEXT NOT NULL,
    modified_on TEXT NOT NULL,
    deleted_on TEXT,
    group_code TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT ''
);
CREATE INDEX product_search ON product (search, product_number);
CREATE INDEX product_modified ON product (modified_on);
CREATE INDEX product_group ON product (group_code);
CREATE INDEX product_known ON product (product_number) WHERE deleted_on IS NULL;
CREATE INDEX product_category ON product (category_code, product_number);
CREATE INDEX product_parent_category ON product (parent_category_code, product_number);

CREATE TABLE product_code (
    code TEXT NOT NULL,
    product_number TEXT NOT NULL,
    PRIMARY KEY (code, product_number),
    FOREIGN KEY (product_number) REFERENCES product (product_number)
);
CREATE INDEX product_code_of ON product_code (product_number);

CREATE TABLE token (
    token_id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    all_stores BIGINT NOT NULL,
    created_on TEXT NOT NULL,
    expires_on TEXT,
    revoked_on TEXT,
    last_used_on TEXT,
    parent_id TEXT NOT NULL DEFAULT '',
    person_store TEXT NOT NULL DEFAULT '',
    person_badge TEXT NOT NULL DEFAULT ''
);

CREATE TABLE token_store (
    token_id TEXT NOT NULL,
    store_number TEXT NOT NULL,
    PRIMARY KEY (token_id, store_number),
    FOREIGN KEY (token_id) REFERENCES token (token_id)
);

-- Tables of one store each. Counters replace counting rows; the row of the chain starts at 0.
CREATE TABLE counter (
    store_number TEXT NOT NULL,
    name TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (store_number, name)
);
INSERT INTO counter (store_number, name, value) VALUES ('*', 'product', 0);

CREATE TABLE change (
    store_number TEXT NOT NULL,
    topic TEXT NOT NULL,
    change_key TEXT NOT NULL,
    seq BIGINT NOT NULL,
    changed_on TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (store_number, topic, change_key)
);
CREATE UNIQUE INDEX change_seq ON change (store_number, seq);

CREATE TABLE store_product (
    store_number TEXT NOT NULL,
    product_number TEXT NOT NULL,
    seq BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    is_stock BIGINT,
    is_replenishment BIGINT NOT NULL,
    price TEXT NOT NULL,
    attention_codes TEXT NOT NULL,
    item TEXT NOT NULL,
    data TEXT NOT NULL,
    modified_on TEXT NOT NULL,
    stock_modified_on TEXT,
    counted_on TEXT,
    loss_by TEXT,
    receipt_by TEXT,
    stock_modified_day TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (store_number, product_number),
    FOREIGN KEY (store_number) REFERENCES store (store_number),
    FOREIGN KEY (product_number) REFERENCES product (product_number)
);
CREATE UNIQUE INDEX store_product_seq ON store_product (store_number, seq);
CREATE INDEX store_product_chain ON store_product (seq, ordinal, store_number);
CREATE INDEX store_product_of ON store_product (product_number);
-- A change of stock is indexed by day, so that a second change on the same day touches no index.
CREATE INDEX store_product_stocked ON store_product (stock_modified_day, seq, ordinal, store_number);
CREATE INDEX store_product_modified ON store_product (modified_on, seq, ordinal, store_number);
CREATE INDEX store_product_stocked_here ON store_product (store_number, stock_modified_day, seq);
CREATE INDEX store_product_modified_here ON store_product (store_number, modified_on, seq);

CREATE TABLE location (
    store_number TEXT NOT NULL,
    location_code TEXT NOT NULL,
    seq BIGINT NOT NULL,
    location_order BIGINT NOT NULL,
    default_stock_pool BIGINT,
    tags TEXT NOT NULL,
    sort_key TEXT NOT NULL,
    search TEXT NOT NULL,
    created_on TEXT NOT NULL,
    carrier_code TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (store_number, location_code),
    FOREIGN KEY (store_number) REFERENCES store (store_number)
);
CREATE INDEX location_walk ON location (store_number, location_order, sort_key, location_code);

-- `version` increases with each change of the order or its lines, for `If-Match`.
CREATE TABLE customer_order (
    store_number TEXT NOT NULL,
    order_number TEXT NOT NULL,
    seq BIGINT NOT NULL,
    is_active BIGINT NOT NULL,
    is_claimed BIGINT NOT NULL,
    is_picked BIGINT NOT NULL,
    is_rejected BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    fulfilment TEXT NOT NULL,
    reference TEXT NOT NULL,
    pickup_date TEXT NOT NULL,
    total_lines BIGINT NOT NULL,
    total_quantity BIGINT NOT NULL,
    total_delivered BIGINT NOT NULL,
    fingerprint TEXT NOT NULL,
    search TEXT NOT NULL,
    item TEXT NOT NULL,
    data TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    finished_on TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (store_number, order_number),
    FOREIGN KEY (store_number) REFERENCES store (store_number)
);
CREATE UNIQUE INDEX customer_order_seq ON customer_order (store_number, seq);
CREATE INDEX customer_order_open ON customer_order (store_number, is_active, seq);
CREATE INDEX customer_order_reference ON customer_order (store_number, reference);
CREATE INDEX customer_order_finished ON customer_order (store_number, finished_on) WHERE finished_on <> '';

CREATE TABLE order_line (
    store_number TEXT NOT NULL,
    order_number TEXT NOT NULL,
    line_number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    product_number TEXT NOT NULL,
    quantity BIGINT NOT NULL,
    picked BIGINT NOT NULL,
    moved BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    is_picked BIGINT NOT NULL,
    is_open BIGINT NOT NULL,
    from_warehouse BIGINT NOT NULL,
    stock_pool BIGINT NOT NULL,
    pools TEXT NOT NULL,
    preferred_location_code TEXT NOT NULL,
    reference TEXT NOT NULL,
    picked_by TEXT,
    item TEXT NOT NULL,
    fulfilment TEXT NOT NULL DEFAULT '',
    is_rejected BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (store_number, order_number, line_number),
    FOREIGN KEY (store_number, order_number) REFERENCES customer_order (store_number, order_number),
    FOREIGN KEY (product_number) REFERENCES product (product_number)
);
CREATE INDEX order_line_wanted ON order_line (store_number, product_number, stock_pool, quantity, picked)
    WHERE is_open = 1 AND is_picked = 0 AND from_warehouse = 0;
CREATE INDEX order_line_reference ON order_line (store_number, reference) WHERE reference <> '';

-- Stock: quantities by location, pool and order line, and every change of them.
CREATE TABLE balance (
    store_number TEXT NOT NULL,
    product_number TEXT NOT NULL,
    location_code TEXT NOT NULL,
    pool BIGINT NOT NULL,
    order_number TEXT NOT NULL,
    line_number BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    PRIMARY KEY (store_number, product_number, location_code, pool, order_number, line_number),
    FOREIGN KEY (store_number, product_number) REFERENCES store_product (store_number, product_number)
);
CREATE INDEX balance_place ON balance (store_number, location_code, product_number);
CREATE INDEX balance_held ON balance (store_number, order_number, line_number) WHERE order_number <> '';

CREATE TABLE leg (
    store_number TEXT NOT NULL,
    op_id TEXT NOT NULL,
    leg BIGINT NOT NULL,
    kind TEXT NOT NULL,
    product_number TEXT NOT NULL,
    location_code TEXT NOT NULL,
    pool BIGINT NOT NULL,
    order_number TEXT NOT NULL,
    line_number BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    recorded_on TEXT NOT NULL,
    occurred_on TEXT NOT NULL,
    PRIMARY KEY (store_number, op_id, leg)
);
CREATE INDEX leg_product ON leg (store_number, product_number, occurred_on);

-- `held_location` is the location of goods held for a line; '' is the picker.
CREATE TABLE line_origin (
    store_number TEXT NOT NULL,
    order_number TEXT NOT NULL,
    line_number BIGINT NOT NULL,
    n BIGINT NOT NULL,
    location_code TEXT NOT NULL,
    pool BIGINT NOT NULL,
    held_pool BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    held_location TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (store_number, order_number, line_number, n)
);

CREATE TABLE put_back (
    store_number TEXT NOT NULL,
    seq BIGINT NOT NULL,
    product_number TEXT NOT NULL,
    location_code TEXT NOT NULL,
    pool BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    order_number TEXT NOT NULL,
    line_number BIGINT NOT NULL,
    created_on TEXT NOT NULL,
    PRIMARY KEY (store_number, seq)
);
CREATE INDEX put_back_product ON put_back (store_number, product_number);

CREATE TABLE last_count (
    store_number TEXT NOT NULL,
    product_number TEXT NOT NULL,
    location_code TEXT NOT NULL,
    pool BIGINT NOT NULL,
    counted_on TEXT NOT NULL,
    PRIMARY KEY (store_number, product_number, location_code, pool)
);

CREATE TABLE stock_log (
    store_number TEXT NOT NULL,
    seq BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    op_id TEXT NOT NULL,
    product_number TEXT NOT NULL,
    reference TEXT NOT NULL,
    reason_code BIGINT,
    review_status BIGINT NOT NULL,
    created_on TEXT NOT NULL,
    updated_on TEXT NOT NULL,
    item TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (store_number, seq)
);
CREATE INDEX stock_log_chain ON stock_log (seq, ordinal, store_number);
CREATE INDEX stock_log_reference ON stock_log (store_number, reference) WHERE reference <> '';
CREATE INDEX stock_log_product ON stock_log (store_number, product_number, seq);
CREATE INDEX stock_log_updated ON stock_log (updated_on, seq, ordinal, store_number);
CREATE INDEX stock_log_review ON stock_log (review_status, seq, ordinal, store_number)
    WHERE review_status <> 0;
CREATE INDEX stock_log_reason ON stock_log (reason_code, seq, ordinal, store_number)
    WHERE reason_code IS NOT NULL;
-- A log covers years and queries ask for its last months: of the chain, a product, a store. The moment is the last
-- column: without it PostgreSQL would read each row for the value that the index has.
CREATE INDEX stock_log_month ON stock_log (substr(created_on, 1, 7), seq, ordinal, store_number, created_on);
CREATE INDEX stock_log_article
    ON stock_log (product_number, substr(created_on, 1, 7), seq, ordinal, store_number, created_on);
CREATE INDEX stock_log_months ON stock_log (store_number, substr(created_on, 1, 7), seq, ordinal, created_on);
CREATE INDEX stock_log_reasons ON stock_log (store_number, reason_code, seq) WHERE reason_code IS NOT NULL;

CREATE TABLE person (
    store_number TEXT NOT NULL,
    badge TEXT NOT NULL,
    user_name TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    pin_hash TEXT,
    PRIMARY KEY (store_number, badge),
    FOREIGN KEY (store_number) REFERENCES store (store_number)
);
CREATE UNIQUE INDEX person_user ON person (store_number, user_name);

-- Answers of writes, under their keys.
CREATE TABLE idempotency (
    store_number TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status BIGINT NOT NULL,
    body BYTEA NOT NULL,
    created_on TEXT NOT NULL,
    PRIMARY KEY (store_number, request_key)
);
CREATE INDEX idempotency_age ON idempotency (created_on);

-- Deliveries, their receipts, and goods that a clearance has assigned to be moved.
CREATE TABLE delivery (
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
);
CREATE UNIQUE INDEX delivery_seq ON delivery (store_number, seq);
CREATE INDEX delivery_chain ON delivery (seq, ordinal, store_number);
-- Receipts of a type in the order of the chain's list, so that a page is in one place of the index.
CREATE INDEX delivery_receipt_kind ON delivery (order_type, receipt_seq, ordinal, store_number, seq)
    WHERE receipt_seq IS NOT NULL;
CREATE INDEX delivery_receipt_store ON delivery (store_number, order_type, receipt_seq, ordinal, seq)
    WHERE receipt_seq IS NOT NULL;
CREATE INDEX delivery_updated ON delivery (updated_on, seq, ordinal, store_number);
CREATE INDEX delivery_number ON delivery (order_number, seq, ordinal, store_number);
CREATE INDEX delivery_store_updated ON delivery (store_number, updated_on);

CREATE TABLE delivery_line (
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
);
CREATE INDEX delivery_line_product ON delivery_line (product_number, store_number, order_number);

CREATE TABLE assignment (
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
);
CREATE UNIQUE INDEX assignment_open
    ON assignment (store_number, product_number, location_code, pool, order_number, line_number)
    WHERE done_on IS NULL;

-- Shipments that bring goods for order lines.
CREATE TABLE shipment_line (
    store_number TEXT NOT NULL,
    order_number TEXT NOT NULL,
    line_number BIGINT NOT NULL,
    shipment_number TEXT NOT NULL,
    shipment_line BIGINT,
    PRIMARY KEY (store_number, order_number, line_number)
);
CREATE INDEX shipment_line_of ON shipment_line (store_number, shipment_number);

-- Wrong PINs.
CREATE TABLE sign_in_failure (
    store_number TEXT NOT NULL,
    who TEXT NOT NULL,
    failures BIGINT NOT NULL,
    failed_on TEXT NOT NULL,
    locked_until TEXT NOT NULL,
    PRIMARY KEY (store_number, who)
);

-- Ordered recounts.
CREATE TABLE recount (
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
);
CREATE UNIQUE INDEX recount_open ON recount (store_number, product_number, location_code)
    WHERE state = 'open';

-- Write that made each change. With it a host detects that the database was restored from an earlier copy, however
-- many writes came since. `op_id` is the write and a random part for each execution.
CREATE TABLE write_history (
    store_number TEXT NOT NULL,
    seq BIGINT NOT NULL,
    op_id TEXT NOT NULL,
    written_on TEXT NOT NULL,
    PRIMARY KEY (store_number, seq)
);
CREATE INDEX write_history_age ON write_history (written_on);

-- Quantities of repeated picks that do not fit on their line yet.
CREATE TABLE carried_pick (
    store_number TEXT NOT NULL,
    order_number TEXT NOT NULL,
    line_number BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    PRIMARY KEY (store_number, order_number, line_number)
);

-- Changes with their author, old and new values, of a store or of the chain.
CREATE TABLE audit (
    store_number TEXT NOT NULL,
    seq BIGINT NOT NULL,
    recorded_on TEXT NOT NULL,
    token_id TEXT NOT NULL,
    token_name TEXT NOT NULL,
    app_user TEXT NOT NULL,
    subject TEXT NOT NULL,
    item_key TEXT NOT NULL,
    value_before TEXT NOT NULL,
    value_after TEXT NOT NULL,
    PRIMARY KEY (store_number, seq)
);
CREATE INDEX audit_age ON audit (recorded_on);

-- Time of the last write about an item, so that an older one repeated after a restore does not overwrite it.
CREATE TABLE latest_write (
    store_number TEXT NOT NULL,
    subject TEXT NOT NULL,
    item_key TEXT NOT NULL,
    written_on TEXT NOT NULL,
    PRIMARY KEY (store_number, subject, item_key)
);
CREATE INDEX latest_write_age ON latest_write (written_on);
