"""The overlay finds pending operations by the names in their text and parses them on demand."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisle.cache import pending_operations
from aisle.cache.pending_operations import (
    LOCATION_FIELD,
    ORDER_FIELD,
    PRODUCT_FIELD,
    Overlay,
    OverlayIndex,
    orders_of_operation,
)
from aisle.cache.stock_overlay import (
    locations_of_operation,
    pending_by_product,
    products_of_operation,
    products_touched_at,
)
from aisle.host.database import fetch, transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import (
    CREATE_LOGS,
    CREATE_MOVEMENT,
    REJECT_LINES,
    UPDATE_ORDER,
    Operation,
    operation_from_row,
)
from aisle.stored_messages import NO_MESSAGE
from tests.writes import ANNA, enqueue, intents, movement, update

NAMES = st.one_of(
    st.text(max_size=6),
    st.sampled_from(('"order_number":"1"', 'a"b', "\\", "\n", "@", "4101", "")),
    st.none(),
    st.integers(0, 9),
)
INDICES = (
    (ORDER_FIELD, orders_of_operation),
    (PRODUCT_FIELD, products_of_operation),
    (LOCATION_FIELD, locations_of_operation),
)


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, Any]:
    """Operations and what they say, with any names."""
    line = {"product_number": draw(NAMES), "picked_quantity": Decimal(2), "base_picked_quantity": Decimal(1)}
    order = {"order_number": draw(NAMES), "order_lines": [{**line, "preferred_location_code": draw(NAMES)}]}
    end = {"location_code": draw(NAMES), "customer_order_number": draw(NAMES)}
    item = {"product_number": draw(NAMES), draw(st.sampled_from(("to_location", "from_location"))): end}
    log = {"product_number": draw(NAMES), **end}
    said = (
        (UPDATE_ORDER, {"orders": order}),
        (REJECT_LINES, {**order, "lines": []}),
        (CREATE_MOVEMENT, [item, {"product_number": draw(NAMES), "to_location": {"location_code": draw(NAMES)}}]),
        (CREATE_LOGS, {"storeproductlog": [log]}),
    )
    return draw(st.sampled_from(said))


def put_operation(outbox_db: apsw.Connection, operation: str, body: Any) -> Operation:
    """An operation that says this; nothing else waits."""
    outbox_db.execute("DELETE FROM operation_lane")
    outbox_db.execute("DELETE FROM operation")
    (op_id,) = enqueue(OperationQueue(outbox_db), update("4101", {1: 1}))
    sql = "UPDATE operation SET operation = ?, body = ? WHERE op_id = ? RETURNING *"
    return operation_from_row(fetch(outbox_db, sql, operation, to_text(body), op_id)[0])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies())
def test_whatever_it_touches_it_is_found_by(outbox_db: apsw.Connection, said: tuple[str, Any]) -> None:
    whole, overlay = put_operation(outbox_db, *said), Overlay(outbox_db)
    for field, keys_of in INDICES:
        index, keys = overlay.index_by(field, keys_of), set(keys_of(whole)) - {"None"}
        assert set(index) == keys
        assert len(index) == len(keys)
        assert all(index[key][0].body == whole.body for key in keys)
    outbox_db.execute("UPDATE operation SET live = 0")
    assert not any(overlay.index_by(field, keys_of) for field, keys_of in INDICES)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the operations that an overlay has read."""
    found: list[int] = []

    def note(row: Any) -> Operation:
        found.append(int(row[0]))
        return operation_from_row(row)

    monkeypatch.setattr(pending_operations, "operation_from_row", note)
    return found


def test_only_what_is_asked_for_is_read(outbox_db: apsw.Connection, read: list[int]) -> None:
    enqueue(OperationQueue(outbox_db), update("4101", {1: 1}), update("4102", {1: 1}), movement("4101", "P1"))
    numbers = [n for (n,) in fetch(outbox_db, "SELECT n FROM operation ORDER BY operation = ?, n", UPDATE_ORDER)]
    overlay = Overlay(outbox_db)
    assert "4103" not in overlay.by_order()
    assert read == []
    assert len(overlay.by_order()["4101"]) == 2
    assert read == [numbers[1], numbers[0]]
    assert set(overlay.by_order()) == {"4101", "4102"}
    assert read == [numbers[1], numbers[0], numbers[2]]
    assert [each.n for each in overlay.operations(UPDATE_ORDER)] == numbers[1:]


