"""Base class of all jobs, with the effects they return and the events they receive.

A job is a pure function `(state, event) -> Turn(state, effects, verdict)`. It does no input or output: it asks for
something by an effect and gets the answer as an event. So a job runs the same in a test, in a terminal and when a
journal is replayed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

from aisle.browser_addresses_and_packets import PAGES, PageAddress
from aisle.jobs.view import Msg, Verdict, View, msg
from aisle.scan.grammar_and_meaning_types import Accepts, Match, Meaning
from aisle.settings.setting_definitions import (
    EXPIRY_CHECK_DAYS,
    EXPIRY_FAR_DAYS,
    LARGE_QUANTITY,
    LOSS_REASONS,
    PICKUP_DAYS,
    RECOUNT_UNITS,
    RECOUNT_VALUE,
    REJECTION_REASONS,
    SHORTAGE_REASONS,
    STUCK_MINUTES,
)

Json = Any
"""Value made of dict, list, str, int, float, bool, None and Decimal."""

Args = Mapping[str, Json]
"""Arguments of a query or a job, or the answer of a job."""


MAX_SORTED = 10_000
"""Most rows of a list that is sorted by a column without an index."""


class Query(NamedTuple):
    """Request for rows of the store's data. The answer is `Rows` with the same id."""

    id: str
    name: str
    """Name of a query in aisle.cache.queries: `orders`, `order`, `people`, …"""
    args: Args
    """Every list also takes `order_by` (a field of its rows) and `descending`."""
    is_live: bool = False
    """True if the answer is a window on data that anyone may change. It is queried again on resume and never
    journalled, so later journal entries must make sense without it."""


class Write(NamedTuple):
    """Operation for the outbox."""

    operation: str
    """Name in the table of operations (aisle.contract.request_encoding)."""
    lanes: tuple[str, ...]
    """Lanes in which it keeps its order with other operations: `order/<number>`, `product/<number>`."""
    path: Mapping[str, str]
    query: Mapping[str, Json]
    body: Json
    merge_key: str = ""
    """Key under which unsent writes of one lane are merged into one; empty: never merged. A merged
    `update-customer-order` overrides earlier lines by `line_number`."""
    user: str = ""
    """App user in whose name it is sent, if not the one who is signed in. It then has no terminal."""
    needs_supervisor: bool = False
    """True if only a supervisor may do it. It is sent with the token of the person signed in, if the service knows
    their PIN."""
    told: tuple[str, ...] = ()
    """Refused operations of the job that the person knows of."""


class Refresh(NamedTuple):
    """Request to the courier to refresh a topic soon: `order`, `orders`, `product`, `location`, `logs`, `deliveries`, …

    The key is a number or code; of `logs` also `since/<day>` or `losses/<reasons>`.
    """

    topic: str
    key: str = ""


ARRIVED, RESEND, CLOSED_BY_HAND = "arrived", "resend", "close_by_hand"
"""Decisions of a person on an operation that nothing else can resolve."""

OVERAGE, DIFFERENCE = "overage", "difference"
"""Operations sent in place of a closed one: a stock movement above the expected quantity, or the difference found by a
count."""


class Resolve(NamedTuple):
    """Decision of a person on an operation in the outbox. It has no effect if the operation was resolved meanwhile."""

    op_id: str
    decision: str
    """`arrived`: the service has it. `resend`: the service does not have it; send it again. `close_by_hand`: close it.
    `overage`, `difference`: close it and send that in its place."""
    note: str = ""
    """Remark of the person."""


PARTLY_RECEIVED = "partly_received"
"""Topic of the note that a delivery was left partly received."""

ACCEPTED_EXCESS = "accepted_excess"
"""Topic of the note that a supervisor accepted what was received beyond the announced quantity of a delivery's line."""


def delivery_in_work(number: str) -> str:
    """Return the name of a delivery among the orders in work (`Job.orders_in_work`)."""
    return f"delivery/{number}"


class LocalNote(NamedTuple):
    """Note that this host keeps for all its sessions. It is never sent to the service."""

    topic: str
    """`claim`, `review`, `recount`, `view`, `priority`, `assigned`, `released`, `not_put_down`, `redirected`,
    `partly_received`, `accepted_excess`, `list`, or `language` and `theme` (of a person)."""
    key: str
    text: str
    """Text of the note; an empty text removes it."""
    needs_supervisor: bool = False
    """As in `Write`: the PIN is asked first, although nothing is sent to the service."""
    mirrors_write: bool = False
    """True if a write beside it sends the same to the service. The note is shown while that write waits for the PIN."""


