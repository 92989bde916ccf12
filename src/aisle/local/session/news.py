"""What a session makes of what happens elsewhere: of what it is rung for, at once; of everything, every few seconds.

A part of aisle.local.session.session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aisle.errors import StorageError
from aisle.jobs.base import Changed, SignOut
from aisle.jobs.view import INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.local.session import by_itself
from aisle.local.session.ear import Ear
from aisle.local.session.house import hidden
from aisle.local.session.lookout import TROUBLE
from aisle.local.session.open_line import meant_for, not_taken
from aisle.local.session.rights import remind
from aisle.local.session.saving import try_again
from aisle.local.session.screen import frame
from aisle.scan.meaning import Echo

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk
    from aisle.local.session.watch import Retuned, Watch


def look(desk: Desk, rung: Iterable[str] | None) -> Frame | None:
    """The frame after a look: at what was rung for, where that is enough (None when nothing came of it), or at all."""
    topics = frozenset(rung or ())
    if rung is None or desk._lookout.is_due():
        return _at_all(desk)
    if not topics:
        return None
    try:
        news = desk._lookout.rung_for(topics, desk._stack.top.topics)
    except StorageError as error:
        return _unread(desk, error)
    if news is None:
        return _at_all(desk)
    before = desk._last
    _tell(desk, news)
    after = frame(desk)
    return None if before and not desk.bells and _is_alike(before, after) else after


def _is_alike(before: Frame, after: Frame) -> bool:
    """Whether nothing differs but the age of the data, which goes on at the next look."""
    return after._replace(link=after.link._replace(age=before.link.age)) == before


def _at_all(desk: Desk) -> Frame:
    if desk._rooms.journal.is_gone:
        from aisle.local.session.reopening import gone  # hardly ever, and no start pays for it

        return gone(desk)
    desk._lookout.beat()
    desk._lookout.keep_courier()
    desk._hand_on()
    try:
        news = desk._lookout.news()
    except StorageError as error:
        return _unread(desk, error)
    _tell(desk, news)
    try_again(desk)
    if desk._watch:
        _look_at_settings(desk, desk._watch)
    _tell_door(desk, desk._lookout.turned())
    _tell_restore(desk)
    _look_at_person(desk)
    remind(desk)
    after = frame(desk)
    if after.link.waiting:
        desk._lookout.waits()
    return after


def _tell(desk: Desk, news: Sequence[Changed]) -> None:
    """Tells the job on the screen, and keeps what follows from it."""
    before, page = (desk._verdict, desk.bells), meant_for(desk._stack.levels)
    secret = hidden(desk._stack.levels, desk._line.text)
    if news:
        desk._absorb(desk._stack.tell(news, desk._context()), "")
    if desk._commit():
        desk._lookout.heard()
        if meant_for(desk._stack.levels) != page:
            _drop_typed(desk, secret=secret)
    else:  # nobody did anything: told again the next time
        desk._verdict, desk.bells = before


def _look_at_person(desk: Desk) -> None:
    """Whoever works here no more is signed out; what was done stays under that name. So is, where only known people
    work, whoever the store does not know. As long as there is no list of people nobody is known to be gone."""
    user = desk._who.user
    if not user:
        return
    rows, known = desk._rooms.reads.query("person", {"user": user})
    if rows:
        desk._seen_person = user
        return
    if not known or not (desk._seen_person == user or desk._terms.policy.known_people_only):
        return
    name = desk._who.name or user
    desk._obey(SignOut())
    if not desk._who.user:
        desk._tell(Verdict(WRONG, msg("session.works_here_no_more", name=name)))


def _look_at_settings(desk: Desk, watch: Watch) -> None:
    """What is wrong or asked stays on the screen until somebody has done something; word of the settings comes then."""
    retuned = watch.look()
    if retuned:
        watch.untold = retuned.verdict
        _retune(desk, retuned)
    if watch.untold and not by_itself.is_busy(desk):
        by_itself.say(desk, watch.untold)
        watch.untold = None


def _retune(desk: Desk, retuned: Retuned) -> None:
    """The settings have changed. Open jobs go on as they were begun; what is scanned from now on is read anew."""
    if retuned.terms:
        desk._own = {}
        desk._terms = desk._terms.tuned(retuned.terms)
        desk._ear = Ear(desk._rooms.reads, desk._terms.restricted)
        desk._rooms.reads.pools = desk._terms.pools
        desk._known = None
        desk._speak_to(desk._who.user)


def _tell_door(desk: Desk, turned: str) -> None:
    """Work goes on without the service and the courier; but nobody else would ask for what they need."""
    over = turned in ("open", "going")
    desk._turned = "" if over and desk._turned in TROUBLE else turned or desk._turned
    if desk._turned and not by_itself.is_busy(desk):
        said = {
            "refused": Verdict(WRONG, _shut_out(desk)),
            "open": Verdict(INFO, msg("session.let_in")),
            "stuck": Verdict(WRONG, msg("session.stuck")),
            "renewed": Verdict(WRONG, msg("session.renewed")),
            "going": Verdict(INFO, msg("session.going")),
        }
        by_itself.say(desk, said[desk._turned])
        desk._turned = ""


def _tell_restore(desk: Desk) -> None:
    """The service was put back from an earlier copy: what it lost is sent again, and figures may change meanwhile."""
    count = desk._lookout.restored()
    if count is not None and not by_itself.is_busy(desk):
        said = msg("session.restored", count=count) if count else msg("session.restored_whole")
        by_itself.say(desk, Verdict(INFO, said))
        desk._lookout.told_restore()


def _shut_out(desk: Desk) -> Msg:
    """Why nothing is sent: the service was asked and refused, or the courier has nothing to ask with."""
    another = desk._lookout.token_in_use()
    if why := desk._lookout.no_token():
        path = another or desk._lookout.token_file
        return msg("session.no_token", why=why, short=why.replace(path, os.path.basename(path)) if path else why)
    if nearest := desk._lookout.nearest_store():
        return msg("session.no_store", store=desk._terms.store, nearest=nearest)
    file = another or os.path.basename(desk._terms.token_file) or "token_file"
    return msg("session.shut_out", store=desk._terms.store, file=file)


def _drop_typed(desk: Desk, *, secret: bool) -> None:
    """This page came by itself: what was typed before it is not its answer."""
    if text := desk._line.drop(secret=secret):
        desk._absorb(desk._stack.feed(Echo(""), desk._context()), "")
        desk._verdict = not_taken(text, desk._verdict)


def _unread(desk: Desk, error: StorageError) -> Frame:
    """What was noted cannot even be read: says so, as long as it is so."""
    desk._tell(Verdict(WRONG, msg("session.no_file", why=desk._why(error))))
    return frame(desk)
