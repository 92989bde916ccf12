"""The whole screen: title, body, verdict, prompt and what is typed, and the state of the link, at any size.

At every size the prompt, the verdict and the state of the link are there; on the smallest screens nothing else is.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.lists import LISTS
from aisle.jobs.view import ASK, GOOD, INFO, Chart, Detail, Frame, Link, ListWindow, Msg, Step, Verdict, View, msg
from aisle.late import Late
from aisle.text import fit, fit_end, width, wrap
from aisle.tui.catalogue import LONGEST, Voice
from aisle.tui.screens import step
from aisle.tui.screens.painted import Line, Painted, clipped, line_width, padded, sides
from aisle.tui.screens.parts import Cover, bar, lines_over
from aisle.tui.screens.step import Box
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.tui.screens import chart, detail, list_window, missing_lists, unread
else:
    chart = Late("aisle.tui.screens.chart")
    detail = Late("aisle.tui.screens.detail")
    missing_lists = Late("aisle.tui.screens.missing_lists")
    list_window = Late("aisle.tui.screens.list_window")
    unread = Late("aisle.tui.screens.unread")

MARGIN_COLUMNS = 60
"""From this width on, text keeps one cell off the edges."""

LINK_STATES = ("live", "partial", "syncing", "offline", "none", "stuck", "renewed", "refused", "unkept")


class Chrome(NamedTuple):
    """What stands around the body."""

    verdict: list[Line]
    prompt: list[Line]
    link: Line


def paint(frame: Frame, columns: int, rows: int, plain: bool = False) -> Painted:
    """The frame as lines for a screen of any size from 1x1 on; `plain` for a terminal without UTF-8."""
    columns, rows = max(1, columns), max(1, rows)
    frame = unread.told(frame) if frame.link.unread else frame
    frame = missing_lists.told(frame) if frame.link.lacking or frame.link.left_out else frame
    voice = Voice(plain, frame.language)
    margin = 1 if columns >= MARGIN_COLUMNS else 0
    box = Box(columns - 2 * margin, rows, voice)
    chrome = _chrome(frame, box, columns)
    lines = _tiny(frame, chrome, rows) if rows < 4 else _whole(frame, chrome, box)
    bands = {id(line) for line in chrome.verdict}
    shifted = [line if id(line) in bands or not (margin and line) else [(" ", ""), *line] for line in lines]
    return Painted(columns, rows, [clipped(line, columns) for line in shifted])


def in_sight(frame: Frame, columns: int, rows: int, size: int, plain: bool = False) -> int:
    """How many rows of a list are in sight on such a screen, of a window that has `size` of them; `size` where this is
    no list, or nothing of one is seen."""
    view = frame.view
    if rows < 4 or not isinstance(view, ListWindow) or not view.rows:
        return size
    view = view._replace(rows=(*view.rows, *view.rows[-1:] * (size - len(view.rows))))
    cells = columns - 2 * (columns >= MARGIN_COLUMNS)
    box = Box(cells, rows, Voice(plain, frame.language))
    chrome = _chrome(frame._replace(view=view), box, columns)
    return list_window.body(view, box._replace(rows=_room(chrome, box))).shown or size


def is_whole(frame: Frame, columns: int, rows: int, plain: bool = False) -> bool:
    """Whether such a screen shows all of a page at once, so that nothing leads through it; a list says so itself."""
    if rows < 4 or not isinstance(frame.view, Detail | Chart):
        return False
    box = Box(columns - 2 * (columns >= MARGIN_COLUMNS), rows, Voice(plain, frame.language))
    chrome = _chrome(frame, box, columns)
    return _body(frame.view, box._replace(rows=_room(chrome, box)), _cover(chrome, box))[1] is None


def _chrome(frame: Frame, box: Box, columns: int) -> Chrome:
    """What stands around the body, of a screen of so many columns with its margins."""
    chrome = Chrome([[]], _prompt(frame, box.cells, box.rows, box.voice), _link(frame.link, box.cells, box.voice))
    if frame.verdict:
        most, margin = _verdict_rows(frame, chrome, box, columns), (columns - box.cells) // 2
        alone, said = chrome, frame.verdict

        def more_rows() -> int:
            kind = ASK if _is_long(said) else INFO
            return _verdict_rows(frame._replace(verdict=said._replace(kind=kind)), alone, box, columns)

        chrome = chrome._replace(verdict=_verdict(frame, said, columns, box.voice, margin, most, more_rows))
    return chrome


def _tiny(frame: Frame, chrome: Chrome, rows: int) -> list[Line]:
    """One to three lines: the verdict or else the prompt, then both, then the link."""
    verdict, prompt = chrome.verdict[0], chrome.prompt[-1]
    if rows == 1:
        return [verdict if frame.verdict and not frame.typed else prompt]
    return [verdict, prompt] if rows == 2 else [verdict, prompt, chrome.link]


def _whole(frame: Frame, chrome: Chrome, box: Box) -> list[Line]:
    head, air = _head(box), _air(box)
    bottom = [*([[]] * air), *chrome.verdict, *chrome.prompt, *([[]] * (air if box.rows >= 22 else 0)), chrome.link]
    room = _room(chrome, box)
    body, right = _body(frame.view, box._replace(rows=room), _cover(chrome, box))
    top = [_header(frame, right, box)] if head else []
    if head == 2:
        top.append(_rule(frame.view, box))
    filler: list[Line] = [[] for _ in range(room - len(body))]
    return [*top, *([[]] * air), *body[:room], *filler, *bottom]


def _head(box: Box) -> int:
    """Lines above the body: the title, and the line under it."""
    return (1 if box.rows >= 6 else 0) + (1 if box.rows >= 12 else 0)


def _air(box: Box) -> int:
    """Blank lines over the body and under it."""
    return 1 if box.rows >= 20 else 0


def _room(chrome: Chrome, box: Box) -> int:
    """Rows for the body."""
    air = _air(box) * (3 if box.rows >= 22 else 2)
    return max(0, box.rows - _head(box) - air - len(chrome.verdict) - len(chrome.prompt) - 1)


def _cover(chrome: Chrome, box: Box) -> Cover:
    """How many lines the verdict takes from a page to read, and how many it could."""
    return Cover(len(chrome.verdict) - 1, _most(box.cells, box.rows) - 1)


def _body(view: View, box: Box, cover: Cover) -> tuple[list[Line], Msg | None]:
    """What the view shows, and what the title says at its right."""
    if isinstance(view, Step):
        return step.body(view, box), _progress(view)
    if isinstance(view, Detail):
        return detail.body(view, box._replace(rows=box.rows + cover.now), cover)
    if isinstance(view, Chart):
        return chart.body(view, box)
    listed = list_window.body(view, box)
    return listed.lines, list_window.range_text(view, listed)


NAMED = 40
"""Below this width there is but a blank between what the title says and who is signed in."""

INITIALS = 3

HOME = "home"
"""The page that says who is signed in at any width."""


def _header(frame: Frame, right: Msg | None, box: Box) -> Line:
    """Title on the left; progress, store and user on the right, as far as there is room beside the title: half a line,
    or all of it on a wide screen."""
    voice = box.voice
    said = voice.say(right, LONGEST if box.cells >= 40 else 0) if right else ""
    who = _who(frame, voice)
    least = width(voice.say(frame.view.title, 0))
    enough = max(least, box.cells // 2)
    if box.cells >= MARGIN_COLUMNS:
        enough = max(least, min(enough, width(voice.say(frame.view.title, LONGEST))))
    wide = " " if box.cells < NAMED else voice.raw("  ·  ")
    names = (who, *_names(frame, voice)) if frame.view.name == HOME else (who,)
    texts = [wide.join((said, name)) for name in names if name] if said else names
    for text in (*texts, *((said,) if said else ()), ""):
        room = box.cells - (width(text) + 2 if text else 0)
        if text and text == said:  # how far it is says more than the whole of a long name
            least = width(voice.say(frame.view.title, 0, box.cells))
        if not text or room >= (least if text == said or text in texts[1:] else enough):
            title: Line = [(voice.short(frame.view.title, room), "title")]
            return sides(title, [(text, "who")] if text else [], box.cells)
    return [(voice.short(frame.view.title, box.cells), "title")]


def _names(frame: Frame, voice: Voice) -> tuple[str, str]:
    """Who is signed in, where there is little room: the first name, or the initials."""
    words = voice.raw(frame.user).split() or [""]
    return words[0], "".join(word[0] for word in words if word)[:INITIALS]


def _who(frame: Frame, voice: Voice) -> str:
    if frame.user:
        return voice.say(msg("frame.who", store=frame.store, user=frame.user))
    return voice.say(msg("frame.store", store=frame.store)) if frame.store else ""


def _rule(view: View, box: Box) -> Line:
    """The line under the title shows how much is done."""
    if isinstance(view, Step) and view.total > 0:
        return bar(view.done / view.total, box.cells, box.voice)
    return [(("-" if box.voice.plain else "─") * box.cells, "rule")]


def _progress(view: Step) -> Msg | None:
    """How far it is; else which of the choices are in sight, where not all are."""
    if view.total <= Decimal(0):
        last = view.first + len(view.choices)
        return (
            msg("list.range", first=view.first + 1, last=last, total=view.of) if view.of > len(view.choices) else None
        )
    return msg("frame.progress", done=view.done, total=view.total)


def _verdict(
    frame: Frame, verdict: Verdict, columns: int, voice: Voice, margin: int, most: int, more_rows: Callable[[], int]
) -> list[Line]:
    """A band with a word; what is not accepted may take several lines, so that it can say why, and what is good as many
    as other news where one would cut the shortest that says it."""
    kind = verdict.kind
    role = f"verdict-{kind}"
    tag = f" {voice.say(msg(_WORDS[kind]))} " + " " * margin
    serial = f" #{frame.serial % 1000} " if frame.serial and columns >= 18 else ""
    room = columns - width(tag) - width(serial) - (1 if not serial else 0)
    if room < 4:
        return [[(fit(tag.strip(), columns, mark=voice.mark, pad=True), role)]]
    indent = 1 if columns < 40 else width(tag)
    wide = columns - indent - 1
    said = msg("frame.and_more", what=verdict.text, more=verdict.more) if verdict.more else verdict.text
    text = voice.fitting(said, lambda said: lines_over(said, wide, most, room))
    if verdict.kind == GOOD and (_is_long(verdict) or width(text) > room) and (most := more_rows()) > 1:
        text = voice.fitting(said, lambda said: lines_over(said, wide, most, room))
    first, *more = wrap(text, wide, most, first=room, mark=voice.mark) or [""]
    lines: list[Line] = [[(tag + fit(first, room, pad=True) + serial, role)]]
    lines += [[(" " * indent + line, role)] for line in more]
    return [padded(line, columns, role) for line in lines]


def _is_long(verdict: Verdict) -> bool:
    """Whether what is good is said on several lines."""
    return verdict.whole or verdict.more is not None


_WORDS = {"good": "verdict.good", "wrong": "verdict.wrong", "info": "verdict.info", "ask": "verdict.ask"}


def _verdict_rows(frame: Frame, chrome: Chrome, box: Box, columns: int) -> int:
    """How many lines the verdict may have: what is not accepted, or asked, before all but what can be chosen; what is
    good has one, as every scan says it."""
    verdict, view = frame.verdict, frame.view
    most = _most(columns, box.rows)
    if verdict is None or verdict.kind == GOOD or most == 1:
        return 1
    if verdict.kind == INFO:
        most = 2
    if isinstance(view, Detail | Chart):
        return most
    least = step.least(view, box) if isinstance(view, Step) else list_window.least(view, box)
    fewest = 1 if isinstance(view, Step) else 2
    return max(min(most, fewest), min(most, _room(chrome, box) + 1 - least))


def _most(columns: int, rows: int) -> int:
    """Lines of a verdict at most."""
    if rows < 12:
        return 1
    return 4 if columns < 30 else 3 if columns < 60 else 2


def _prompt(frame: Frame, cells: int, rows: int, voice: Voice) -> list[Line]:
    """What to do, and what is being typed: on two lines where rows allow."""
    caret: Line = [(" ", "caret")]
    sign = voice.raw("› ")
    typed = voice.raw(frame.typed)
    if rows >= 14:
        prompt: Line = [(voice.short(frame.view.prompt, cells), "prompt")]
        shown = fit_end(typed, cells - 3, mark=voice.mark)
        return [prompt, [(sign, "label"), (shown, "typed"), *caret]]
    room = min(width(typed) + 4, max(6, cells // 2)) if typed else 0
    text = voice.short(frame.view.prompt, cells - room)
    if not typed:
        return [[(text, "prompt")]]
    gap = " " if width(text) + 4 <= cells else ""
    shown = fit_end(typed, cells - width(text) - 4, mark=voice.mark)
    return [[(text + gap, "prompt"), (sign, "label"), (shown, "typed"), *caret]]


class Lengths(NamedTuple):
    """In which of their lengths the parts of the last line are said."""

    state: int
    age: int
    rest: int
    zero: int = 2
    """That nothing waits is said, too, no longer than that; below 0: not even by a letter."""


LINK_LENGTHS = (
    (Lengths(2, 2, 2), " · "),
    (Lengths(1, 1, 1), " · "),
    (Lengths(1, 1, 1), " "),
    (Lengths(1, 0, 1), " "),
    (Lengths(0, 0, 1), " "),
    (Lengths(1, 0, 1, zero=0), " "),
    (Lengths(0, 0, 1, zero=0), " "),
    (Lengths(0, 0, 0, zero=0), " "),
    (Lengths(0, 0, 0, zero=-1), " "),
)
"""From all words down to none. The unit of an age is the first that is shortened; that nothing waits is a number beside
a letter before what waits, or has to be settled, is. It goes unsaid where there is no room for the shortest of all."""


def _link(link: Link, cells: int, voice: Voice) -> Line:
    """State, age and what waits, in the longest words that fit."""
    state = link.state if link.state in LINK_STATES else "none"
    for lengths, separator in LINK_LENGTHS:
        line = _link_parts(link, state, lengths, voice.raw(separator), voice)
        if line_width(line) <= cells:
            return line
    word = voice.say(_said(link, state), 0)
    tight = " ".join(text.strip() for text, role in line if role != "link-dim")
    return [
        (
            fit(tight if width(tight) <= cells else word, cells, mark=voice.mark),
            f"link-{_ROLES.get(state, state)}",
        )
    ]


_STATES = {
    "live": "link.live",
    "partial": "link.partial",
    "offline": "link.offline",
    "syncing": "link.syncing",
    "none": "link.none",
    "stuck": "link.stuck",
    "renewed": "link.renewed",
    "refused": "link.refused",
    "unkept": "link.unkept",
}
_ROLES = {"partial": "syncing", "unkept": "refused", "stuck": "refused", "renewed": "refused"}
"""States that look as others do."""


def _said(link: Link, state: str) -> Msg:
    """The state; of a part, which list does not come; of a courier that stands still, for how long."""
    if state == "stuck":
        return msg("link.stuck", seconds=str(link.silent))
    if state != "partial":
        return msg(_STATES[state])
    lists = [msg(LISTS[name]) for name in link.without if name in LISTS]
    return msg("link.without", what=lists[0]) if lists else msg("link.partial")


def _waiting(link: Link) -> Msg:
    """What waits here; where nothing does, what waits in other stores of this host."""
    if link.waiting:
        return msg("link.waiting", count=link.waiting)
    return msg("link.elsewhere", count=link.elsewhere) if link.elsewhere else msg("link.sent")


def _link_parts(link: Link, state: str, lengths: Lengths, separator: str, voice: Voice) -> Line:
    said, unkept = voice.say(_said(link, state), lengths.state), state == "unkept"
    state = _ROLES.get(state, state)
    line: Line = [(said, f"link-{state}")]
    parts: list[tuple[Msg, str]] = []
    if link.state == "syncing" and (link.total or link.done):
        known = link.total > 0
        part = msg("link.part", percent=link.done * 100 // link.total) if known else msg("link.rows", count=link.done)
        parts.append((part, "link-syncing"))
        if known and lengths.rest > 1:
            line += [(" ", ""), *bar(Decimal(link.done) / link.total, 12, voice)]
    age = msg("link.age", seconds=str(link.age)) if link.age >= 0 else msg("link.age_never")
    parts.append((age, "link-dim"))
    if link.doubtful:
        parts.append((msg("link.doubtful", count=link.doubtful), "link-doubtful"))
    sent = _waiting(link)
    if link.waiting or (not unkept and (lengths.zero >= 0 or link.elsewhere)):
        parts.append((sent, "link-dim" if not link.waiting else f"link-{state}"))
    for part, role in parts:
        level = lengths.age if part is age else lengths.rest
        if part is sent and not link.waiting:
            level = max(0, min(level, lengths.zero))
        line += [(separator, "link-dim"), (voice.say(part, level), role)]
    return line