class Request(NamedTuple):
    """Question to the service that a person waits for. It is answered or expires; it is never sent late. Its id comes
    as `Requested`. Each time the outbox changes, the query `request_state` (request_id) returns one row with `state`
    (see aisle.outbox.requests_and_token_holders) and `answer`."""

    kind: str
    """`clearance`, or `sign-in` (the PIN of the person signed in)."""
    body: Mapping[str, Json]
    timeout_s: float
    """Seconds it may wait to be sent. After that it expires."""
    secret: str = ""
    """Secret that no file may hold (a PIN). It is passed to the courier without being stored."""
    needs_supervisor: bool = False
    """As in `Write`."""


class Export(NamedTuple):
    """Export of a query's rows to a CSV file. The answer is `Rows` with the same id and one row: `file`, `count`, and
    `why`, the id of a message, empty on success. It is not journalled. The query `file` (file) gives the same row, with
    the whole path, before anything is written."""

    id: str
    file: str
    """File name as the person typed it."""
    name: str
    """Name of a query in aisle.cache.queries."""
    args: Args
    columns: tuple[str, ...]
    """Fields of its rows, which are also the column heads."""


class ExportList(NamedTuple):
    """Export of all rows of a list, as people see them, to a CSV file that aisle names, or as a download. The answer is
    that of `Export`."""

    id: str
    name: str
    """First part of the file's name."""
    query: Query
    """Query of the list, from its first row."""
    heads: tuple[Msg, ...]
    cells: Callable[[tuple[Json, ...]], Sequence[Sequence[Msg]]]
    """Returns the cells of these rows."""


class PrintTable(NamedTuple):
    """Table on paper: a text file that aisle names, or a download. The answer is that of `Export`."""

    id: str
    name: str
    """First part of the file's name."""
    notes: tuple[Msg, ...]
    """Lines above the table."""
    heads: tuple[Msg, ...]
    rows: tuple[tuple[Msg, ...], ...]
    """Cells of each row. The last column takes several lines if it is long."""
    done: int = 0
    """Number of rows that are done."""


class Start(NamedTuple):
    """Effect that opens another job on top of this one."""

    job: str
    args: Args
    not_done: Msg | None = None
    """What was typed here and is dropped. It is added to the other job's verdict."""


class Close(NamedTuple):
    """Effect that closes this job. The job below receives `Closed`."""

    verdict: Verdict | None = None
    start: Start | None = None
    """Job that the job below is asked to open next."""
    event_for_below: "Event | None" = None
    """Event for the job below, handled as if it were an input there."""
    close_unused_below: bool = False
    """True if pages below that hold no work and do not accept the event are closed too."""
    answer: Args | None = None
    """Answer for the job below; it comes with `Closed`."""
    not_done: Msg | None = None
    """What the closed job asked and nobody answered, or left undone. It is added to the verdict on the event for the
    job below, or on the next job."""


class SignIn(NamedTuple):
    """Effect that signs an app user in to this terminal."""

    user: str
    name: str


class SignOut(NamedTuple):
    """Effect that signs the app user out."""


class Quit(NamedTuple):
    """Effect that leaves the program. Everything is saved."""


class SwitchStore(NamedTuple):
    """Effect that switches this terminal to another store. Open work and unsent operations of this store wait here."""

    store: str
    needs_supervisor: bool = False
    """As in `Write`."""


class UndoLast(NamedTuple):
    """Effect that goes back to the job in which this person did the last undoable step, and undoes that step."""


class SetPreference(NamedTuple):
    """Effect that sets a preference of this terminal, until sign-out or until its settings change."""

    name: str
    """`language` or `theme`."""
    value: str


class PinConfirmed(NamedTuple):
    """Effect that records the person's PIN as given. Until this time (seconds since 1970) it is not asked again."""

    until: float


SessionEffect = SignIn | SignOut | Quit | SwitchStore | SetPreference | PinConfirmed | UndoLast
"""Effects on the session itself."""

FileEffect = Export | ExportList | PrintTable
"""Effects that write a file for people."""

Effect = Query | Request | FileEffect | Write | Refresh | Resolve | LocalNote | Start | Close | SessionEffect


class Rows(NamedTuple):
    """Answer to a Query. `total` counts all matching rows."""

    id: str
    rows: tuple[Json, ...]
    """Rows of the query's type (aisle.jobs.row_types)."""
    total: int
    may_have_more: bool = False
    """True if there may be more rows than counted. A single row is then not known to be the only one."""


