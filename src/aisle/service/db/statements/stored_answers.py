"""Statements on the stored answers of idempotency keys."""

RESPONSE_OF_KEY = """
    SELECT fingerprint, status, body FROM idempotency WHERE store_number = $1 AND request_key = $2"""


# A refused request was not carried out. The ledger keeps keys whose answers were purged.
KNOWN_KEYS = """
    SELECT i.request_key FROM idempotency i WHERE i.store_number = $1 AND i.request_key = ANY($2) AND i.status < 400
    UNION SELECT l.op_id FROM leg l WHERE l.store_number = $1 AND l.op_id = ANY($2)"""


RESPONSE_ADD = """
    INSERT INTO idempotency (store_number, request_key, fingerprint, status, body, created_on)
    VALUES ($1, $2, $3, $4, $5, $6)"""


REFUSAL_DELETE = "DELETE FROM idempotency WHERE store_number = $1 AND request_key = $2 AND status >= 400"


OLD_RESPONSES_STEP = "SELECT created_on FROM idempotency WHERE created_on < $1 ORDER BY created_on LIMIT 1 OFFSET $2"


OLD_RESPONSES_DELETE = "DELETE FROM idempotency WHERE created_on <= $1"
