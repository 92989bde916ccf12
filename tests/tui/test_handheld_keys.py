"""Digits, letters and Enter lead everywhere, on the smallest handheld, without colour and without UTF-8.

A walk through a session: wherever it stands, what the view offers is printed at 20x16 in ASCII, or on a page that a
printed letter turns to; what is printed, typed key by key, is taken; and back leads to the job below, in the end home.
Nothing is kept on disk, so that each way starts from the very same store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.job import SignIn
from aisle.jobs.view import PAGING_TEXT_IDS, Chart, DetailView, Frame, ListView, View, numbered_rows
from aisle.scan.inputs_and_line_grouping import Line, OpenLine
from aisle.session.job_stack import StackedJob
from aisle.session.pending_question import AskedNumber, PendingQuestion
from aisle.session.session import Session, open_session
from aisle.session.terminal_screen_and_keys import list_height
from aisle.settings.setting_definitions import LANGUAGES, Settings
from aisle.tui.layout.screen import layout_screen, visible_row_count
from aisle.tui.layout.styled_lines_and_page_parts import base_role, plain_lines
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.run_length import tries
from tests.samples.registry import SAMPLES_OF_JOB
from tests.session.test_session import BARCODES

SIZES = ((20, 16), (40, 8))
"""The smallest handheld, and the flattest window."""

KEYS = {"choice-key", "hint-key", "row-key"}

ELSEWHERE = "96385074"
SAID = (*BARCODES[:2], ELSEWHERE, "A-1", "A-2", "4101", "4102", "product", "?product", "?", "2", "0")
"""What is scanned or typed wherever the walk stands, besides what is printed."""
TURNS = tries(12, 1)
"""By default one of them at a page, another one at the next page."""

OPENINGS = (("4102", BARCODES[1], BARCODES[1]), ("4199",), (BARCODES[0], "4101"))
"""Lines that lead from home to where the others do not come: an order that is all taken, one without lines."""

OPENED = (
    *("home", "pick", "shortage", "look_up", "locations", "count", "my_entries", "adjust", "move", "batch", "receive"),
    *("deliveries", "orders", "order", "note", "exceptions", "log", "store_product", "unconfirmed", "scanner_test"),
    *("today", "clearance", "clearance_tasks", "stores", "products"),
)
"""Jobs that the walk opens."""

DEAF = ("input.no_command", "input.choose_letter", "input.no_page", "input.no_choice_back", "input.no_choice")
"""Answers to a key that means nothing."""

DEPTH = 3
"""Jobs on top of each other, home included, up to which pages are looked at: a look can be taken from every look."""

BELOW = tries(1, DEPTH)
"""Jobs of a stack by which pages are told apart: in the long runs a page is met on top of each job that opens it."""

PLACES, ORDERS = 14, 12


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StoreFolder:
    """A small store in which every list has several pages."""
    home = StoreFolder(tmp_path_factory.mktemp("home"), "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people([service_rows.person("U1", "Anna Kovac"), service_rows.person("U2", "Anna Berg")])
    known = {f"P{n}": code for n, code in enumerate((*BARCODES, *[""] * 9), 1)} | {"P99": ELSEWHERE}
    cache.write_products([service_rows.product(number, f"Product {number}", code) for number, code in known.items()])
    cache.write_stock(
        [
            service_rows.stock(f"P{n}", 20, places={f"A-{n}": 12, "A-1": 8} if n > 1 else {"A-1": 20})
            for n in range(1, 13)
        ]
    )
    cache.write_locations([service_rows.location(f"A-{n}", n) for n in range(1, PLACES + 1)])
    lines = [service_rows.line(n, f"P{n}", n + 1, preferred_location_code=f"A-{n}") for n in (1, 2, 3)]
    cache.write_orders(
        [
            service_rows.order("4101", *lines, customer_name="Ms Okafor", comment="Ring twice. " * 20),
            service_rows.order("4102", service_rows.line(1, "P2", 2)),
            *(service_rows.order(f"42{n:02}", service_rows.line(1, "P1", 1)) for n in range(ORDERS)),
        ],
        lines_known=True,
        read_began=1.0,
    )
    cache.write_orders([service_rows.order("4199", total_lines=2)], lines_known=False, read_began=1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    return home


class Stand(NamedTuple):
    """Where a session stands, to come back to."""

    levels: tuple[StackedJob, ...]
    asking: PendingQuestion
    asked_number: AskedNumber
    frame: Frame

    @property
    def sign(self) -> tuple[Any, ...]:
        """What tells one page from another: the jobs, the step, and what is offered."""
        view = self.frame.view
        numbered = numbered_rows(view)
        return (
            tuple(level.job.name for level in self.levels[1:][-BELOW:]),
            view.name,
            tuple(choice.id for choice in view.choices),
            tuple(hint.letter for hint in view.key_hints),
            min(numbered, 2),
            self.asking != PendingQuestion(),
        )


class Walker:
    """A session of which nothing is kept, driven by keys."""

    def __init__(self, session: Session, size: tuple[int, int]) -> None:
        self.session = session
        self.size = size
        session.terminal.rows_in_view = partial(visible_row_count, is_ascii=True)
        session.event_runner.commit = self._forget  # type: ignore[method-assign]  # nothing that is tried here is to last
        session.start()
        session.resize(*size)

    def _forget(self) -> bool:
        self.session.store.unit_of_work.discard()
        return True

    def stand(self) -> Stand:
        """Where it stands now."""
        page = self.session.page
        return Stand(tuple(self.session.stack.jobs), page.question, page.asked_number, self.session.frames.build())

    def go(self, stand: Stand) -> None:
        """Back to where it stood."""
        self.session.stack.jobs[:] = stand.levels
        self.session.page.question = stand.asking
        self.session.page.asked_number = stand.asked_number
        self.session.typed_line.end("")
        self.session.verdicts.current = stand.frame.verdict

    def is_gone(self) -> bool:
        """Whether somebody has signed out or left; then nobody has."""
        gone = self.session.is_ending or not self.session.context.user.user
        self.session.is_ending = False
        self.session.context.user = SignIn("U1", "Anna Kovac")
        return gone

    def scan(self, text: str) -> Stand:
        """A line that comes at once."""
        self.session.take([Line(text, "cr", 0.0, 0.0, 0.0)], 0.0)
        return self.stand()

    def key_in(self, text: str) -> Stand:
        """Types a line key by key, as somebody does who reads it off the screen."""
        for end in range(1, len(text) + 1):
            self.session.take([OpenLine(text[:end])], 0.0)
        self.session.take([Line(text, "cr", 0.0, 0.0, 0.0)], 0.0)
        return self.stand()


def _printed(frame: Frame, size: tuple[int, int]) -> set[str]:
    """The keys on the screen, without colour and without UTF-8."""
    lines = layout_screen(frame, *size, is_ascii=True).lines
    found = {text.strip() for line in lines for text, role in line if base_role(role) in KEYS}
    cursor = {text.partition(">")[0].strip() for line in lines for text, role in line if base_role(role) == "cursor"}
    return (found | cursor) - {""}


def _offered(view: View) -> set[str]:
    """All keys that a view speaks of."""
    letters = {hint.letter for hint in view.key_hints}
    keys = getattr(view, "choice_letters", "")
    numbers = numbered_rows(view) + (0 if keys else len(view.choices))
    return letters | set(keys) | {str(number) for number in range(1, numbers + 1)}


def _pages(frame: Frame, size: tuple[int, int]) -> Iterator[Frame]:
    """The pages of a page to read, until one that was there before comes again."""
    view, seen = frame.view, set()
    for page in range(40) if isinstance(view, DetailView | Chart) else (0,):
        turned = frame._replace(view=view._replace(page=page) if isinstance(view, DetailView | Chart) else view)
        painted = repr(layout_screen(turned, *size, is_ascii=True).lines)
        if painted in seen:
            return
        seen.add(painted)
        yield turned


def _missing(frame: Frame, size: tuple[int, int]) -> set[str]:
    """What a view offers and no page of it prints; letters stand on each page, those that turn it where there are
    several."""
    view = frame.view
    pages = [_printed(page, size) for page in _pages(frame, size)]
    quiet: set[str] = set()
    is_whole = isinstance(view, DetailView | Chart) and len(pages) == 1
    if isinstance(view, ListView) and view.has_two_line_rows:
        is_whole = view.total == visible_row_count(frame, *size, 0, is_ascii=True)
    if is_whole:
        quiet = {hint.letter for hint in view.key_hints if hint.text.id in PAGING_TEXT_IDS and not hint.is_always_shown}
    numbers = set().union(*pages)
    return {
        key
        for key in _offered(view) - quiet
        if (key not in numbers if key.isdigit() else any(key not in page for page in pages))
    }


class Walk(NamedTuple):
    """All that was seen."""

    stands: dict[tuple[Any, ...], Stand]
    ways: dict[tuple[Any, ...], dict[str, tuple[Any, ...]]]
    """From each page by each printed key to another page."""
    wrong: list[str]


def _walk(walker: Walker) -> Walk:
    """Every page that printed keys and some scans lead to from home, each met once."""
    walk = Walk({}, {}, [])
    queue = deque([walker.stand()])
    for scans in OPENINGS:
        walker.go(queue[0])
        queue += [walker.key_in(text) for text in scans]
    while queue:
        stand = queue.popleft()
        if stand.sign in walk.stands or len(stand.levels) > DEPTH:
            continue
        walk.stands[stand.sign] = stand
        missing = _missing(stand.frame, walker.size)
        if missing:
            walk.wrong.append(f"{_where(stand)}: {sorted(missing)} not to be seen")
        queue += _onwards(walker, stand, walk)
    return walk


def _onwards(walker: Walker, stand: Stand, walk: Walk) -> list[Stand]:
    """Where each key and each scan leads from here."""
    printed = _printed(stand.frame, walker.size)
    ways = walk.ways.setdefault(stand.sign, {})
    found = []
    for key in (*sorted(printed), "b", *SAID[len(walk.stands) % TURNS :: TURNS]):
        walker.go(stand)
        after = walker.key_in(key)
        if walker.is_gone():
            continue
        found.append(after)
        if key not in printed and key != "b":
            continue
        ways[key] = after.sign
        if key in getattr(stand.frame.view, "choice_letters", "") and not _is_scanned_too(walker, stand, key, after):
            walk.wrong.append(f"{_where(stand)}: the printed code of {key!r} leads elsewhere")
        told = after.frame.verdict
        if told and told.text.id in DEAF and key in printed:
            walk.wrong.append(f"{_where(stand)}: {key!r} is printed, and the answer is {told.text.id}")
        if key == "b" and len(after.levels) > len(stand.levels):
            walk.wrong.append(f"{_where(stand)}: back opens {after.frame.view.name}")
    return found


def _is_scanned_too(walker: Walker, stand: Stand, key: str, after: Stand) -> bool:
    """Whether the letter of a choice, scanned from the printed sheet, leads where it leads when it is typed; a choice
    that is confirmed by hand says so."""
    walker.go(stand)
    scanned = walker.scan(f"AISLE:{key.upper()}")
    told = scanned.frame.verdict
    gone = walker.is_gone()
    return gone or scanned.sign == after.sign or (told is not None and told.text.id == "input.scan_not_accepted")


def _where(stand: Stand) -> str:
    return f"{stand.frame.view.name} in {'/'.join(level.job.name for level in stand.levels)} with {stand.sign[2]}"


def _chooses(stand: Stand, key: str) -> bool:
    """Whether a key is a number, or the letter of a choice."""
    return key.isdigit() or key in getattr(stand.frame.view, "choice_letters", "")


def _leads_home(walk: Walk) -> set[tuple[Any, ...]]:
    """The pages from which back, and the numbers and letters of choices where it asks, lead home."""
    home = {sign for sign in walk.stands if not sign[0]}
    grown = True
    while grown:
        more = {
            sign
            for sign, ways in walk.ways.items()
            if sign not in home
            and any(after in home for key, after in ways.items() if key == "b" or _chooses(walk.stands[sign], key))
        }
        home |= more
        grown = bool(more)
    return home


@pytest.mark.parametrize(
    ("size", "verified", "steps"),
    [
        pytest.param(SIZES[0], False, 53, marks=pytest.mark.full),
        (SIZES[0], True, 54),
        pytest.param(SIZES[1], False, 51, marks=pytest.mark.full),
    ],
    ids=["small", "verified", "flat"],
)
def test_shown_choices_lead_on_and_back_leads_home(
    store: StoreFolder,
    size: tuple[int, int],
    verified: bool,
    steps: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # `steps` are met at least; the others take pools, claims, or answers of a service, and their screens are looked at
    # by themselves.
    monkeypatch.chdir(tmp_path)  # files that are named on the way
    session = open_session(store, Settings(terminal="dock", user="U1", verified=verified))
    try:
        walk = _walk(Walker(session, size))
    finally:
        session.close()
    assert walk.wrong == []
    assert [_where(walk.stands[sign]) for sign in walk.stands.keys() - _leads_home(walk)] == []
    met = {stand.frame.view.name for stand in walk.stands.values()}
    known = {step for job in JOBS.values() for step in job.steps}
    assert len(met & known) >= steps, sorted(known - met)
    assert {level.job.name for stand in walk.stands.values() for level in stand.levels} >= set(OPENED)


@pytest.mark.every_case
@pytest.mark.parametrize("job", SAMPLES_OF_JOB)
def test_all_that_a_screen_offers_is_printed(job: str) -> None:
    """By default on the smallest handheld."""
    for _, sample in SAMPLES_OF_JOB[job]:
        for size in SIZES[: tries(1, 2)]:
            frame = sample.build("")
            view = frame.view
            if isinstance(view, ListView):
                asked = list_height(size[1]) + (not view.choices)
                frame = frame._replace(
                    view=view._replace(rows=view.rows[:asked], numbered_rows=min(view.numbered_rows, asked), cursor=-1)
                )
            assert _missing(frame, size) == set(), (sample, size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    ("opening", "total"),
    [((), 3 + ORDERS), (("2", "product"), 13), (("3",), PLACES)],
    ids=["home", "look_up", "locations"],
)
def test_every_row_of_a_list_is_met_by_its_letters(
    store: StoreFolder, size: tuple[int, int], opening: tuple[str, ...], total: int
) -> None:
    session = open_session(store, Settings(terminal="dock", user="U1"))
    try:
        walker = Walker(session, size)
        for text in opening:
            walker.key_in(text)
        assert _rows_met(walker) == total
    finally:
        session.close()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [*SIZES, (20, 26)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_order_is_met_at_home_in_every_language(store: StoreFolder, language: str, size: tuple[int, int]) -> None:
    session = open_session(store, Settings(terminal="dock", user="U1", language=language))
    try:
        walker = Walker(session, size)
        home = walker.stand()
        for menu in ((), ("7",), ("7", "9"), ("zzzz",)):  # over each page of the menu, and under a long answer
            walker.go(home)
            for text in menu:
                walker.key_in(text)
            assert _rows_met(walker) == 3 + ORDERS, menu
    finally:
        session.close()


def test_no_row_that_a_long_answer_covers_is_passed_over(store: StoreFolder) -> None:
    session = open_session(store, Settings(terminal="dock", user="U1", language="fr"))
    try:
        walker = Walker(session, (20, 26))
        walker.key_in("3")
        stand = walker.key_in("99" * 9)
        view = stand.frame.view
        assert isinstance(view, ListView)
        seen = visible_row_count(stand.frame, *walker.size, len(view.rows), is_ascii=True)
        assert seen < len(view.rows)
        after = walker.key_in("n").frame.view
        assert isinstance(after, ListView)
        assert after.first == seen
    finally:
        session.close()


def _rows_met(walker: Walker) -> int:
    """How many rows `n` brings into sight until it is back at the first page."""
    met: set[str] = set()
    view = walker.stand().frame.view
    for _ in range(2 * (PLACES + ORDERS)):  # a row that is never in sight ends it, too
        if not isinstance(view, ListView) or {row.key for row in view.rows} <= met:
            break
        shown = "\n".join(plain_lines(layout_screen(walker.stand().frame, *walker.size, is_ascii=True)))
        met |= {row.key for row in view.rows if MessageWriter(True).write(row.cells[0])[:8] in shown}
        view = walker.key_in("n").frame.view
    return len(met)