class Changed(NamedTuple):
    """Change in the cache of something that this job shows. Topic and key are those of the change feed, or topic
    `outbox` if operations were sent, confirmed or refused elsewhere. Only home receives `refusal` while it is not on
    the screen: refused movements are reported in every job."""

    topic: str
    key: str


class Requested(NamedTuple):
    """Confirmation that a request is stored durably, with its id."""

    request_id: str


class Closed(NamedTuple):
    """Notice that the job above this one has closed."""

    job: str
    answer: Args | None = None
    """Answer of that job; None if it was left without one."""


class Opened(NamedTuple):
    """First event of a job."""

    args: Args


class Resumed(NamedTuple):
    """Notice that the job is resumed, perhaps on another terminal. It should query what has changed."""


class RawInput(NamedTuple):
    """Uninterpreted input, for jobs with `raw_input`."""

    text: str = ""
    """These four fields are those of `aisle.scan.inputs_and_line_grouping.Line`."""
    end: str = ""
    gap_ms: int = 0
    dropped: str = ""
    meaning: Meaning | None = None
    """Meaning that it would have on this page."""
    key: str = ""
    """Name of a key without text; all other fields are then empty."""
    pace_ms: int = 0
    """As in `aisle.scan.inputs_and_line_grouping.Line`."""


Event = Meaning | Rows | Changed | Requested | Closed | Opened | Resumed | RawInput

S = TypeVar("S")


class Turn(NamedTuple, Generic[S]):
    """Outcome of one event."""

    state: S
    effects: tuple[Effect, ...] = ()
    verdict: Verdict | None = None
    """Verdict to show; None keeps the current one."""


def reply(state: S, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal | Msg) -> Turn[S]:
    """Return a turn with a verdict."""
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


class Policy(NamedTuple):
    """Rules of a store for its jobs, from the settings."""

    verified: bool = False
    """True if locations are verified by a scan while picking."""
    blind_counts: bool = False
    """True if a count hides the expected quantity until it is done."""
    known_people_only: bool = False
    """True if only people known to the service may sign in."""
    recount_units: Decimal = RECOUNT_UNITS
    """Units by which a count may differ before a recount; 0 for no limit, here and below."""
    recount_percent: Decimal = Decimal(0)
    """Same limit as a percentage of the expected quantity."""
    recount_value: Decimal = RECOUNT_VALUE
    """Same limit as money at the product's price."""
    large_quantity: Decimal = LARGE_QUANTITY
    """Typed quantity from which a confirmation is asked if the expected quantity is unknown; 0 for no limit."""
    stuck_minutes: Decimal = STUCK_MINUTES
    """Minutes without a change after which an order in progress is stuck."""
    adjustment_reasons: tuple[str, ...] = LOSS_REASONS
    """Reasons of losses and finds: `code - words` or `code + words`."""
    short_reasons: tuple[str, ...] = SHORTAGE_REASONS
    """Reasons of shortages: `code words`, or `code 0 words` if nothing is left at the location."""
    receiving_location: str = ""
    """Default location for received goods; empty for none."""
    rejection_reasons: tuple[str, ...] = REJECTION_REASONS
    """Reasons to reject an order: `code words`."""
    expiry_check_days: Decimal = EXPIRY_CHECK_DAYS
    """Days before its expiry date on which a product is checked, if it has no number of days of its own."""
    expiry_far_days: Decimal = EXPIRY_FAR_DAYS
    """Days ahead from which an expiry date must be confirmed."""
    expiry_discount_days: Decimal = Decimal(0)
    """Days before an expiry date from which a discount price is asked; 0 for never."""
    check_hand_over: bool = False
    """True if goods are scanned before they are handed over."""
    pickup_days: Decimal = PICKUP_DAYS
    """Days that a picked order may wait for its customer; 0 for no limit."""
    weight_tolerance: Decimal = Decimal(0)
    """Per cent of the ordered quantity that a weighed line may lack when it is picked. Journals written before this
    setting existed are replayed with 0."""
    verify_totes: bool = False
    """True if the tote is scanned after each take of a batch."""


