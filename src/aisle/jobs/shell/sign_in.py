"""Sign-in page, and the warning about open work before sign-out."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from unicodedata import category

from aisle.barcode_numbers import has_valid_check_digit, normalise_code
from aisle.jobs.job import Changed, Context, Event, Job, Json, Opened, Query, Quit, Rows, SignIn, Turn, reply
from aisle.jobs.shell.pin import is_pin_shaped
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, KeyHint, Line, Step, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.codes_of_store_and_suppliers import is_foreign_qr_code
from aisle.scan.grammar_and_meaning_types import PERSON, Accepts, Back, Choice, Command, Match, Scan, Text, UnknownCode


def query_open_work(context: Context) -> Query:
    """Return the query for the user's open work."""
    return Query("open", "open_work", {"user": context.user, "now": context.now}, is_live=True)


def open_work_verdict(answer: Rows) -> Verdict | None:
    """Return the warning about goods not put down and operations not sent; None if there are none."""
    unsent, count = answer.total, sum(to_decimal(row["count"]) for row in answer.rows)
    orders = ", ".join(str(row["order_number"]) for row in answer.rows)
    if not answer.rows:
        return Verdict(ASK, msg("home.unsent", count=unsent)) if unsent else None
    if unsent:
        return Verdict(ASK, msg("home.in_hand_unsent", count=count, orders=orders, unsent=unsent))
    return Verdict(ASK, msg("home.in_hand", count=count, orders=orders))


MAX_PEOPLE = 8
"""Maximum number of people offered as numbered choices."""

MAX_NAME_LENGTH = 60
"""Maximum number of characters of a name under which somebody unknown signs in."""

_OTHER_MATCH_QUERY = "other_match"
"""Id of the query for people whose name is the code of another record."""

DEMO_FEATURE = "demo-store"
"""Feature that a service with the demo store announces."""

_FEATURES_QUERY = Query("features", "features", {}, is_live=True)

_EARLIER_PREFIX = "earlier/"
"""Prefix of the ids of queries for earlier names; the name follows."""


class Person(NamedTuple):
    """App user of the store."""

    user: str
    name: str


class SignInState(NamedTuple):
    """Typed name, and the people it may belong to."""

    typed_name: str = ""
    people: tuple[Person, ...] = ()
    is_unknown: bool = False
    """True if the name is unknown: signing in with it is the only choice."""
    earlier_names: tuple[str, ...] = ()
    """Earlier names that were unknown; they may belong to people who are not cached yet."""
    match_count: int = 0
    """Number of matching people; `people` has only those offered."""
    is_code: bool = False
    """True if the typed name is a number at the pace of a scanner, or another code: nobody goes on under it."""
    other_match: Match | None = None
    """Record that has the typed code and is no person; people with that name are looked up."""
    is_demo: bool = False
    """True if the service has the demo store, whose people the page names."""


Result = Turn[SignInState]