@pytest.mark.parametrize("operation", [UPDATE_ORDER, CREATE_MOVEMENT, CREATE_LOGS, REJECT_LINES])
@pytest.mark.parametrize(
    "body", ['{"order_number":"4101"}', '{"order_number":null}', '[{"product_number":5}]', '"4101"']
)
def test_what_makes_no_sense_hides_nothing_of_what_others_do(
    outbox_db: apsw.Connection, operation: str, body: str
) -> None:
    """Neither while it is there, nor after."""
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    assert not pending_by_product(overlay)
    with transaction(outbox_db):
        (strange,) = outbox.enqueue(intents(update("4102", {1: 1})), ANNA)
        (plain,) = outbox.enqueue(intents(movement("4101", "P1")), ANNA)
        outbox_db.execute("UPDATE operation SET operation = ?, body = ? WHERE op_id = ?", (operation, body, strange))
    for _ in range(2):
        assert plain in [each.op_id for each in overlay.by_order()["4101"]]
        assert [each.op_id for each in pending_by_product(overlay)["P1"]] == [plain]
        assert products_touched_at(overlay, "PU-01") == ["P1"]
    with transaction(outbox_db):
        outbox_db.execute("UPDATE operation SET live = 0 WHERE op_id = ?", (strange,))
    assert [each.op_id for each in overlay.by_order()["4101"]] == [plain]
    assert list(pending_by_product(overlay)) == ["P1"]


def test_what_moves_on_before_it_is_read_is_there_as_it_is(outbox_db: apsw.Connection) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    (sent, gone) = enqueue(outbox, update("4101", {1: 1}), update("4102", {1: 1}))
    pending = overlay.by_order()
    outbox.begin_sending(sent, b"{}")
    with transaction(outbox_db):
        outbox_db.execute("DELETE FROM operation_lane")
        outbox_db.execute("DELETE FROM operation WHERE op_id = ?", (gone,))
    assert [(each.op_id, each.state) for each in pending["4101"]] == [(sent, "sending")]
    assert "4102" not in pending
    assert list(overlay.by_order()) == ["4101"]


def test_however_much_is_looked_at_little_of_it_is_kept(
    outbox_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is looked at again is as it was, whatever happened to it meanwhile."""
    monkeypatch.setattr(pending_operations, "MAX_KEPT_KEYS", 3)
    outbox = OperationQueue(outbox_db)
    ids = enqueue(outbox, *(update(str(4000 + n), {1: 1}) for n in range(20)))
    overlay = Overlay(outbox_db)
    for _ in range(2):
        assert len(overlay.by_order()) == 20
        assert len(overlay.operations(UPDATE_ORDER)) == 20
        assert len(overlay.by_order()._values) <= 3
    outbox.begin_sending(ids[4], b"{}")
    assert [overlay.by_order()[str(4000 + n)][0].state for n in (3, 4)] == ["queued", "sending"]
    assert {order: operations[0].op_id for order, operations in overlay.by_order().items()} == {
        str(4000 + n): op_id for n, op_id in enumerate(ids)
    }


def test_what_is_asked_for_is_whole_whatever_was_read_before(
    outbox_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One part of it was read long ago, and leaves first when the other is read."""
    monkeypatch.setattr(pending_operations, "MAX_KEPT_KEYS", 4)
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)

    def pick(number: int, picked: int = 1) -> str:
        (op_id,) = enqueue(outbox, update(str(4000 + number), {1: picked}, merge=False))
        return str(op_id)

    first = [pick(number) for number in range(12)]
    for number in range(12):
        assert [each.op_id for each in overlay.by_order()[str(4000 + number)]] == [first[number]]
        assert [each.op_id for each in overlay.operations(UPDATE_ORDER)] == first
    for number in (11, 0, 8, 3):
        assert len(overlay.by_order()[str(4000 + number)]) == 1
    second = pick(11, 2)
    assert [each.op_id for each in overlay.by_order()["4011"]] == [first[11], second]
    assert [each.op_id for each in overlay.operations(UPDATE_ORDER)] == [*first, second]
    for op_id in (*first, second):
        outbox.begin_sending(op_id, b"{}")
        outbox.confirm(op_id)
        outbox.mark_read_back(op_id)
    assert not overlay.by_order()


