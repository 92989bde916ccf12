"""What courier and host keep for people are messages of all four catalogues: no English sentence gets into a row.

The types see to most of it: what is kept is `StoredMessage`, which only
`store_message` and `store_text` make.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import aisle
from aisle.courier.link_state import ServiceLink, reason_of
from aisle.courier.push.pre_push_checks import StaleOperation
from aisle.host.deleted_file_recovery import Recovery
from aisle.jobs.view import Msg, msg
from aisle.messages.messages_of_language import load_messages, message_lengths, parse_message
from aisle.outbox.merge_and_rebase import excess_reason_of as told_left
from aisle.outbox.operation_queue import OperationQueue
from aisle.stored_messages import read_message
from aisle.stored_messages import store_message as kept
from aisle.tui.message_text import MessageWriter
from tests.tui.test_languages import ALIKE, ANYWHERE
from tests.tui.test_languages import words as words_of
from tests.unit.test_imports import tree

SOURCE = Path(aisle.__file__).parent
ROOMS = ("courier", "cache", "outbox", "session", "host")
OTHERS = ("nl", "de", "fr")
MAKER = str(Path(inspect.getfile(kept)).relative_to(SOURCE))

OPERATORS = {
    "courier/leader_process.py": "why a courier leaves, in its log",
    "courier/link_state.py": "written into the courier's log",
    "courier/push/decide_arrival_from_lookup.py": "a table for whoever reads the code",
    "host/hung_courier.py": "written into the courier's log",
    "host/store_and_database_folders.py": "what aisle doctor says, and a StorageError",
    "host/database.py": "what a StorageError says; sessions go by its trouble",
    "host/deleted_file_recovery.py": "what a StorageError says; sessions go by its trouble",
}
"""Files with sentences that only operators read, whose language is English; each has nothing else."""

LOGS = ("add", "add_notice", "_add_notice", "learnt", "_notice")
"""What writes into the courier's log."""

_SENTENCE = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
_SQL = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|PRAGMA|WHERE|FROM|JOIN|ORDER BY|AND|OR|BEGIN|ALTER|DROP|UNION|ON)\b"
    r"|\b(CASE WHEN|CAST|NOT IN|DESC|AS REAL)\b|->>"
)


class File:
    """One file of a room, with who holds what in it."""

    def __init__(self, path: Path) -> None:
        self.name = str(path.relative_to(SOURCE))
        self.tree = tree(path)
        self.holder = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """All that a piece of code stands in, the nearest first."""
        while node in self.holder:
            node = self.holder[node]
            yield node

    def is_docstring(self, node: ast.Constant) -> bool:
        """Whether it is a text that stands for itself."""
        return isinstance(self.holder.get(node), ast.Expr)

    def is_for_operators(self, node: ast.AST) -> bool:
        """Whether it is part of an error, of a line for the log, or of the declaration of a query."""
        for each in self.around(node):
            if isinstance(each, ast.Raise):
                return True
            name = called(each) if isinstance(each, ast.Call) else ""
            if name.endswith("Error") or name in ("InvalidResponse", "unforeseen_is_invalid", "declare_query", *LOGS):
                return True
        return False


def called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


@cache
def files() -> tuple[File, ...]:
    return tuple(File(path) for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py")))


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    for file in files():
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call) and called(node) == name:
                yield file.name, node


