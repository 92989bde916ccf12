"""What a job is: `(state, event) -> Turn(state, effects, verdict)`, without input or output of its own.

A job never asks the world: it says what it wants by an effect and gets the answer as an event. So a job runs the same
in a test, in a terminal, and when a journal is replayed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

from aisle.jobs.view import Msg, Verdict, View, msg
from aisle.scan.meaning import Accepts, Meaning
from aisle.settings import LARGE_QUANTITY, LOSS_REASONS, RECOUNT_UNITS, RECOUNT_VALUE, SHORTAGE_REASONS, STUCK_MINUTES

Json = Any
"""A value made of dict, list, str, int, float, bool, None and Decimal."""


class Query(NamedTuple):
    """The job needs rows of the store's data; the answer comes as `Rows` with the same id."""

    id: str
    name: str
    """A named read of aisle.cache.query_registry: `orders`, `order`, `people`, …"""
    args: Mapping[str, Json]
    is_live: bool = False
    """Its answer is a window on data that anyone may change: asked again on resume, never part of the journal. What
    follows in the journal must make sense without it."""


class Write(NamedTuple):
    """One operation for the outbox."""

    operation: str
    """Name in the table of operations (aisle.contract.wire)."""
    lanes: tuple[str, ...]
    """What it must stay in order with: `order/<number>`, `product/<number>`."""
    path: Mapping[str, str]
    query: Mapping[str, Json]
    body: Json
    merge_key: str = ""
    """Writes of one lane with the same merge key become one while none of them is sent; empty: never merged.
    Merging an `update-customer-order` lays its lines over the earlier ones by `line_number`."""
    user: str = ""
    """The app user in whose name it is, where that is another one than who is signed in; it has no terminal then."""
    needs_supervisor: bool = False
    """Only a supervisor does that: it goes with the token of whoever is signed in, where the service knows his PIN."""


class Refresh(NamedTuple):
    """The job would like the courier to refresh something soon: topic `order`, `orders`, `product`."""

    topic: str
    key: str = ""


ARRIVED, RESEND, CLOSED_BY_HAND = "arrived", "again", "by_hand"
"""What a person can say of an operation that nobody else can settle."""

OVERAGE, DIFFERENCE = "overage", "difference"
"""What can be sent in its place: a movement that the books have too little for; what a count found more or less."""


class Resolve(NamedTuple):
    """A person settles an operation of the outbox; without effect where somebody else did so meanwhile."""

    op_id: str
    decision: str
    """`arrived`: the service has it. `again`: it has not, so that it is sent once more. `by_hand`: it is closed.
    `overage`, `difference`: it is closed, and that is sent in its place."""
    note: str = ""
    """What was said about it."""


PARTLY_RECEIVED = "halfway"
"""The topic of the remark that a delivery was left with a part of it received."""


class LocalNote(NamedTuple):
    """Something that this host keeps for everybody who works on it; the service never hears of it."""

    topic: str
    """`claim`, `review`, `recount`, `view`, `urgent`, `given`, `released`, `lying`, `redirected`, `halfway`, or
    `language` (of a person)."""
    key: str
    text: str
    """Empty takes it away again."""
    needs_supervisor: bool = False
    """As of a write: the PIN is asked before, though the service never hears of it."""
    mirrors_write: bool = False
    """A write beside it tells the service the same; where that waits for the PIN, this is shown meanwhile."""


class Request(NamedTuple):
    """Something that a person waits for and that must be answered by the service: answered or expired, never sent late.

    It gets a name, which comes as `Asked`; what became of it is read by the query `ask` (ask_id) whenever the outbox
    has changed: one row with `state` (see aisle.outbox.session_requests) and `answer`.
    """

    kind: str
    """`clearance`, or `sign-in`: the PIN of whoever is signed in."""
    body: Mapping[str, Json]
    timeout_s: float
    """So long it may wait to be begun; after that it never is."""
    secret: str = ""
    """What no file may hold (a PIN): it is handed to the courier by word of mouth."""
    needs_supervisor: bool = False
    """As of a write."""


class Export(NamedTuple):
    """Rows of a named read as a CSV file. The answer are `Rows` with the same id, one row: `file`, `count`, and `why`,
    a message's id, empty where it was written; it is no part of the journal. The query `file` (file) says the same of
    a name before anything is written, with the whole path."""

    id: str
    file: str
    """As a person named it."""
    name: str
    """A named read of aisle.cache.query_registry."""
    args: Mapping[str, Json]
    columns: tuple[str, ...]
    """Fields of its rows, which are the heads of the columns too."""


