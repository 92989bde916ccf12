"""A code of several lines is one scan: unknown as a whole, at every step of every job, however its bytes come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import product
from random import Random
from typing import Any

import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.hand_over.hand_over_state_and_writes import HandOverState
from aisle.jobs.view import GOOD, WRONG, Frame
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import open_outbox
from aisle.scan.grammar_and_meaning_types import Candidate
from aisle.scan.inputs_and_line_grouping import Key
from aisle.session.session import Session
from tests.cache import service_rows
from tests.run_length import tries
from tests.session.job_steps import WAYS, stand
from tests.session.multi_line_codes import PAYLOADS, PAYMENT, drawn
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import begin, headers_only, way
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["headers_only", "home", "way"]

PACES = (0.0, 0.001, 0.003, 0.006, 0.012)
"""Seconds from byte to byte; none: all in one read."""

OPEN = (
    "pick.product",
    "count.product",
    "count.missing",
    "receive.goods",
    "move.take",
    "adjust.reason",
    "store_product.confirm",
)
"""Steps where a number is a quantity, and where it is an answer."""

NUMBER = "100009"
"""The number of a product that is on no order."""

STALLED = (
    "EPC payment",
    "EPC payment, CRLF",
    "Swiss QR bill",
    "vCard",
    "calendar",
    "an AIM prefix",
)
"""Payloads whose first line is nothing by itself."""

SHORT = ("numbers", "a number and a known code", "a known code and a number", "a known code, a lot and a date", "keys")
UNKNOWN = (WRONG, "input.several_lines")
TOO_SOON = (WRONG, "input.too_soon")
UNKNOWN_CODE = (WRONG, "count.unknown")
BAD_LINE = (WRONG, "input.bad_line")
FUZZ = [20_000, pytest.param(800_000, marks=pytest.mark.full)]
"""Random scans at all steps together; the long runs have, with those of `test_unknown_codes`, 1,000,000."""
every = pytest.mark.parametrize("way", list(WAYS), indirect=True)


@contextmanager
def forgetful(home: StoreFolder, way: str) -> Iterator[tuple[Session, Scanner]]:
    """A session at a step; whatever it writes from then on is counted and not kept."""
    with begin(home, way) as session:
        stand(home, session, way)

        def forget() -> bool:
            assert not session.store.unit_of_work.has_writes
            session.store.unit_of_work.discard()
            return True

        session.event_runner.commit = forget  # type: ignore[method-assign]
        yield session, Scanner(session)


def standing(session: Session, shown: Frame | None = None) -> Any:
    """All that an input could have changed, but for the rows that a list follows what is typed with.

    `shown` is the frame that the session has just shown.
    """
    levels = [(level.job.name, _without_rows(level.state)) for level in session.stack.jobs if level.job.journalled]
    return (
        levels,
        (shown or session.frames.build()).view,
        session.page.question,
        session.typed_line.text,
        session.is_ending,
    )


def _without_rows(state: Any) -> Any:
    return state._replace(rows=(), total=0) if hasattr(state, "typed") and hasattr(state, "cursor") else state


def is_unknown(scanner: Scanner, payload: str, pace: float, cuts: Iterable[int] = (), before: Any = None) -> None:
    """A scan that is unknown as a whole, and changes nothing; `before` is what stood before it, where it is known."""
    before = before or standing(scanner.session)
    frame = scanner.send(payload, pace, cuts)
    assert told(frame) in (UNKNOWN, TOO_SOON, BAD_LINE, UNKNOWN_CODE), (payload, pace, cuts)
    assert standing(scanner.session, frame) == before, (payload, pace, cuts)


@every
def test_no_line_of_a_longer_scan_means_anything_at_any_step(home: StoreFolder, way: str) -> None:
    with forgetful(home, way) as (_session, scanner):
        for payload in PAYLOADS.values():
            is_unknown(scanner, payload, 0.0)
        is_unknown(scanner, PAYMENT, PACES[1 + list(WAYS).index(way) % 4])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("pace", PACES[1:])
@pytest.mark.parametrize("way", ["home", *OPEN], indirect=True)
def test_slow_bytes_are_the_same_scan(home: StoreFolder, way: str, pace: float) -> None:
    """A frame is painted after each of them."""
    with forgetful(home, way) as (_session, scanner):
        for name in SHORT:
            is_unknown(scanner, PAYLOADS[name], pace)


@pytest.mark.every_case
@pytest.mark.parametrize("count", FUZZ)
@every
def test_random_scans_of_several_lines_change_nothing(home: StoreFolder, way: str, count: int) -> None:
    dice = Random(f"{way} {count}")
    with forgetful(home, way) as (session, scanner):
        before = standing(session)
        for _ in range(count // len(WAYS) + 1):
            payload = drawn(dice, (*BARCODES, "A-1", "A-2", "4101", "4102", "AISLE:1", "AISLE:DONE", "AISLE:OK"))
            pace = dice.choice((*(0.0,) * 36, *PACES))
            cuts = _cuts(payload, dice) if pace and dice.random() < 0.95 else ()
            is_unknown(scanner, payload, pace, cuts, before)


def _cuts(payload: str, dice: Random) -> list[int]:
    """Where reads end: not with a line, for a code of the store that comes alone in a read counts at once."""
    places = [dice.randrange(1, len(payload)) for _ in range(dice.randint(1, 6))]
    return [place for place in places if not payload[place - 1].isspace()] or [1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("stall", [0.11, 0.15, 0.3, 0.8])
@pytest.mark.parametrize("way", ["home", *OPEN], indirect=True)
def test_a_scan_whose_lines_a_link_parts_changes_nothing(home: StoreFolder, way: str, stall: float) -> None:
    with forgetful(home, way) as (_session, scanner):
        turn, every = OPEN.index(way) if way in OPEN else 0, tries(3, 1)
        for name, pace in [*product(STALLED, (0.0, 0.001, 0.003))][turn % every :: every]:
            first, *lines = PAYLOADS[name].splitlines()
            scanner.write(f"{first}\n", pace)
            scanner.rest(stall)
            before = standing(scanner.session)
            for line in lines:
                scanner.write(f"{line}\n", pace)
                scanner.rest(stall)
                assert standing(scanner.session) == before, (name, pace, line)
            scanner.rest(1.5)


@pytest.mark.parametrize("stall", [0.15, 0.3, 0.8])
def test_number_typed_after_unknown_scan_is_quantity(home: StoreFolder, stall: float) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send(f"{BARCODES[0]}\r")
        scanner.write("BCD\n", 0.002)
        scanner.rest(stall)
        scanner.send("17\r", 0.1)
        assert session.stack.top.state.current_line.counted == 17


@pytest.mark.parametrize("stall", [0.15, 0.3, 0.8])
@pytest.mark.parametrize("pace", [0.0, 0.002])
def test_a_code_after_an_unknown_scan_counts(home: StoreFolder, stall: float, pace: float) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        scanner = Scanner(session)
        scanner.write("BCD\n", 0.002)
        scanner.rest(stall)
        assert told(scanner.send(f"{BARCODES[2]}\r", pace)) == (GOOD, "pick.picked")


def test_a_number_a_while_after_an_unknown_scan_is_the_quantity(home: StoreFolder) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send(f"{BARCODES[0]}\r")
        scanner.write("BCD\n", 0.002)
        scanner.rest(1.2)
        scanner.send("17\r", 0.1)
        assert session.stack.top.state.current_line.counted == 17


BURSTS = {
    "a barcode and a product's number": (f"{BARCODES[2]}\n{NUMBER}\n", 1),
    "a product's number twice": (f"{NUMBER}\n{NUMBER}\n", 0),
    "a product's number and a barcode": (f"{NUMBER}\n{BARCODES[2]}\n", 1),
    "a product's number three times, and a barcode": (f"{NUMBER}\n" * 3 + f"{BARCODES[2]}\n", 1),
    "a barcode and an unknown one": (f"{BARCODES[2]}\n4000000000006\n", 1),
    "an unknown barcode and one that is known": (f"4000000000006\n{BARCODES[2]}\n", 1),
    "a location and a product's number": (f"A-3\n{NUMBER}\n", 0),
    "a barcode and the number of an order": (f"{BARCODES[2]}\n4102\n", 1),
    "a barcode and a short number": (f"{BARCODES[2]}\n12\n", None),
    "a product's number and a short number": (f"{NUMBER}\n12\n", None),
    "a short number and a barcode": (f"12\n{BARCODES[2]}\n", None),
    "a product's number and an unknown one": (f"{NUMBER}\n999999\n", None),
    "a product's number and words": (f"{NUMBER}\nmilk\n", None),
}
"""Lines in one write, and how much of the order they pick; None: refused as a whole."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BURSTS)
@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\t"])
def test_known_codes_in_one_write_are_scans_of_their_own(home: StoreFolder, name: str, end: str) -> None:
    data, taken = BURSTS[name]
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(NUMBER, "Elsewhere", "5012345678900")])
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        before = session.frames.build().view.done  # type: ignore[union-attr]
        frame = Scanner(session).send(data.replace("\n", end))
        assert (told(frame) in (UNKNOWN, BAD_LINE)) == (taken is None)
        assert frame.view.name.startswith("pick.")
        assert frame.view.done - before == (taken or 0)  # type: ignore[union-attr]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("way", ["home", *OPEN[:-1]], indirect=True)
