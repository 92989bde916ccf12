"""Statements on the audit."""

AUDIT_ADD = """
    INSERT INTO audit (store_number, seq, recorded_on, token_id, token_name, app_user, subject, item_key, said_before,
        said_after)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
AUDIT_LIST = """
    SELECT seq, recorded_on, token_id, token_name, app_user, subject, item_key, said_before, said_after
    FROM audit
    WHERE store_number = $1 AND seq > $2 AND recorded_on >= $3 AND ($4 = '' OR subject = $4)
    ORDER BY seq LIMIT $5"""
