"""Statements on people, failed attempts to sign in, tokens and the stores that they may use."""

from __future__ import annotations

from aisle.service.db.list_query_builder import upsert_statement

PERSON_SET = upsert_statement("person", "store_number, badge", "user_name, name, role")

PEOPLE = """
    SELECT badge, user_name, name, role, CASE WHEN pin_hash IS NULL THEN 0 ELSE 1 END
    FROM person WHERE store_number = $1 ORDER BY user_name"""

PEOPLE_PAGE = """
    SELECT badge, user_name, name, role, CASE WHEN pin_hash IS NULL THEN 0 ELSE 1 END
    FROM person WHERE store_number = $1 AND user_name > $2 ORDER BY user_name LIMIT $3"""
PIN_HASHES = "SELECT badge, pin_hash FROM person WHERE store_number = $1 AND pin_hash IS NOT NULL"

PERSON_PIN_SET = "UPDATE person SET pin_hash = $3 WHERE store_number = $1 AND badge = $2"

PERSON_DELETE = "DELETE FROM person WHERE store_number = $1 AND badge = $2"

PERSON_BY_BADGE = "SELECT badge, user_name, name, role, pin_hash FROM person WHERE store_number = $1 AND badge = $2"

PERSON_BY_USER = "SELECT badge, user_name, name, role, pin_hash FROM person WHERE store_number = $1 AND user_name = $2"

PERSON_NAME = "SELECT name FROM person WHERE store_number = $1 AND user_name = $2"

SIGN_IN_FAILURES = "SELECT failures, locked_until FROM sign_in_failure WHERE store_number = $1 AND who = $2"

SIGN_IN_FAILURES_SET = upsert_statement("sign_in_failure", "store_number, who", "failures, failed_on, locked_until")

SIGN_IN_FAILURES_DELETE = "DELETE FROM sign_in_failure WHERE store_number = $1 AND who = $2"

OLD_SIGN_IN_FAILURE_DELETE = "DELETE FROM sign_in_failure WHERE store_number = $1 AND who = $2 AND failed_on < $3"

OLD_SIGN_IN_FAILURES = """
    SELECT store_number, who FROM sign_in_failure WHERE failed_on < $1 AND locked_until < $2
    ORDER BY store_number, who LIMIT $3"""


TOKEN_BY_HASH = """
    SELECT token_id, token_hash, name, role, all_stores, expires_on, revoked_on, last_used_on, parent_id,
        person_store
    FROM token WHERE token_hash = $1"""
TOKEN_ADD = """
    INSERT INTO token (token_id, token_hash, name, role, all_stores, created_on, expires_on, parent_id, person_store,
        person_badge)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
TOKEN_STORE_ADD = "INSERT INTO token_store (token_id, store_number) VALUES ($1, $2)"
TOKEN_USED_SET = "UPDATE token SET last_used_on = $2 WHERE token_id = $1"
# Revokes the tokens of people who signed in through it, too.
TOKEN_REVOKE = """
    UPDATE token SET revoked_on = $2 WHERE (token_id = $1 OR parent_id = $1) AND revoked_on IS NULL
    RETURNING token_id"""
TOKENS_OF_PERSON_REVOKE = """
    UPDATE token SET revoked_on = $3
    WHERE person_store = $1 AND person_badge = $2 AND parent_id <> '' AND revoked_on IS NULL"""
EXPIRED_TOKENS = """
    SELECT token_id FROM token WHERE parent_id <> '' AND expires_on < $1 ORDER BY token_id LIMIT $2"""
STORES_OF_TOKENS_DELETE = "DELETE FROM token_store WHERE token_id = ANY($1)"
TOKENS_DELETE = "DELETE FROM token WHERE token_id = ANY($1)"
ALL_TOKENS = """
    SELECT token_id, name, role, all_stores, created_on, expires_on, revoked_on, last_used_on
    FROM token ORDER BY created_on, token_id"""
TOKENS_WITHOUT_PARENT = ALL_TOKENS.replace("ORDER BY", "WHERE parent_id = '' ORDER BY")
TOKENS_SEEN = """
    SELECT name, MAX(last_used_on) FROM token
    WHERE parent_id = '' AND revoked_on IS NULL AND last_used_on IS NOT NULL GROUP BY name"""
TOKEN_STORES = "SELECT token_id, store_number FROM token_store ORDER BY token_id, store_number"

# One query for the store and the token's right to it, starting at the token. A store of others and a missing one differ
# neither in the answer nor in the work.
STORE_OF_TOKEN = """
    SELECT s.store_number, s.ordinal
    FROM token t
    LEFT JOIN token_store ts ON ts.token_id = t.token_id AND ts.store_number = $1
    JOIN store s ON s.store_number = CASE WHEN t.all_stores = 1 THEN $1 ELSE ts.store_number END
    WHERE t.token_id = $2"""
STORES_OF_TOKEN = """
    SELECT s.store_number, s.ordinal
    FROM token t
    JOIN store s ON s.store_number = ANY($1)
    LEFT JOIN token_store ts ON ts.token_id = t.token_id AND ts.store_number = s.store_number
    WHERE t.token_id = $2 AND (t.all_stores = 1 OR ts.store_number IS NOT NULL)"""
# Stores whose numbers differ from an unknown one by leading zeros or case only. They are among the token's own stores,
# or among all for a token of all stores.
SIMILAR_STORES_OF_TOKEN = """
    SELECT ts.store_number FROM token_store ts
    WHERE ts.token_id = $2 AND ltrim(lower(ts.store_number), '0') = $1
    ORDER BY ts.store_number LIMIT 3"""
SIMILAR_STORES = """
    SELECT s.store_number FROM store s
    WHERE ltrim(lower(s.store_number), '0') = $1
    ORDER BY s.store_number LIMIT 3"""
# Token and store in one round trip, with a check of its role and, for operations of the chain, of its scope. Every
# request runs it first.
AUTHORIZATION = """
    SELECT t.token_id, t.token_hash, t.name, t.role, t.all_stores, t.expires_on, t.revoked_on, t.last_used_on,
        t.parent_id, t.person_store, CASE WHEN t.role = ANY($2) AND (t.all_stores = 1 OR $3 = 0) THEN 1 ELSE 0 END,
        s.store_number, s.ordinal
    FROM token t
    LEFT JOIN token_store ts ON ts.token_id = t.token_id AND ts.store_number = $4
    LEFT JOIN store s ON s.store_number = CASE WHEN t.all_stores = 1 THEN $4 ELSE ts.store_number END
    WHERE t.token_hash = $1"""


HAS_REVOKED_TOKEN = "SELECT 1 FROM token WHERE name = $1 AND revoked_on IS NOT NULL LIMIT 1"
HAS_DATA = "SELECT EXISTS (SELECT 1 FROM store) OR EXISTS (SELECT 1 FROM product)"

STORE_NUMBERS_OF_TOKEN = """
    SELECT s.store_number FROM store s
    WHERE EXISTS (SELECT 1 FROM token t WHERE t.token_id = $1 AND t.all_stores = 1)
        OR EXISTS (SELECT 1 FROM token_store ts WHERE ts.token_id = $1 AND ts.store_number = s.store_number)
    ORDER BY s.store_number"""