class Start(NamedTuple):
    """Open another job on top of this one."""

    job: str
    args: Mapping[str, Json]


class Close(NamedTuple):
    """This job is over; the one below it gets `Closed`."""

    verdict: Verdict | None = None
    start: Start | None = None
    """The job below is asked to open this next."""
    event_for_below: Event | None = None
    """Handed to the job below, as if it had been said there."""
    close_unused_below: bool = False
    """Pages below that hold no work and have no use for what is handed are left as well: it was offered."""
    answer: Mapping[str, Json] | None = None
    """What the job below wanted to know; it comes with `Closed`."""


class SignIn(NamedTuple):
    """From here on this terminal belongs to this app user."""

    user: str
    name: str


class SignOut(NamedTuple):
    """The terminal is free again."""


class Quit(NamedTuple):
    """Leave the program; all is saved."""


class SwitchStore(NamedTuple):
    """From here on this terminal works in that store; what is open or not sent in this one waits here."""

    store: str
    needs_supervisor: bool = False
    """As of a write."""


class UndoLast(NamedTuple):
    """Take up again the job by which whoever stands here did something last, and undo its last step there."""


class SetPreference(NamedTuple):
    """From here on this terminal looks or speaks like that, until somebody signs out or its settings change."""

    name: str
    """`language` or `theme`."""
    value: str


class PinConfirmed(NamedTuple):
    """Whoever stands here has said the PIN: until then nothing asks for it again. Seconds since 1970."""

    until: float


SessionEffect = SignIn | SignOut | Quit | SwitchStore | SetPreference | PinConfirmed | UndoLast
"""What the session itself is asked to do."""

Effect = Query | Request | Export | Write | Refresh | Resolve | LocalNote | Start | Close | SessionEffect


class Rows(NamedTuple):
    """The answer to a Query. `rows` are plain mappings; `total` counts all that match."""

    id: str
    rows: tuple[Mapping[str, Json], ...]
    total: int
    may_have_more: bool = False
    """There may be more than are counted: then one alone is not known to be the only one."""


class Changed(NamedTuple):
    """Something that this job shows has changed in the cache: topic and key as in the change feed, or `outbox` where
    somebody else has brought operations on: sent, confirmed or refused. Home alone hears `refusal` while it is not on
    the screen: what was refused of movements is told wherever their person stands."""

    topic: str
    key: str


class Requested(NamedTuple):
    """What was asked for is durable, and on its way under this name."""

    request_id: str


class Closed(NamedTuple):
    """The job above this one is over."""

    job: str
    answer: Mapping[str, Json] | None = None
    """What it was opened to find out; None when it was left without an answer."""


class Opened(NamedTuple):
    """The first event of a job."""

    args: Mapping[str, Json]


class Resumed(NamedTuple):
    """The job stands where it was left, perhaps on another terminal: time to look at what has changed since."""


class RawInput(NamedTuple):
    """An input as it came, and nothing done with it yet; only for jobs that listen."""

    text: str = ""
    """As `aisle.scan.inputs.Line` has it, and the three below."""
    end: str = ""
    gap_ms: int = 0
    dropped: str = ""
    meaning: Meaning | None = None
    """What it would mean on this page."""
    key: str = ""
    """The name of a key that is no text; then all else is empty."""
    pace_ms: int = 0
    """As `aisle.scan.inputs.Line` has it."""


Event = Meaning | Rows | Changed | Requested | Closed | Opened | Resumed | RawInput

S = TypeVar("S")


class Turn(NamedTuple, Generic[S]):
    """The outcome of one event."""

    state: S
    effects: tuple[Effect, ...] = ()
    verdict: Verdict | None = None
    """None leaves the verdict on the screen as it is."""