class SignInJob(Job[SignInState]):
    """Job for the first page of a terminal where nobody is signed in."""

    name = "sign_in"
    lists = ("people",)
    state_type = SignInState
    steps: tuple[str, ...] = ("sign_in",)
    journalled = False
    preferred_kinds = (PERSON,)

    def accepts(self, state: SignInState) -> Accepts:
        choices = tuple((state.is_unknown, person.user) for person in state.people)
        return Accepts(text=True, choices=len(choices), command_letters="q", choice_values=choices)

    def is_secret_text(self, state: SignInState, text: str) -> bool:
        """Return True for what may be the PIN of a person whose name is not known yet."""
        return state.is_unknown and is_pin_shaped(text)

    def handle(self, state: SignInState, event: Event, context: Context) -> Result:
        if isinstance(event, Rows) and event.id == _FEATURES_QUERY.id:
            return Turn(state._replace(is_demo=any(DEMO_FEATURE in row["features"] for row in event.rows)))
        turn = self._handle(state, event, context)
        asked = (_FEATURES_QUERY,) if isinstance(event, Opened | Changed) and not state.is_demo else ()
        return turn._replace(state=turn.state._replace(is_demo=state.is_demo), effects=(*asked, *turn.effects))

    def _handle(self, state: SignInState, event: Event, context: Context) -> Result:
        match event:
            case Scan(matches) if matches[0].kind == PERSON:
                return _sign_in(Person(matches[0].key, matches[0].label or matches[0].key))
            case Scan(matches):
                match = matches[0]
                return Turn(
                    state._replace(other_match=match), (_query_people(_code(match))._replace(id=_OTHER_MATCH_QUERY),)
                )
            case Text(text) | UnknownCode(text):
                return self._search_name(state, text, is_code=isinstance(event, UnknownCode) or _is_no_name(text))
            case Rows("people", rows, total):
                people = tuple(_parse_person(row) for row in rows)
                # A badge scanned before the people of the store were cached is accepted once they are.
                found = _sign_in_by_badge(rows) or self._handle_people(state._replace(match_count=total), people)
                return _known_people_only(found) if context.policy.known_people_only else found
            case Rows(id_, rows, _) if id_ == _OTHER_MATCH_QUERY and state.other_match:
                found = self._handle_other_match(
                    state._replace(other_match=None), state.other_match, tuple(map(_parse_person, rows))
                )
                return _known_people_only(found) if context.policy.known_people_only else found
            case Rows(id_, rows, _) if id_.startswith(_EARLIER_PREFIX):
                return _handle_earlier_name(state, id_.removeprefix(_EARLIER_PREFIX), rows)
            case Changed("person") if state.is_unknown:  # the people of the store arrived only now
                earlier = (_query_people(said)._replace(id=_EARLIER_PREFIX + said) for said in state.earlier_names)
                return Turn(state, (*earlier, _query_people(state.typed_name)))  # answers arrive in reverse order
            case Choice(number) if number <= len(state.people):
                return _sign_in(state.people[number - 1])
            case Back():
                return Turn(SignInState())
            case Command("q"):
                return Turn(state, (Quit(),))
            case Opened():
                return Turn(SignInState())
        return Turn(state)

    def _search_name(self, state: SignInState, text: str, *, is_code: bool) -> Result:
        return Turn(_with_name(state, text)._replace(is_code=is_code), (_query_people(text),))

    def _handle_other_match(self, state: SignInState, match: Match, people: tuple[Person, ...]) -> Result:
        """Look up people with the code of another record as their name; otherwise reject it and keep the choices."""
        named = tuple(person for person in people if is_named(person, _code(match)))
        if named:
            return self._handle_people(_with_name(state, _code(match)), named)
        return reply(state, WRONG, "sign_in.not_this", what=name_of(match))

    def _handle_people(self, state: SignInState, people: tuple[Person, ...]) -> Result:
        typed_name = state.typed_name
        exact = [person for person in people if is_named(person, typed_name, whole_name_only=True)]
        if len(exact) == 1:
            return _sign_in(exact[0])
        is_sure = len(people) == 1 and is_named(people[0], typed_name)
        if people and state.is_unknown and not is_sure:  # they arrived late: what was typed since answers nothing
            return _ask_which(typed_name, people, state.match_count)
        if people and typed_name.strip().isdecimal():  # part of an id: stray digits sign nobody in
            return reply(SignInState(), WRONG, "sign_in.not_a_name", asked=typed_name)
        if len(people) == 1:
            return self._handle_single_person(people[0], typed_name)
        if people:
            return _ask_which(typed_name, people, state.match_count)
        if len(typed_name.strip()) < 2:
            return reply(SignInState(), WRONG, "sign_in.name_too_short", asked=typed_name)
        if state.is_code:  # if it is a badge, it is accepted once the people of the store are cached
            refused = state._replace(people=(), is_unknown=True)
            return reply(refused, WRONG, "sign_in.not_a_name", asked=typed_name)
        name = _name_to_go_on_under(state)
        unknown = state._replace(people=(Person(name, name),), is_unknown=True)
        return reply(unknown, ASK, "sign_in.unknown", asked=name)

    def _handle_single_person(self, person: Person, typed_name: str) -> Result:
        if is_named(person, typed_name):
            return _sign_in(person)
        return _ask_which(typed_name, (person,), 1)

    def view(self, state: SignInState) -> Step:
        names = (person.name for person in state.people)
        choices = tuple(msg("sign_in.as", name=name) if state.is_unknown else raw(name) for name in names)
        return Step(
            name=self.name,
            title=msg("sign_in.title"),
            prompt=msg("unconfirmed.choose") if state.people else msg("sign_in.prompt"),
            lines=_notes(state) if state.is_unknown or not state.people else (),
            choices=choices,
            key_hints=(KeyHint("q", msg("hint.quit")),),
            choice_total=state.match_count,
        )