def test_a_read_that_breaks_off_hides_nothing_of_what_waits(
    outbox_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    enqueue(outbox, update("4101", {1: 1}))
    assert list(overlay.by_order()) == ["4101"]
    enqueue(outbox, update("4102", {1: 1}))

    def broken(*_args: object) -> None:
        raise apsw.IOError

    with monkeypatch.context() as patched:
        patched.setattr(OverlayIndex, "forget", broken)
        with pytest.raises(apsw.IOError):
            overlay.by_order()
    assert list(overlay.by_order()) == ["4101", "4102"]
    enqueue(outbox, update("4103", {1: 1}))
    assert list(overlay.by_order()) == ["4101", "4102", "4103"]


# The overlay reads only operations written since the last read, or all when it cannot tell


def pick(outbox: OperationQueue, *orders: str) -> list[str]:
    """Something is picked for each of these orders; the ids of the operations."""
    with transaction(outbox._db):
        return list(outbox.enqueue(intents(*(update(number, {1: 1}) for number in orders)), ANNA))


def test_of_much_that_waits_what_was_written_is_read_alone(outbox_db: apsw.Connection, read: list[int]) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    ids = pick(outbox, *(str(4000 + each) for each in range(50)))
    assert len(overlay.by_order()) == len(read) == len(ids)
    read.clear()
    pick(outbox, "4100")
    outbox.begin_sending(ids[7], b"{}")
    assert overlay.by_order()["4007"][0].state == "sending"
    assert sorted(overlay.by_order()) == sorted([*(str(4000 + each) for each in range(50)), "4100"])
    assert len(read) == 2
    outbox.confirm(ids[7])
    outbox.mark_read_back(ids[7])
    outbox.refuse(ids[8], NO_MESSAGE)
    assert {"4007", "4008"}.isdisjoint(overlay.by_order())


def test_who_was_away_for_too_long_reads_all_of_it(outbox_db: apsw.Connection) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    (gone, _) = pick(outbox, "4101", "4102")
    assert set(overlay.by_order()) == {"4101", "4102"}
    outbox.refuse(gone, NO_MESSAGE)
    pick(outbox, "4103")
    outbox_db.execute("DELETE FROM operation_change WHERE seq < (SELECT max(seq) FROM operation_change)")
    assert set(overlay.by_order()) == {"4102", "4103"}


def test_what_is_undone_gives_its_turn_to_another(outbox_db: apsw.Connection) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    pick(outbox, "4101")
    assert set(overlay.by_order()) == {"4101"}
    with suppress(ZeroDivisionError), transaction(outbox_db):
        outbox.enqueue(intents(update("4102", {1: 1})), ANNA)
        assert set(overlay.by_order()) == {"4101", "4102"}
        raise ZeroDivisionError
    assert set(overlay.by_order()) == {"4101"}
    pick(outbox, "4103")
    assert set(overlay.by_order()) == {"4101", "4103"}


def test_turns_do_not_pile_up(outbox_db: apsw.Connection, home: StoreFolder) -> None:
    (op_id,) = pick(OperationQueue(outbox_db), "4101")
    other = open_outbox(home.folder)
    with transaction(other):
        for _ in range(13_000):
            other.execute("UPDATE operation SET evidence = '' WHERE op_id = ?", (op_id,))
    (kept,) = other.execute("SELECT count(*) FROM operation_change").fetchone() or (0,)
    other.close()
    assert 10_000 <= kept < 11_001


def test_what_moves_on_in_the_middle_of_a_look_is_there_still(
    outbox_db: apsw.Connection, home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_outbox(home.folder)
    outbox, overlay = OperationQueue(other), Overlay(outbox_db)
    (op_id,) = pick(outbox, "4101")
    assert set(overlay.by_order()) == {"4101"}
    pick(outbox, "4102")
    asked: list[str] = []

    def fetched(connection: apsw.Connection, sql: str, *values: object) -> list[tuple[Any, ...]]:
        asked.append(sql)
        rows = fetch(connection, sql, *values)
        if len(asked) == 2:
            outbox.begin_sending(op_id, b"{}")
        return rows

    monkeypatch.setattr(pending_operations, "fetch", fetched)
    assert set(overlay.by_order()) == {"4101", "4102"}
    assert len(asked) > 2
    assert overlay.by_order()["4101"][0].state == "sending"
    other.close()