class Policy(NamedTuple):
    """How a store wants its jobs done, from the settings."""

    verified: bool = False
    """Places are verified by a scan while picking."""
    blind_counts: bool = False
    """A count does not show what the books expect until it is done."""
    known_people_only: bool = False
    """Only people whom the store's service knows sign in."""
    recount_units: Decimal = RECOUNT_UNITS
    """A difference of more units than this has to be counted again; 0 for no such threshold, here and below."""
    recount_percent: Decimal = Decimal(0)
    """The same, in per cent of what was expected."""
    recount_value: Decimal = RECOUNT_VALUE
    """The same, in money at the price of the product."""
    large_quantity: Decimal = LARGE_QUANTITY
    """A typed quantity of so many is asked back where nobody knows how many to expect; 0 for no such limit."""
    stuck_minutes: Decimal = STUCK_MINUTES
    """An order that somebody has begun and of which nothing was heard for so many minutes is stuck."""
    adjustment_reasons: tuple[str, ...] = LOSS_REASONS
    """Why goods are lost or found: `code - words` or `code + words`."""
    short_reasons: tuple[str, ...] = SHORTAGE_REASONS
    """Why something cannot be picked: `code words`, or `code 0 words` where nothing is left at the place."""
    receiving_location: str = ""
    """Where goods go that come in and that nobody brings anywhere else; empty: to no place."""


class Context(NamedTuple):
    """What every job may know of its surroundings; part of the facts of an event."""

    store: str = ""
    user: str = ""
    person_name: str = ""
    now: str = ""
    """The moment of the event, ISO 8601 UTC."""
    policy: Policy = Policy()
    window_rows: int = 12
    """How many list rows a window may ask for."""
    terminal: str = ""
    visible_rows: int = 99
    """So many of them are in sight, when somebody leads through a list: long words of a menu, and a long answer, leave
    room for fewer."""
    extra_rows: int = 0
    """So many more of them a list has whose commands stand beside it, on a wide screen."""


class Job(ABC, Generic[S]):
    """A pure state machine. `version` changes when a journal of an older program would be replayed to another state."""

    name: str
    steps: tuple[str, ...]
    """Names of all its steps, as `step_name` and the views give them; each is in the screen registry."""
    version: int
    journalled: bool
    """False for pages without a state that is worth resuming (home, sign-in)."""
    raw_input: bool = False
    """The job gets each input as `RawInput` instead of its meaning."""
    hidden_from_below: bool = False
    """The job below is not resumed when this one closes: it is told what was held back, or queries again."""
    resolves_ambiguity: bool = False
    """The job accepts a code with several meanings and asks the question itself."""

    @abstractmethod
    def begin(self) -> S:
        """Return the state before `Opened`."""

    @abstractmethod
    def handle(self, state: S, event: Event, context: Context) -> Turn[S]:
        """Return the next state, its effects and the verdict."""

    @abstractmethod
    def accepts(self, state: S) -> Accepts:
        """Return what the grammar may read an input as."""

    @abstractmethod
    def prefers(self, state: S) -> tuple[str, ...]:
        """Return the kinds of meanings that this step can use, best first; see `resolve`."""

    @abstractmethod
    def step_name(self, state: S) -> str:
        """Return the name of the current step, as its view has it."""

    @abstractmethod
    def view(self, state: S) -> View:
        """Return what is on the screen."""

    @property
    def requery_after_write(self) -> bool:
        """True if the page queries again after each write, because it shows pending operations."""
        return not self.journalled

    def is_secret(self, state: S) -> bool:
        """Return True if all text typed at this step is secret: no screen, journal or trace shows it."""
        return False

    def is_secret_text(self, state: S, text: str) -> bool:
        """Return True if this text is secret; it may have been typed for the step before or after."""
        return self.is_secret(state)

    def passes_to_below(self, state: S, meaning: Meaning) -> bool:
        """Return True if the job below handles this meaning; the page closes first (help, palette)."""
        return False

    def keeps_next_scan(self, state: S) -> bool:
        """Return True while the page waits for its first scan; a job below does not get that scan."""
        return False

    def orders_in_work(self, state: S) -> tuple[str, ...]:
        """Return the numbers of the orders that the job works on; other sessions show them as claimed."""
        return ()

    def uses_product(self, state: S, product: str) -> bool:
        """Return True if the current step can use this product number."""
        return False

    def quantity_product(self, state: S) -> tuple[str, str]:
        """Return number and name of the product that a typed quantity is for; two empty texts for none."""
        return "", ""

    def can_undo(self, state: S) -> bool:
        """Return True if a job closed in this state has a step to undo after it is resumed."""
        return False


def format_money(value: Decimal) -> str:
    """A price as people write it: at least two decimals."""
    return f"{value:.2f}" if value == round(value, 2) else format_number(value)


def money_message(value: Decimal) -> Msg:
    """A price or a value, for a screen."""
    return msg("money", value=value)


def format_number(value: Decimal) -> str:
    """A quantity as people write it: no exponent, no trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
