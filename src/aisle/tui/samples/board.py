"""Samples of the supervisor's pages."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.desk.act import ActJob
from aisle.jobs.desk.act_state import Acting, Outcome, Person
from aisle.jobs.desk.deeds import CLAIM, FINISH, REJECT, SPLIT, TAKE_BACK, Deed
from aisle.jobs.desk.exceptions import ExceptionsJob
from aisle.jobs.desk.exceptions_state import Exceptions, Row
from aisle.jobs.desk.order_page import OrderPageJob
from aisle.jobs.desk.order_page_state import Happened, Line, Page
from aisle.jobs.desk.orders import OrdersJob
from aisle.jobs.desk.orders_filter import Filter
from aisle.jobs.desk.orders_rows import Board, Listed, View
from aisle.jobs.pick.short_ways import Reason
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Link, Verdict, msg, raw
from aisle.jobs.view import View as Shown

LIVE = Link("live", 4.0)
OFFLINE = Link("offline", 1260.0, waiting=3)

_NAMES = ("J. Jansen", "Bakery The Little Corner", "De Vries", "Öztürk & Sons", "M. Okafor", "Ms Annabel Smit-Bakker")
_STATES = ("open", "partial", "picked", "open", "rejected", "partial", "open", "picked")


def _frame(view: Shown, verdict: Verdict | None = None, link: Link = LIVE, typed: str = "") -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Anna", 7 if verdict else 0)


def _order(index: int, text: str) -> Listed:
    status = _STATES[index % len(_STATES)]
    of = Decimal(6 + index * 7 % 19)
    picked = {"open": Decimal(0), "picked": of}.get(status, Decimal(index % 6))
    late = "moment.late" if index < 2 else "moment"
    return Listed(
        number=f"10{index * 7 + 23:04}",
        who=text or _NAMES[index % len(_NAMES)],
        due=msg(late, at=f"2026-11-{20 + index // 5:02}T{9 + index % 5 * 2:02}:30:00"),
        status=status,
        of=of,
        picked=picked,
        lines=index % 9 + 1,
        short=2 if index in (2, 5) else 0,
        claimed=status == "partial",
        by=text or ("Ben Okafor" if index % 3 else "Carla Fernandes"),
        silent=Decimal(240 + index * 660) if status == "partial" else Decimal(-1),
        seen=Decimal(9000 + index * 4000),
        why=(text or "Customer cancelled") if status == "rejected" else "",
        reference=text or f"WEB-{7700 + index}",
        position=index,
    )


def _orders(text: str, count: int = 36) -> tuple[Listed, ...]:
    return tuple(_order(index, text) for index in range(count))


def board(text: str) -> Frame:
    """All that is active, the cursor on one."""
    return _frame(OrdersJob().view(Board(rows=_orders(text), total=20000, cursor=1, loaded=True)))


def board_marking(text: str) -> Frame:
    """Some are marked."""
    rows = _orders(text)
    marked = tuple(row.number for row in rows[1:4])
    state = Board(rows=rows, total=412, marking=True, marked=marked, loaded=True, filter=Filter("to_pick", due="late"))
    return _frame(OrdersJob().view(state), Verdict(INFO, msg("orders.marking")))


def board_empty(text: str) -> Frame:
    """Nothing fits; the link is down."""
    state = Board(search=text or "jansn", loaded=True, filter=Filter("rejected", claim="claimed", shorts="short"))
    return _frame(OrdersJob().view(state), None, OFFLINE)


def board_loading(text: str) -> Frame:
    """The first window is not here yet."""
    return _frame(OrdersJob().view(Board()), None, Link("syncing", -1.0, done=400, total=20000), typed=text)


def board_filter(text: str) -> Frame:
    """The parts of the filter."""
    state = Board(page="filter", filter=Filter("to_pick", due="late", sort="age", reference=text or "WEB-7712"))
    return _frame(OrdersJob().view(state))


def board_field(text: str) -> Frame:
    """The words of one part."""
    return _frame(OrdersJob().view(Board(page="field", field="state", filter=Filter(reference=text))))


def board_views(text: str) -> Frame:
    """Everybody's views and one's own."""
    views = (View(text or "Bakery today", Filter("to_pick")), View(text or "Web, late", Filter(due="late")))
    return _frame(OrdersJob().view(Board(page="views", views=views)))


def board_name(text: str) -> Frame:
    """A view gets its name."""
    state = Board(page="name", filter=Filter("to_pick", due="today", claim="free"))
    return _frame(OrdersJob().view(state), typed=text or "Bakery")


CRISPS = "Crisps, natural, 250 g"


def _lines(text: str, label: str) -> tuple[Line, ...]:
    by, three = text or "Ben Okafor", Decimal(3)
    crisps, why = text or CRISPS, text or "Not enough"
    milk, homes = text or "Whole milk 1 l", ("C-01-03", "C-01-09")
    return (
        Line(1, "4001", label, three, three, three, True, by, ("A-03-12",), (("PU-01", three),)),
        Line(2, "4107", crisps, Decimal(4), Decimal(1), Decimal(0), True, by, ("B-02-04",), (), why),
        Line(3, "5230", milk, Decimal(12), Decimal(0), Decimal(0), False, "", homes),
    )


def _past(text: str, label: str) -> tuple[Happened, ...]:
    by = text or "Ben Okafor"
    return (
        Happened("2026-11-20T10:02:11Z", by, "short", CRISPS, why=text or "Not enough", word="noted"),
        Happened("2026-11-20T10:01:40Z", by, "pick", CRISPS, Decimal(1)),
        Happened("2026-11-20T09:58:02Z", by, "pick", label, Decimal(3)),
        Happened("2026-11-20T09:57:30Z", by, "claimed"),
    )


def _page(text: str, **fields: object) -> Page:
    label = text or "Cola Zero 33 cl can, tray of 24"
    customer = (
        ("customer_name", text or "Bakery The Little Corner"),
        ("reference", text or "WEB-7712"),
        ("comment", text or "Ring twice, please. The side door is open until noon."),
        ("customer_address", text or "12 Mill Lane, AB1 2CD Hillmoor"),
        ("customer_phone", text or "+44 20 7946 0123"),
    )
    page = Page("100037", _order(1, text), customer, _lines(text, label), past=_past(text, label), word="noted")
    return page._replace(**fields)  # type: ignore[arg-type]


def order(text: str) -> Frame:
    """All about an order that somebody has begun."""
    return _frame(OrderPageJob().view(_page(text)))


def order_lines(text: str) -> Frame:
    """A line is chosen."""
    return _frame(OrderPageJob().view(_page(text, choosing=True)))


def order_rejected(text: str) -> Frame:
    """It was rejected, and that can be undone."""
    undo = ({"order": "100051", "kind": TAKE_BACK},)
    page = _page(text, order=_order(4, text), word="refused", why=text or "Order 100051 is finished", undo=undo)
    return _frame(OrderPageJob().view(page), Verdict(GOOD, msg("act.told_reject", order="100051")), OFFLINE)


def order_unknown(text: str) -> Frame:
    """This host does not know it; the link is down."""
    return _frame(OrderPageJob().view(Page(text or "99871")), None, OFFLINE)


def order_absent(text: str) -> Frame:
    """The service does not know it."""
    return _frame(OrderPageJob().view(Page(text or "99871", absent=True)))


def _acting(text: str, **fields: object) -> Acting:
    reasons = (
        Reason("20", text or "Place is empty", True),
        Reason("22", text or "Damaged"),
        Reason("31", "Customer cancelled"),
    )
    state = Acting(orders=("100037",), reasons=reasons, picked=Decimal(4), of=Decimal(19))
    return state._replace(**fields)  # type: ignore[arg-type]


def act_what(text: str) -> Frame:
    """What is to be done to some orders."""
    return _frame(ActJob().view(_acting(text, orders=("100037", "100044", "100051"))))


def act_why(text: str) -> Frame:
    """Why it is rejected."""
    return _frame(ActJob().view(_acting(text, page="why", kind=REJECT)))


def act_who(text: str) -> Frame:
    """For whom it is claimed; nobody has that name."""
    people = (Person("U2", text or "Ben Okafor"), Person("U3", text or "Carla Fernandes"))
    state = _acting(text, page="who", kind=CLAIM, people=people)
    return _frame(ActJob().view(state), Verdict(ASK, msg("act.unknown_name", name=text or "Benn")))


def act_who_many(text: str) -> Frame:
    """There are more people than any screen has room for."""
    people = tuple(Person(f"U{at}", f"{text or name} {at}") for at, name in enumerate(("Ben Okafor", "Carla") * 30))
    state = _acting(text, page="who", kind=CLAIM, people=people, known=75, top=6)
    return _frame(ActJob().view(state), None)


def act_sure(text: str) -> Frame:
    """It is handed over though something is missing."""
    return _frame(ActJob().view(_acting(text, page="sure", kind=FINISH)))


def act_sure_why(text: str) -> Frame:
    """It is rejected, and why; a printed command was no yes."""
    plan = (("100037", Deed(REJECT, words=text or "The customer has called it off")),)
    state = _acting(text, page="sure", kind=REJECT, plan=plan)
    return _frame(ActJob().view(state), Verdict(WRONG, msg("input.by_hand")))


def order_walked(text: str) -> Frame:
    """It goes first, and is in somebody's round."""
    who = text or "Ben Okafor"
    walked = _order(1, text)._replace(urgent=True, urgent_by=text or "Carla Fernandes", walker=who)
    told = Verdict(GOOD, msg("act.told_urgent", order="100030"))
    return _frame(OrderPageJob().view(_page(text, order=walked)), told)