def test_numbers_of_products_in_one_burst_are_scans_of_their_own(home: StoreFolder, way: str, pace: float) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(NUMBER, "Elsewhere", "5012345678900")])
    with begin(home, way) as session:
        stand(home, session, way)
        assert told(Scanner(session).send(f"{NUMBER}\n{NUMBER}\n", pace)) not in (UNKNOWN, BAD_LINE)


@pytest.mark.parametrize("data", ["4101\n4102\n", "4102\n4101\n", f"4102\n{BARCODES[0]}\n", "A-1\n4101\n"])
@pytest.mark.parametrize("way", ["home", *OPEN[:-1]], indirect=True)
def test_known_numbers_in_one_write_are_not_refused_as_a_whole(home: StoreFolder, way: str, data: str) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        assert told(Scanner(session).send(data)) not in (UNKNOWN, BAD_LINE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bad", ["X-1?", "952000110", "12", "milk", "40"])
@pytest.mark.parametrize("at_line", [0, 1, 2])
@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
def test_a_burst_with_a_bad_code_names_it_and_each_scan_not_taken(
    home: StoreFolder, pace: float, at_line: int, bad: str
) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        before = session.frames.build().view.done  # type: ignore[union-attr]
        codes = [BARCODES[2]] * 3
        codes.insert(at_line, bad)
        frame = Scanner(session).send("".join(f"{code}\r" for code in codes), pace)
        taken = frame.view.done - before  # type: ignore[union-attr]
        assert frame.verdict is not None
        assert told(frame) == BAD_LINE
        assert dict(frame.verdict.text.args) == {"count": 4 - taken, "text": bad}


def test_a_secret_in_a_burst_is_not_named(home: StoreFolder) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        session.page.is_secret = lambda text: text == "2468"  # type: ignore[method-assign]
        assert told(Scanner(session).send(f"{BARCODES[2]}\r2468\r")) == UNKNOWN


def test_first_line_read_alone_is_taken_back_when_the_rest_of_its_scan_is_refused(home: StoreFolder) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        scanner, before = Scanner(session), session.frames.build().view
        assert told(scanner.write(f"{BARCODES[1]}\n")) == (GOOD, "pick.picked")
        assert told(scanner.send("1\ny\n40\n")) == (WRONG, "input.later_lines_undone")
        assert session.frames.build().view.done == before.done  # type: ignore[union-attr]


@pytest.mark.parametrize("gap", [0.06, 0.09])
@pytest.mark.parametrize("lines", [("5", "7"), ("5",), ("Muster", "12", "y")])
@pytest.mark.parametrize("counted", [0, 1, 30])
def test_a_count_of_one_is_taken_back_when_its_scan_goes_on(
    home: StoreFolder, gap: float, lines: tuple[str, ...], counted: int
) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        for _ in range(counted):
            say(session, BARCODES[0])
        scanner, before = Scanner(session), [line.counted for line in session.stack.top.state.lines]
        assert told(scanner.write(f"{BARCODES[0]}\n"))[0] == GOOD
        for line in lines:
            scanner.rest(gap)
            scanner.write(f"{line}\n")
        assert told(scanner.rest()) == (WRONG, "input.later_lines_undone")
        assert [line.counted for line in session.stack.top.state.lines] == before


def quantities_of(state: Any) -> Any:
    """What a job has counted."""
    if isinstance(state, HandOverState):
        return state.checked, state.put_back
    if hasattr(state, "line"):
        return state.line and (state.line.product, state.quantity)
    lines = [(line.product, line.picked) for line in getattr(state, "lines", ()) if hasattr(line, "picked")]
    goods: Any = getattr(state, "in_hand", None) or ()
    in_hand = (goods,) if hasattr(goods, "product") else goods
    return lines, [(each.product, each.quantity) for each in in_hand]


@pytest.mark.parametrize("gap", [0.06, 0.09])
@pytest.mark.parametrize("lines", [("5", "7"), ("Muster", "12", "y")])
@pytest.mark.parametrize(
    "at_step", ["pick.product", "pick.product/round", "move.take", "receive.goods", "adjust.product"]
)
def test_goods_of_a_first_line_are_taken_back_when_its_scan_goes_on(
    home: StoreFolder, gap: float, lines: tuple[str, ...], at_step: str
) -> None:
    if before := WAYS[at_step].before:
        before(home)
    with begin(home, at_step) as session:
        stand(home, session, at_step)
        was = quantities_of(session.stack.top.state)
        scanner = Scanner(session)
        scanner.write(f"{BARCODES[0 if at_step == 'move.take' else 1]}\n")
        assert quantities_of(session.stack.top.state) != was
        for line in lines:
            scanner.rest(gap)
            scanner.write(f"{line}\n")
        assert told(scanner.rest()) == (WRONG, "input.later_lines_undone")
        assert quantities_of(session.stack.top.state) == was


@pytest.mark.sampled(5)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\t", "\r\r", "\n\n"])
def test_batch_scanner_codes_are_separate_scans(home: StoreFolder, pace: float, end: str) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        scanner = Scanner(session)
        before = session.frames.build().view.done  # type: ignore[union-attr]
        sent = [BARCODES[2], BARCODES[1], "96385074", BARCODES[2], "4000000000006", BARCODES[2]]
        frame = scanner.send("".join(code + end for code in sent), pace)
        assert frame.view.done - before == 4, "two of them are of no line of the order"  # type: ignore[union-attr]
        assert frame.verdict is not None
        if not pace:
            assert told(frame) == (WRONG, "session.not_applied_first")


@pytest.mark.parametrize("pause", [0.008, 0.05, 0.2])
def test_scans_in_quick_succession_are_answered_one_by_one(home: StoreFolder, pause: float) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        scanner = Scanner(session)
        before = session.frames.build().view.done  # type: ignore[union-attr]
        for number in range(1, 51):
            frame = scanner.write(f"{BARCODES[2]}\r")
            assert (told(frame), frame.view.done) == ((GOOD, "pick.picked"), before + number)  # type: ignore[union-attr]
            scanner.rest(pause)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("text", ["A-1", "A-2", "4101", "4102", BARCODES[0], "BADGE-U1", "nothing-1"])
def test_a_line_is_looked_up_once_however_long_it_is_held(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch, text: str, pace: float
) -> None:
    asked: list[list[str]] = []
    found = CacheReader.find

    def find(reads: CacheReader, keys: Iterable[str]) -> list[Candidate]:
        asked.append([*keys])
        return found(reads, asked[-1])

    with at(home, user="U1") as session:
        while len(session.stack.jobs) > 1:
            say(session, "b")
        monkeypatch.setattr(CacheReader, "find", find)
        Scanner(session).send(f"{text}\r", pace)
    whole = [tuple(keys) for keys in asked if text in keys]
    assert len(whole) == len({*whole}) >= 1


def test_a_line_that_is_held_means_what_the_cache_says_when_it_is_decided(home: StoreFolder) -> None:
    with at(home, user="U1") as session, closing(open_cache(home.folder, writer=True)) as db:
        while len(session.stack.jobs) > 1:
            say(session, "b")
        scanner = Scanner(session)
        scanner.write("9-9-9\r", 0.003)
        CacheWriter(db, "0001").write_locations([service_rows.location("9-9-9")])
        assert scanner.rest().view.name == "locations.location"


def test_what_a_person_types_is_answered_at_once(home: StoreFolder) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send(f"{BARCODES[0]}\r")
        for key in "17":
            scanner.rest(0.12)
            scanner.write(key)
        scanner.rest(0.08)
        assert told(scanner.write("\r"))[0] == GOOD
        assert session.stack.top.state.current_line.counted == 17


@pytest.mark.parametrize("pace", PACES)
def test_a_payment_code_leaves_the_count_that_was_typed(home: StoreFolder, pace: float) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send(f"{BARCODES[0]}\r")
        scanner.send("17\r", 0.1)
        assert told(scanner.send(PAYMENT, pace)) == UNKNOWN
        assert session.stack.top.state.current_line.counted == 17


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pace", [0.055, 0.06, 0.08, 0.1])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("first", ["BCD", "zzz", "Muster Verein"])
def test_a_payment_code_over_a_link_as_slow_as_a_person_leaves_the_count(
    home: StoreFolder, first: str, end: str, pace: float
) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send(f"{BARCODES[0]}\r")
        scanner.send("17\r", 0.1)
        assert told(scanner.send(PAYMENT.replace("BCD", first, 1).replace("\n", end), pace))[0] == WRONG
        assert session.stack.top.state.current_line.counted == 17
        scanner.rest(0.5)
        assert told(scanner.send("18\r", 0.1))[1] in ("input.number_after_refused_scan", "count.corrected")
        scanner.send("18\r", 0.1)
        assert session.stack.top.state.current_line.counted == 18


def test_a_line_right_after_an_unknown_one_is_told_by_itself(home: StoreFolder) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.write("NO-CODE-1\n", 0.002)
        scanner.rest(0.7)
        assert told(scanner.send("NO-CODE-2\n", 0.002)) == (WRONG, "count.unknown")


@pytest.mark.parametrize("first", ["NO-CODE-1\r", "96385074\r", "0109520001100025\r", "BEGIN:VCARD\nN:M\nEND:VCARD\n"])
@pytest.mark.parametrize(("gap", "refused"), [(0.3, 1), (0.5, 1), (0.65, 0), (0.9, 0)])
def test_letters_and_digits_typed_after_a_refused_code_are_taken_soon(
    home: StoreFolder, first: str, gap: float, refused: int
) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        scanner = Scanner(session)
        scanner.write(first, 0.003)
        scanner.rest(gap)
        verdicts = []
        for key in "u5ns":
            scanner.write(f"{key}\r", 0.09)
            verdicts.append(told(scanner.rest(0.2)) == TOO_SOON)
        assert verdicts == [True] * refused + [False] * (4 - refused)


@pytest.mark.parametrize(
    ("second", "word"),
    [
        ("0109520001100025", "count.unknown"),
        ("2112345005007", "count.unknown"),
        ("(01)9520001100024(17)9999", "input.gs1_damaged"),
        ("WIFI:S:Shop;T:WPA;P:secret;;", "count.unknown"),
        ("https://shop.example/p/12345", "count.unknown"),
        ("9520001900174.", "count.unknown"),
    ],
)
@pytest.mark.parametrize("gap", [0.35, 0.6, 0.8])
def test_another_bad_code_after_a_refused_one_gets_its_own_word(
    home: StoreFolder, second: str, word: str, gap: float
) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        scanner = Scanner(session)
        scanner.write("NO-CODE-1\r", 0.003)
        scanner.rest(gap)
        before = standing(session)
        assert told(scanner.send(f"{second}\r", 0.003)) == (WRONG, word)
        assert standing(session) == before


@pytest.mark.parametrize(("pace", "tries"), [(0.06, 6), (0.0, 18)])
def test_a_letter_that_somebody_presses_again_is_taken(home: StoreFolder, pace: float, tries: int) -> None:
    """Over a link that stalls its Enter comes in the same read, as from a scanner: it is refused for longer."""
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send("BEGIN:VCARD\nN:Muster\nEND:VCARD\n", 0.002)
        verdicts = []
        for _ in range(tries):
            verdicts.append(told(scanner.send("h\r", pace))[1])
            scanner.rest(0.1)
        assert verdicts[0] == "input.too_soon"
        assert session.frames.build().view.name.startswith("help")


@pytest.mark.parametrize("line", ["1", "y", "h", "12"])
@pytest.mark.parametrize("after", [1.3, 3.0])
def test_a_short_line_in_one_read_after_an_unknown_code_of_several_lines_is_a_part_of_it(
    home: StoreFolder, line: str, after: float
) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send("BEGIN:VCARD\nN:Muster\nEND:VCARD\n", 0.002)
        view = session.frames.build().view.name
        scanner.rest(after)
        assert told(scanner.send(f"{line}\r"))[0] == WRONG
        assert session.frames.build().view.name == view


@pytest.mark.parametrize("after", [0.12, 0.4, 0.8])
@pytest.mark.parametrize("head", ["95200011", "9520001300", "87112345", "X52O0011"])
@pytest.mark.parametrize(("way", "tail"), [("adjust.reason", "3"), ("pick.product", "s"), ("pick.product", "n")])
def test_a_short_line_right_after_an_unknown_code_does_nothing(
    home: StoreFolder, way: str, head: str, tail: str, after: float
) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        scanner = Scanner(session)
        scanner.write(f"{head}\r", 0.003)
        if told(scanner.rest(after))[0] != WRONG:
            pytest.skip("this step takes the code")
        view = session.frames.build().view.name
        assert told(scanner.send(f"{tail}\r", 0.003))[0] == WRONG
        assert session.frames.build().view.name == view


@pytest.mark.parametrize("pace", [0.0, 0.003])
@pytest.mark.parametrize("after", [0.12, 0.8])
@pytest.mark.parametrize("head", [BARCODES[0], BARCODES[2], "96385074", "]E040170725", "4101", "A-2", "AISLE:9"])
@pytest.mark.parametrize(("way", "tail"), [("adjust.reason", "3"), ("shortage.choices", "1"), ("pick.product", "s")])
def test_a_short_line_right_after_a_refused_known_code_does_nothing(
    home: StoreFolder, way: str, head: str, tail: str, after: float, pace: float
) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        scanner = Scanner(session)
        scanner.write(f"{head}\r", pace)
        if told(scanner.rest(after))[0] != WRONG:
            return  # this step takes the code
        before = standing(session)
        assert told(scanner.send(f"{tail}\r", pace)) == (UNKNOWN_CODE if tail.isdecimal() else TOO_SOON)
        assert standing(session) == before
        scanner.rest(1.2)
        scanner.send(f"{tail}\r", 0.1)
        assert standing(session) != before, "a while later it is the answer"


@pytest.mark.parametrize("after", [0.12, 0.8])
@pytest.mark.parametrize("text", [f"?{BARCODES[2]}", BARCODES[2], "?A-2"])
def test_a_code_right_after_a_refused_known_code_is_read(home: StoreFolder, text: str, after: float) -> None:
    with begin(home, "pick.product") as session:
        stand(home, session, "pick.product")
        scanner = Scanner(session)
        scanner.write("96385074\r")
        assert told(scanner.rest(after))[0] == WRONG
        assert told(scanner.send(f"{text}\r"))[0] != WRONG


@pytest.mark.parametrize("text", ["-3", "1,5", "-1.5", ".5", "12*", "0"])
@pytest.mark.parametrize("pace", [0.0, 0.003])
def test_a_number_that_is_refused_guards_against_nothing(home: StoreFolder, text: str, pace: float) -> None:
    with begin(home, "adjust.reason") as session:
        stand(home, session, "adjust.reason")
        scanner = Scanner(session)
        scanner.send(f"{text}\r", pace)
        assert told(scanner.send("1\r", pace)) != TOO_SOON


@pytest.mark.parametrize("text", ["3", "-3", "1,5"])
def test_a_number_that_somebody_sends_again_extends_the_guard_once(home: StoreFolder, text: str) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.write("NO-CODE-1\r", 0.003)
        verdicts = []
        for _ in range(4):
            scanner.rest(0.3)
            verdicts.append(told(scanner.send(f"{text}\r", 0.003)))
        assert verdicts[0] == ((WRONG, "count.unknown") if text == "3" else TOO_SOON)
        assert verdicts[-1] != TOO_SOON


@pytest.mark.parametrize("line", ["12", "1", "NO-CODE-2"])
@pytest.mark.parametrize("after", [0.4, 0.9])
def test_one_line_after_a_code_of_several_lines_is_not_called_one(home: StoreFolder, line: str, after: float) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        assert told(scanner.send("BEGIN:VCARD\nN:Muster\nEND:VCARD\n")) == UNKNOWN
        scanner.rest(after - 0.3)
        assert told(scanner.send(f"{line}\r")) == (WRONG, "count.unknown")


@pytest.mark.parametrize(("digits", "pace"), [("0", 0.1), ("00", 0.1), ("7", 0.1), ("12", 0.1), ("12", 0.0)])
def test_digits_that_were_left_on_the_line_before_a_scan_are_told(home: StoreFolder, digits: str, pace: float) -> None:
    with begin(home, "count.product") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        scanner.send(f"{BARCODES[0]}\r")
        scanner.send("5\r", 0.1)
        scanner.write(digits, pace)
        scanner.rest(1.0)
        frame = scanner.send(f"{BARCODES[0]}\r", 0.003)
        is_typed = pace > 0
        if digits == "0":
            assert told(frame)[0] == GOOD, "with the zero it is the same code"
        else:
            good, wrong = (GOOD, "shortage.join"), (WRONG, "input.number_beside_code")
            assert told(frame) == (good if is_typed else wrong)
        assert session.stack.top.state.current_line.counted == 5 + is_typed
        assert told(scanner.send(f"{BARCODES[0]}\r", 0.003))[0] == GOOD
        assert session.stack.top.state.current_line.counted == 6 + is_typed


@pytest.mark.parametrize("pace", PACES)
def test_nobody_signs_in_by_a_line_of_a_longer_scan(home: StoreFolder, pace: float) -> None:
    with at(home) as session:
        scanner = Scanner(session)
        for payload in (*(PAYLOADS[name] for name in SHORT), "anna\n1\n", "berg\n1\n", "anna\n\n\n2\n", PAYMENT):
            frame = scanner.send(payload, pace)
            assert told(frame) in (UNKNOWN, BAD_LINE)
            assert (frame.view.name, frame.user) == ("sign_in", "")
        frame = scanner.send("BADGE-U1\r", pace)
        assert frame.user == "Anna Kovac"


@pytest.mark.parametrize("text", ["b", "anna", "4101", "zzz", "0", "d", "?"])
def test_a_single_line_at_scanner_pace_means_what_it_meant(home: StoreFolder, text: str) -> None:
    with at(home, user="U1") as session:
        wanted = say(session, text)
    with at(home, user="U1") as session:
        while len(session.stack.jobs) > 1:
            say(session, "b")
        frame = Scanner(session).send(f"{text}\r")
        assert (told(frame), frame.view.name) == (told(wanted), wanted.view.name)


def test_a_word_that_a_list_has_followed_is_looked_for_when_it_ends(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "?product")
        scanner = Scanner(session)
        scanner.write("elsewhere")
        scanner.rest(1.0)
        frame = scanner.send("\r")
        assert (frame.view.name, told(frame)[0]) != ("look_up.list", WRONG)
        assert "Elsewhere" in str(session.stack.top.state)


def test_enter_alone_opens_where_the_cursor_is(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        scanner = Scanner(session)
        session.take([Key("down")], 0.0)
        assert scanner.send("\r").view.name.startswith("pick.")


def test_refused_scan_is_one_journal_entry_without_secret(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        scanner = Scanner(session)
        scanner.send(PAYMENT, 0.001)
        scanner.send("1\n2\n")
    raws = [event.raw for event in Journal(open_outbox(home.folder)).last_events(10) if event.raw]
    assert raws == ["BCD", "1\n2"], "of a slow one as much as decided it"


@pytest.mark.parametrize("pace", PACES)
def test_a_scan_is_refused_alike_at_every_pace(home: StoreFolder, pace: float) -> None:
    with at(home, user="U1") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        assert told(scanner.send(f"Invoice\r{BARCODES[0]}\r2\ry\r", pace)) == UNKNOWN


@pytest.mark.parametrize("pace", PACES)
def test_the_refused_lines_are_counted(home: StoreFolder, pace: float) -> None:
    with at(home, user="U1") as session:
        stand(home, session, "count.product")
        scanner = Scanner(session)
        frame = scanner.send(f"Invoice\r{BARCODES[0]}\r{BARCODES[1]}\r2\r{BARCODES[0]}\r", pace)
        assert told(frame) == BAD_LINE
        assert frame.verdict
        assert dict(frame.verdict.text.args) == {"count": 5, "text": "Invoice"}
