"""`python -m tests.service.fuzz CASES SEED [--role R] [--database postgresql://…]`: schemathesis against the service.

It is held to what its OpenAPI page promises, in a process of its own: what is generated depends on the seed alone, and
not on what ran before. Requests that fit the page, requests that do not, the edges of every schema, and walks along its
links go to one demo store. Every answer is checked, and that no refusal moved any goods. Valid requests are brought
down to earth: most of the numbers and codes in them are made such as the store knows. It is an admin who asks; or
somebody with another role in one of the stores, who must not move what lies in the other.
"""

from __future__ import annotations

import argparse
import math
import random
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test
from requests.structures import CaseInsensitiveDict
from schemathesis import Case, GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import ignored_auth

from aisle.service.app_options_and_limits import RateLimits, ServiceOptions
from aisle.service.auth.tokens_and_pins import ROLES, create_token
from aisle.service.db.database_interface import Row
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.open_service_and_admin_token import Service, open_service
from aisle.service.operation_context import Role
from tests.service.world import START, assert_books

AnyCase = Case[Any]

READS, WRITES = 60, 30
"""The least share of an admin's valid requests that has to be carried out, in percent."""
MINE, OTHER = "0001", "0002"
"""The store of those who are no admins, and the one that is none of theirs."""

# What may be said to a request that fits the page, but not what is stored. 400 is not among it.
_REFUSALS = ["2xx", "401", "403", "404", "409", "412", "422", "425", "429"]
_CONFIG = {
    "checks": {
        "positive_data_acceptance": {"expected-statuses": _REFUSALS},
        "negative_data_rejection": {"expected-statuses": ["4xx"]},
    },
    "generation": {"allow-x00": False},
    # A busy machine is no defect.
    "request-timeout": 600.0,
    "analysis": {"constants": {"enabled": False}},
}
_POOLS = [*range(1, 11)]
_KNOWN: dict[str, list[Any]] = {
    "store_number": ["0001", "0001", "0001", "0002"],
    "product_number": ["110001", "110002", "110003", "110018", "200001"],
    "article_no": ["110001", "110002"],
    "article_number": ["110001"],
    "order_number": ["4101", "4102", "4103", "4104", "4105", "4106", "N1", "N2", "N3"],
    "customer_order_number": ["4101", "4102", "4103"],
    "location_code": ["A-01-1", "BR-01", "PR-01", "PR-02"],
    "preferred_location_code": ["A-01-1", "BR-01"],
    "line_number": [1, 2, 3],
    "customer_order_line_number": [1, 2],
    "barcode": ["9520001100017"],
    "stock_pool": _POOLS,
    "pool_location": _POOLS,
    "target_stock_pool": _POOLS,
    "picking_stock_pool_array": [["1", "2"], ["2"]],
    "default_stock_pool": ["1", "2"],
    "receipt_type": [1, 2],
    "location_code_tag": ["shelf", "backroom"],
    "review_status": [1, 2],
    "order_type": [1, 2],
    "page_start": [1, 2, 3],
    "page_number": [1, 2],
    "page_size": [1, 10, 100],
    "day": [1, 3, 7],
    "flush": [False, False, False, True],
}
_STOCK = "SELECT (SELECT count(*) FROM leg), (SELECT SUM(quantity) FROM balance)"
_LEGS = "SELECT * FROM leg WHERE store_number = $1 ORDER BY op_id, leg"
_SHOWN = 600
# What the page does not name is not heard in a query; schemathesis knows that of most such cases, and not of all.
_UNHEARD = "Invalid component: in query - violates `additionalProperties`"
_EDGES = 25
"""Of one operation at least."""
_SMALL = [0, 1, 2, 3, 5, 12]