def order_left(text: str) -> Frame:
    """Who has begun it left it."""
    left = _order(1, text)._replace(claimed=True, left=msg("moment", at="2026-11-19T16:20:00Z"))
    return _frame(OrderPageJob().view(_page(text, order=left)), None)


def act_split(text: str) -> Frame:
    """Some of a walk are to be given to somebody else."""
    orders = ("100037", "100044")
    plan = tuple((order, Deed(SPLIT, "U2", text or "Ben Okafor")) for order in orders)
    return _frame(ActJob().view(Acting(orders, page="sure", kind=SPLIT, plan=plan)))


def act_sure_many(text: str) -> Frame:
    """Many are claimed for somebody."""
    orders = ("100037", "100044", "100051")
    plan = tuple((order, Deed(CLAIM, "U2", text or "Ben Okafor")) for order in orders)
    return _frame(ActJob().view(_acting(text, page="sure", kind=CLAIM, orders=orders, plan=plan)))


def act_wait(text: str) -> Frame:
    """How they stand is being read."""
    return _frame(ActJob().view(_acting(text, page="wait", kind=REJECT)))


def act_results(text: str) -> Frame:
    """What came of it for each of them."""
    outcomes = (
        Outcome("100037", "confirmed"),
        Outcome("100044", "", msg("deed.is_finished", order="100044")),
        Outcome("100051", "refused", raw(text or "Order 100051 has changed")),
        Outcome("100058", "noted"),
    )
    state = _acting(text, page="results", kind=REJECT, outcomes=outcomes, undo=(("100037", Deed(TAKE_BACK)),))
    return _frame(ActJob().view(state), Verdict(INFO, msg("act.done", done=3, total=4)), OFFLINE)