def ids_of(node: ast.expr) -> list[str]:
    """The ids that a first argument can be: written out, or one of two."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*ids_of(node.body), *ids_of(node.orelse)]
    return []


@cache
def told_ids() -> frozenset[str]:
    found = {id_ for _, call in calls("store_message") if call.args for id_ in ids_of(call.args[0])}
    tables = [node for file in files() for node in ast.walk(file.tree) if isinstance(node, ast.Constant)]
    return frozenset(found | {str(node.value) for node in tables if str(node.value).startswith("stored_reason.")})


def test_stored_messages_have_their_own_type() -> None:
    """Whoever hands a plain text to one of these is told by the type checker."""
    takers: list[Callable[..., Any]] = [
        OperationQueue.mark_in_doubt,
        OperationQueue.mark_absent,
        OperationQueue.requeue,
        OperationQueue.ask_person,
        OperationQueue.refuse,
        OperationQueue.retry_later,
    ]
    takers += [OperationQueue.postpone, ServiceLink.record_refusal, ServiceLink._set_state, StaleOperation.__init__]
    for taker in takers:
        assert inspect.signature(taker).parameters["reason"].annotation == "StoredMessage", taker
    givers = [vars(Recovery)["message"].fget, told_left]
    for giver in (*givers, reason_of):
        assert giver.__annotations__["return"] == "StoredMessage", giver


def test_nobody_else_makes_one() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        name, text = str(path.relative_to(SOURCE)), path.read_text(encoding="utf-8")
        if "StoredMessage(" not in text and "cast(" not in text:
            continue
        tree = ast.parse(text)
        known = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and "message" in str(node.module)]
        made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) == "StoredMessage"]
        imported = any(
            alias.name in ("StoredMessage", "*") or alias.asname == "StoredMessage"
            for node in known
            for alias in node.names
        )
        assert not made or name == MAKER or not imported, name
        forced = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) == "cast"]
        assert not any("StoredMessage" in ast.dump(node) for node in forced), name


def test_untyped_rows_hold_stored_messages_too() -> None:
    """The columns of a change are handed on by name, and answers are JSON: what stands there is looked at here."""
    seen = 0
    for name in ("_change", "_apply"):
        for where, call in calls(name):
            for word in (word for word in call.keywords if word.arg == "reason"):
                seen += 1
                text = ast.unparse(word.value)
                made = text.startswith(("store_text(", "store_message("))
                assert made or text in ("reason", "NO_MESSAGE"), (where, text)
    for file in (file for file in files() if file.name.startswith("courier/")):
        for node in (node for node in ast.walk(file.tree) if isinstance(node, ast.Dict)):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "why":
                    seen += 1
                    text = ast.unparse(value)
                    assert text in ("why", "''") or text.startswith("reason_of("), (file.name, text)
    assert seen > 8


def test_words_from_outside_are_none_of_ours() -> None:
    found = list(calls("store_text"))
    assert found
    for where, call in found:
        for node in ast.walk(call.args[0]):
            assert not isinstance(node, ast.JoinedStr | ast.BinOp), (where, ast.unparse(call))
            keyed = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
            assert not keyed, (where, ast.unparse(call))


def test_no_sentence_is_written_where_people_read_it() -> None:
    for file in files():
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or file.is_docstring(node):
                continue
            if _SENTENCE.search(node.value) and not _SQL.search(node.value) and file.name not in OPERATORS:
                assert file.is_for_operators(node), (file.name, node.lineno, node.value)


def test_no_error_is_shown_as_it_is() -> None:
    """The text of an error is English and speaks of paths: it goes to the log, or along as a detail."""
    allowed = {
        ("courier/link_state.py", "reason_of"),
        ("session/profile.py", "check"),
        ("cache/row_parsing_and_writing.py", "parse_rows"),
    }
    for file in files():
        for handler in (node for node in ast.walk(file.tree) if isinstance(node, ast.ExceptHandler) and node.name):
            for node in ast.walk(handler):
                if not isinstance(node, ast.Call) or ast.unparse(node) != f"str({handler.name})":
                    continue
                inside = next(
                    each.name for each in file.around(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
                )
                assert file.is_for_operators(node) or (file.name, inside) in allowed, (file.name, node.lineno)


def test_every_message_that_is_kept_is_there_and_said() -> None:
    known = {id_ for id_ in load_messages("en") if id_.startswith("stored_reason.")}
    assert len(known) > 25
    assert {id_ for id_ in told_ids() if id_.startswith("stored_reason.")} == known


def _args(id_: str) -> dict[str, str | int | Decimal | Msg]:
    names = {piece.name for sentence in message_lengths(id_) for piece in parse_message(sentence) if piece.name}
    numbers: dict[str, int | Decimal] = {
        "line": 1,
        "count": 8,
        "status": 503,
        "left": Decimal("1.5"),
        "picked": Decimal(3),
        "of": Decimal(4),
    }
    return {name: numbers[name] if name in numbers else msg("raw", text="X-1") for name in names}


@pytest.mark.parametrize("language", OTHERS)
def test_stored_messages_are_translated_in_every_language(language: str) -> None:
    alike = {*ANYWHERE.split(), *ALIKE[language].split(), "X"}
    for id_ in sorted(told_ids()):
        row = kept(id_, **_args(id_))
        english = {MessageWriter().write(read_message(row), level) for level in range(len(message_lengths(id_)))}
        for level in range(len(message_lengths(id_, language))):
            said = MessageWriter(language=language).write(read_message(row), level)
            assert "X-1" not in english or said
            assert said not in english or words_of(said) <= alike, (id_, said)
            assert id_ not in said
