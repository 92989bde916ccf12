"""Statements on people, and on failed attempts to sign in."""

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