_COUNTS = (("doubts", 2), ("differences", 14), ("impossible", 3), ("stuck", 4), ("late", 11), ("recounts", 1))


def exceptions(text: str) -> Frame:
    """How many there are of each kind."""
    state = Exceptions(counts=_COUNTS, value=Decimal("412.35"), loaded=True)
    return _frame(ExceptionsJob().view(state), typed=text)


def exceptions_loading(text: str) -> Frame:
    """Nothing read yet."""
    return _frame(ExceptionsJob().view(Exceptions()), None, Link("none"), typed=text)


def _differences(text: str) -> tuple[Row, ...]:
    goods = ("Cola Zero 33 cl can, tray of 24", "Whole milk 1 l", "Wholemeal bread", "Crème fraîche 200 g")
    rows = []
    for index in range(14):
        difference = Decimal((-1) ** index * (14 - index))
        value = None if index == 9 else difference * Decimal("2.35")
        row = Row(f"{900 + index}", text or goods[index % 4], f"40{index:02}", text or f"A-03-{index:02}", value=value)
        row = row._replace(who=text or "Ben Okafor", at=f"2026-11-20T09:{index:02}:00Z", quantity=difference)
        rows.append(row._replace(of=Decimal(12)))
    return tuple(rows)


def differences(text: str) -> Frame:
    """Those of the highest value first, some marked."""
    state = Exceptions("differences", _COUNTS, rows=_differences(text), total=14, marked=("900", "902"), loaded=True)
    return _frame(ExceptionsJob().view(state), Verdict(INFO, msg("exceptions.all_marked", count=2, total=14)))