class Context(NamedTuple):
    """Surroundings that every job may use; part of the facts of an event."""

    store: str = ""
    user: str = ""
    person_name: str = ""
    now: str = ""
    """Time of the event, ISO 8601 UTC."""
    policy: Policy = Policy()
    window_rows: int = 12
    """Most list rows that a window may query."""
    terminal: str = ""
    visible_rows: int = 99
    """Rows in sight while the person moves a cursor through a list. A long menu or a long verdict leaves fewer."""
    extra_rows: int = 0
    """Extra rows of a list whose commands are beside it on a wide screen."""
    has_pane: bool = False
    """True if the screen has room for the details of a row beside its list or below it."""
    pane_rows: int = 0
    """Rows that the details take below the list; 0 beside it."""
    is_desk: bool = False
    """True if the screen is that of a desk, not of a handheld."""


class Job(ABC, Generic[S]):
    """Pure state machine. Increase `version` when a journal of an older program would replay to another state."""

    name: str
    steps: tuple[str, ...]
    """Names of all its steps, as `step_name` and the views give them. Each is in the screen registry."""
    state_type: type[S]
    """Type of its state. With its defaults it is the state before `Opened`."""
    lists: tuple[str, ...]
    """Lists of the service that its pages show, by their names in `LIST_NAMES`, the most important first."""
    own_steps: tuple[str, ...] = ()
    """Steps that list data of the job or of this host."""
    version: int = 1
    journalled: bool = True
    """False for pages without a state worth resuming (home, sign-in)."""
    raw_input: bool = False
    """True if the job receives each input as `RawInput` instead of its meaning."""
    hidden_from_below: bool = False
    """True if the job below is not resumed when this one closes. It gets the events held back, or queries again."""
    resolves_ambiguity: bool = False
    """True if the job accepts a code with several meanings and asks the question itself."""
    max_count_digits: int = 0
    """Most digits of a number that is no code but a count of records; at the pace of a scanner it is refused."""
    preferred_kinds: tuple[str, ...] = ()
    """Kinds of meanings that it can use, best first, if all its steps use the same; see `resolve`."""

    def begin(self) -> S:
        """Return the state before `Opened`."""
        return self.state_type()

    @abstractmethod
    def handle(self, state: S, event: Event, context: Context) -> Turn[S]:
        """Return the next state, its effects and the verdict."""

    @abstractmethod
    def accepts(self, state: S) -> Accepts:
        """Return what the grammar may read an input as."""

    def prefers(self, state: S) -> tuple[str, ...]:
        """Return the kinds of meanings that this step can use, best first."""
        return self.preferred_kinds

    def step_name(self, state: S) -> str:
        """Return the name of the current step, as its view has it. By default it is that of the job."""
        return self.name

    def main_list(self, state: S) -> str:
        """Return the list of the service that the page lists; empty for own data."""
        return self.lists[0] if self.lists and self.step_name(state) not in self.own_steps else ""

    @abstractmethod
    def view(self, state: S) -> View:
        """Return the screen."""

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
        """Return the numbers of the orders that the job works on; other sessions show them as claimed. A delivery has
        the name of `delivery_in_work`."""
        return ()

    def is_same_work(self, state: S, args: Args) -> bool:
        """Return True if the open job does what a job opened with these arguments would do."""
        return False

    def uses_product(self, state: S, product: str) -> bool:
        """Return True if the current step can use this product number."""
        return False

    def quantity_product(self, state: S) -> tuple[str, str]:
        """Return number and name of the product that a typed quantity is for; two empty texts for none."""
        return "", ""

    def label_of_scan(self, state: S, match: Match) -> str:
        """Return the name of a scanned product for the question about its quantity."""
        return match.label or match.key

    def quantity_taken(self, state: S, product: str) -> Decimal:
        """Return the quantity of a product that the job has taken, which an undo reduces; 0 if it takes nothing."""
        return Decimal(0)

    def product_of_choice(self, state: S, number: int) -> Match | None:
        """Return the product that this choice reads a typed number as; None for any other choice."""
        return None

    def address(self, state: S) -> PageAddress | None:
        """Return the address of the page in a browser; None for that of the page below."""
        return PageAddress(self.name) if self.name in PAGES else None

    def can_undo(self, state: S) -> bool:
        """Return True if a job closed in this state has a step to undo after it is resumed."""
        return False


def format_money(value: Decimal) -> str:
    """Return a price with at least two decimals."""
    return f"{value:.2f}" if value == round(value, 2) else format_number(value)


def money_message(value: Decimal) -> Msg:
    """Return a price or value as a message."""
    return msg("money", value=value)


def format_number(value: Decimal) -> str:
    """Return a quantity without exponent and trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