def _ask_which(typed_name: str, people: tuple[Person, ...], total: int) -> Result:
    """Offer the people who may be meant."""
    text_id = "sign_in.confirm_name" if len(people) == 1 else "sign_in.which"
    return reply(SignInState(typed_name, people, match_count=total), ASK, text_id, asked=typed_name)


def _notes(state: SignInState) -> tuple[Line, ...]:
    demo = ("sign_in.demo", "sign_in.demo_supervisor") if state.is_demo else ()
    return tuple(Line("note", msg(id_)) for id_ in ("sign_in.note", *demo))


def _name_to_go_on_under(state: SignInState) -> str:
    """Return the typed name; the name before it if that was followed by a PIN."""
    is_pin = bool(state.earlier_names) and is_pin_shaped(state.typed_name)
    return (state.earlier_names[-1] if is_pin else state.typed_name).strip()


def _is_no_name(text: str) -> bool:
    """Return True for a valid GTIN, the content of a QR code, and a text that is too long or has control characters."""
    has_control = any(category(char) == "Cc" for char in text)
    is_too_long = len(text.strip()) > MAX_NAME_LENGTH
    return has_control or is_too_long or is_foreign_qr_code(text) or has_valid_check_digit(normalise_code(text))


def _with_name(state: SignInState, text: str) -> SignInState:
    earlier = tuple(dict.fromkeys((*state.earlier_names, state.typed_name)))[-MAX_PEOPLE:] if state.is_unknown else ()
    return SignInState(text, earlier_names=earlier)


def _code(match: Match) -> str:
    return match.code or match.key


def _sign_in_by_badge(rows: Iterable[Mapping[str, Json]]) -> Result | None:
    people = [_parse_person(row) for row in rows if row.get("is_badge")]
    return _sign_in(people[0]) if len(people) == 1 else None


def _known_people_only(turn: Result) -> Result:
    """Return the turn without sign-in under an unknown name, which the settings do not allow."""
    if not turn.state.is_unknown or not turn.verdict:
        return turn
    return reply(
        turn.state._replace(people=()), WRONG, "sign_in.only_known", *turn.effects, asked=turn.state.typed_name
    )


def _handle_earlier_name(state: SignInState, earlier_name: str, rows: Iterable[Mapping[str, Json]]) -> Result:
    """Sign in the only person of an earlier badge or name that is known now, or offer those who may be meant.

    What was typed after it is dropped.
    """
    rows = tuple(rows)
    people = tuple(map(_parse_person, rows))
    named = tuple(person for person in people if is_named(person, earlier_name))
    turn = _sign_in_by_badge(rows) or (_sign_in(named[0]) if len(named) == 1 else None)
    if state.is_unknown and turn is None and people and not earlier_name.strip().isdecimal():
        return _ask_which(earlier_name, named or people, len(named or people))
    if turn is None or not state.is_unknown:
        return Turn(state)
    name = str(dict(turn.verdict.text.args)["name"]) if turn.verdict else ""
    if is_pin_shaped(state.typed_name):
        return turn._replace(verdict=Verdict(GOOD, msg("sign_in.done_pin_later", name=name)))
    if any(is_named(person, state.typed_name) for person in named):
        return turn  # the same name again
    text = msg("sign_in.done_rest_not_applied", name=name, rest=state.typed_name)
    return turn._replace(verdict=Verdict(INFO, text))


def _parse_person(row: Mapping[str, Json]) -> Person:
    return Person(str(row["user"]), str(row["name"] or row["user"]))


def is_named(person: Person, typed_name: str, *, whole_name_only: bool = False) -> bool:
    """Return True if the text is the person's id or name, or the first word of the name."""
    names = {person.user.casefold(), person.name.casefold()}
    first = () if whole_name_only else person.name.casefold().split()[:1]
    return typed_name.strip().casefold() in names.union(first)


def _query_people(search: str) -> Query:
    return Query("people", "people", {"search": search, "size": MAX_PEOPLE}, is_live=True)


def _sign_in(person: Person) -> Result:
    return reply(SignInState(), GOOD, "sign_in.done", SignIn(person.user, person.name), name=person.name)