def difference(text: str) -> Frame:
    """One of them."""
    state = Exceptions("differences", _COUNTS, rows=_differences(text), total=14, asking="901", loaded=True)
    return _frame(ExceptionsJob().view(state))


def many(text: str) -> Frame:
    """Whether all that are marked shall be approved."""
    state = Exceptions("differences", _COUNTS, rows=_differences(text), total=14, marked=("900", "902"))
    return _frame(ExceptionsJob().view(state._replace(asking="approve")))


def impossible(text: str) -> Frame:
    """Below none, and more picked than there is."""
    rows = (
        Row("a", text or "Whole milk 1 l", "5230", text or "C-01-03", kind="below", quantity=Decimal(-4)),
        Row("b", text or "Wholemeal bread", "7714", kind="below", quantity=Decimal(-1)),
        Row(
            "c",
            text or "Crisps, natural, 250 g",
            "4107",
            order=text or "100037",
            kind="missing",
            quantity=Decimal(2),
            of=Decimal(1),
        ),
    )
    state = Exceptions("impossible", _COUNTS, rows=rows, total=3, loaded=True)
    return _frame(ExceptionsJob().view(state), Verdict(WRONG, msg("deed.is_finished", order="100037")))


def stuck(text: str) -> Frame:
    """Orders of which nothing is heard."""
    orders = [_order(index, text) for index in (1, 5, 9, 13)]
    rows = tuple(Row(each.number, each.who, order=each.number, listed=each) for each in orders)
    return _frame(ExceptionsJob().view(Exceptions("stuck", _COUNTS, rows=rows, total=4, loaded=True)))


def recounts(text: str) -> Frame:
    """What is to be counted again; the link is down."""
    row = Row("4001/A-03-12", text or "Cola Zero 33 cl can, tray of 24", "4001", text or "A-03-12", who=text or "Anna")
    state = Exceptions("recounts", _COUNTS, rows=(row._replace(at="2026-11-20T09:41:00Z"),), total=1, loaded=True)
    return _frame(ExceptionsJob().view(state), None, OFFLINE)


BOARD = (
    ("orders", "all", board),
    ("orders", "marking", board_marking),
    ("orders", "empty", board_empty),
    ("orders", "loading", board_loading),
    ("orders.filter", "set", board_filter),
    ("orders.field", "state", board_field),
    ("orders.views", "own", board_views),
    ("orders.name", "typed", board_name),
    ("order", "all", order),
    ("order", "rejected", order_rejected),
    ("order", "unknown", order_unknown),
    ("order", "absent", order_absent),
    ("order", "walked", order_walked),
    ("order", "left", order_left),
    ("order.lines", "choose", order_lines),
    ("act.what", "many", act_what),
    ("act.why", "reject", act_why),
    ("act.who", "claim", act_who),
    ("act.who", "many", act_who_many),
    ("act.sure", "finish", act_sure),
    ("act.sure", "claim", act_sure_many),
    ("act.sure", "reject", act_sure_why),
    ("act.sure", "split", act_split),
    ("act.wait", "reject", act_wait),
    ("act.results", "mixed", act_results),
    ("exceptions", "all", exceptions),
    ("exceptions", "loading", exceptions_loading),
    ("exceptions.differences", "marked", differences),
    ("exceptions.one", "difference", difference),
    ("exceptions.many", "approve", many),
    ("exceptions.impossible", "all", impossible),
    ("exceptions.stuck", "all", stuck),
    ("exceptions.recounts", "one", recounts),
)
"""Screen, state and what builds it."""