class Fuzz:
    """A demo store under fire, and what came of it."""

    def __init__(self, service: Service, secret: str) -> None:
        self.service = service
        self.headers = {"Authorization": f"Bearer {secret}"}
        self.schema = schemathesis.openapi.from_asgi(
            "/openapi.json", service.app, config=schemathesis.Config.from_dict(_CONFIG)
        )
        self.operations = [result.ok() for result in self.schema.get_all_operations() if isinstance(result, Ok)]
        self.counts: Counter[tuple[str, str, int]] = Counter()
        self.failures: dict[str, str] = {}
        self._asked: set[str] = set()

    def send(self, case: AnyCase, mode: str) -> Any:
        """Send one case and look at the answer; the answer."""
        before = self._stock()
        headers = {} if _unnamed(case) else self.headers
        response = case.call(headers=headers)
        status = response.status_code
        kind = "read" if case.method == "GET" else "write"
        self.counts[(mode, kind, status // 100)] += 1
        if 400 <= status < 500 and self._stock() != before:
            self._fail(case, "stock was changed by a refusal", response)
        label = case.operation.label
        # Whether a token is needed is the operation's, not the case's: to ask once will do.
        skipped = [ignored_auth] if label in self._asked or status >= 300 else []
        self._asked |= {label} if status < 300 else set()
        try:
            case.validate_response(response, headers=headers, excluded_checks=skipped)
        except FailureGroup as group:
            for failure in group.exceptions:
                if str(failure).rstrip().endswith(_UNHEARD):
                    continue
                self._fail(case, f"{type(failure).__name__}: {failure}", response)
        return response

    def _stock(self) -> list[Row]:
        return self.service.database.read_now(lambda tx: tx.all(_STOCK))

    def elsewhere(self) -> list[Row]:
        """All changes of stock in the store that is the admin's alone."""
        return self.service.database.read_now(lambda tx: tx.all(_LEGS, OTHER))

    def _fail(self, case: AnyCase, what: str, response: Any) -> None:
        name = f"{case.operation.label}: {what.splitlines()[0]}"
        request = response.request
        sent = [f"{request.method} {request.url}"[:_SHOWN], str(dict(request.headers)), repr(request.body)[:_SHOWN]]
        got = f"{response.status_code} {response.content[:_SHOWN]!r}"
        self.failures.setdefault(name, "\n".join([what, *sent, got]))

    def shares(self) -> dict[str, int]:
        """Of valid requests, how many in a hundred were carried out."""
        found = {}
        for kind in ("read", "write"):
            of_kind = {status: n for (mode, one, status), n in self.counts.items() if (mode, one) == ("valid", kind)}
            found[kind] = 100 * of_kind.get(2, 0) // max(1, sum(of_kind.values()))
        return found


def _unnamed(case: AnyCase) -> bool:
    """Whether it is the point of a case that it comes without a token."""
    data = case.meta.phase.data if case.meta else None
    return any(one.parameter == "Authorization" for one in getattr(data, "mutations", None) or ())


def earthed(value: Any, dice: random.Random, name: str = "") -> Any:
    """A value that fits the page, most of it such as the store knows."""
    if isinstance(value, dict):
        kept = {key: part for key, part in value.items() if part is not None or dice.random() < 0.3}
        return {key: earthed(part, dice, key) for key, part in kept.items()}
    if name in _KNOWN and dice.random() < 0.9:
        return dice.choice(_KNOWN[name])
    if isinstance(value, list):
        return [earthed(part, dice, name) for part in value[:3]]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and dice.random() < 0.9:
        return dice.choice(_SMALL)
    return value


def earth(case: AnyCase, dice: random.Random, *, body: bool = True) -> None:
    """Bring a case down to earth, its path above all."""
    if case.path_parameters and not (case.meta and case.meta.is_negative_at(ParameterLocation.PATH)):
        case.path_parameters = {
            name: dice.choice(_KNOWN[name]) if name in _KNOWN and dice.random() < 0.95 else value
            for name, value in case.path_parameters.items()
        }
    if not body:
        return
    if case.query:
        # A scroll_id is told by an earlier page; no other can be good.
        case.query = {name: earthed(value, dice, name) for name, value in case.query.items() if name != "scroll_id"}
    if case.headers and dice.random() < 0.8:
        ours = ("Idempotency-Key", "If-Match", "Aisle-Follows", "Aisle-Replay", "Aisle-Log-Read")
        case.headers = CaseInsensitiveDict({name: said for name, said in case.headers.items() if name not in ours})
    if isinstance(case.body, (dict, list)):
        case.body = earthed(case.body, dice)
    elif case.query:
        # What is flushed has to be named in a body, which a page can say in words alone.
        case.query.pop("flush", None)


def tried(fuzz: Fuzz, mode: GenerationMode, examples: int, first: int) -> None:
    """So many generated cases of each operation."""
    valid = mode is GenerationMode.POSITIVE
    for number, operation in enumerate(fuzz.operations):
        if not valid and operation.label.endswith(("/health", "/ready")):
            continue

        @seed(first + number)
        @_quietly(examples)
        @given(operation.as_strategy(generation_mode=mode), st.integers(0, 2**32))
        def run(case: AnyCase, dice: int) -> None:
            earth(case, random.Random(dice), body=valid)
            fuzz.send(case, "valid" if valid else "invalid")

        run()


def edges(fuzz: Fuzz, total: int, first: int) -> None:
    """The edges of schemas, of which there are hundreds for each operation: of as many operations as `total` allows."""
    config = fuzz.schema.config.generation
    modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    some = random.Random(first).sample(fuzz.operations, min(len(fuzz.operations), math.ceil(total / _EDGES)))
    for operation in some:
        cases = list(_edges(fuzz, operation, modes, config))
        for case in islice(cases, 0, None, max(1, len(cases) // (total // len(some)))):
            fuzz.send(case, "edge")


def _edges(fuzz: Fuzz, operation: Any, modes: list[GenerationMode], config: Any) -> Iterator[AnyCase]:
    for case in fuzz.schema.iter_coverage_cases(operation, generation_modes=modes, generation_config=config):
        if case.meta and case.meta.generation.mode.is_positive:
            # Valid values of these are told by earlier answers; and quotes of a header are lost here.
            case.query = {name: value for name, value in (case.query or {}).items() if name != "scroll_id"}
            case.headers = CaseInsensitiveDict(
                {name: said for name, said in case.headers.items() if name != "If-Match"}
            )
        yield case


def walks(fuzz: Fuzz, total: int, first: int) -> None:
    """Walks along the links of the page: what one answer tells is asked with next."""
    until = sum(fuzz.counts.values()) + total

    class Walk(fuzz.schema.as_state_machine()):  # type: ignore[misc]
        def call(self, case: AnyCase, **_: Any) -> Any:
            earth(case, random.Random(sum(fuzz.counts.values())))
            return fuzz.send(case, "walk")

        def validate_response(self, *_: Any, **__: Any) -> None:
            """Done when it was sent."""

    for number in range(total):
        if sum(fuzz.counts.values()) >= until:
            break
        # The store remembers, so the same walk may find other answers; that ends it, and another begins.
        with suppress(Flaky):
            run_state_machine_as_test(seed(first + number)(Walk), settings=_quietly(20, stateful_step_count=8))


def _quietly(examples: int, **more: Any) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        **more,
    )


def main(arguments: list[str]) -> int:
    """Runs, prints the shares, and each failure once; 0 when there is none."""
    parser = argparse.ArgumentParser(prog="python -m tests.service.fuzz")
    parser.add_argument("cases", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--role", choices=ROLES, default="admin")
    parser.add_argument("--database", default="", help="postgresql://…, an empty one; otherwise a file")
    asked = parser.parse_args(arguments)
    cases, first = asked.cases, asked.seed
    with tempfile.TemporaryDirectory() as folder:
        where = asked.database or Path(folder) / "service.db"
        service = open_service(where, ServiceOptions(lambda: START, rate_limits=RateLimits(0, 0)), demo=True)
        try:
            fuzz = Fuzz(service, _secret(service, asked.role))
            before = fuzz.elsewhere()
            each = cases / len(fuzz.operations)
            steps: list[Callable[[], None]] = [
                lambda: tried(fuzz, GenerationMode.POSITIVE, max(1, round(each * 0.45)), first),
                lambda: tried(fuzz, GenerationMode.NEGATIVE, max(1, round(each * 0.2)), first),
                lambda: edges(fuzz, round(cases * 0.2), first),
                lambda: walks(fuzz, max(round(cases * 0.15), cases - sum(fuzz.counts.values())), first),
            ]
            for step in steps:
                step()
            assert_books(service)
            assert before
            assert asked.role == "admin" or fuzz.elsewhere() == before, "goods of another store were moved"
        finally:
            service.close()
    return told(fuzz, cases, busy=asked.role == "admin")


def _secret(service: Service, role: Role) -> str:
    stores = None if role == "admin" else [MINE]
    return create_token(
        service.database,
        name=f"fuzz-{secrets.token_hex(4)}",
        role=role,
        store_numbers=stores,
        now=format_timestamp(START),
    ).secret


def told(fuzz: Fuzz, cases: int, *, busy: bool) -> int:
    """Says what came of it, and answers with the exit status; `busy`: whether most has to be carried out."""
    sent, shares = sum(fuzz.counts.values()), fuzz.shares()
    print(f"{sent} cases; of the valid ones {shares['read']} % of reads and {shares['write']} % of writes carried out")
    print(", ".join(f"{mode} {kind} {status}xx: {n}" for (mode, kind, status), n in sorted(fuzz.counts.items())))
    for failure in fuzz.failures.values():
        print(f"\n{failure}")
    enough = shares["read"] >= READS and shares["write"] >= WRITES if busy else min(shares.values()) > 0
    return 0 if enough and not fuzz.failures and sent >= cases else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
