"""What is said before somebody signs out: what he has picked and not put down, and what is not sent yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aisle.jobs.job import Changed, Context, Event, Job, Json, Opened, Query, Quit, Rows, SignIn, Turn
from aisle.jobs.quantities import name_of, to_decimal
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, KeyHint, Line, Step, Verdict, msg
from aisle.scan.meaning import PERSON, Accepts, Back, Choice, Command, Match, Scan, Text, UnknownCode


def query_open_work(context: Context) -> Query:
    """The question what is open."""
    return Query("open", "open", {"user": context.user, "now": context.now}, is_live=True)


def open_work_verdict(answer: Rows) -> Verdict | None:
    """What is said first; None where nothing is open."""
    unsent, count = answer.total, sum(to_decimal(row["count"]) for row in answer.rows)
    orders = ", ".join(str(row["order_number"]) for row in answer.rows)
    if not answer.rows:
        return Verdict(ASK, msg("home.unsent", count=unsent)) if unsent else None
    if unsent:
        return Verdict(ASK, msg("home.in_hand_unsent", count=count, orders=orders, unsent=unsent))
    return Verdict(ASK, msg("home.in_hand", count=count, orders=orders))


MAX_PEOPLE = 8
"""People offered as numbered choices at most."""

_OTHER_MATCH_QUERY = "thing"
"""The query for people of a name that is something else in the store."""

_EARLIER_PREFIX = "earlier/"
"""Queries for what was said before begin so; what it was stands behind."""


class Person(NamedTuple):
    """One app user of the store."""

    user: str
    name: str


class SignInState(NamedTuple):
    """What was typed, and who it could be."""

    typed_name: str = ""
    people: tuple[Person, ...] = ()
    is_unknown: bool = False
    """Nobody of that name is known: going on under it is the one choice."""
    earlier_names: tuple[str, ...] = ()
    """What was said before and nobody knew either: the badge or name, it may be, of somebody who is not here yet."""
    match_count: int = 0
    """How many it could be; no more than are offered are in `people`."""
    other_match: Match | None = None
    """What was said last is known as this, and is asked about as a name."""


Result = Turn[SignInState]


class SignInJob(Job[SignInState]):
    """The first page of a terminal that belongs to nobody."""

    name = "sign_in"
    steps: tuple[str, ...] = ("sign_in",)
    version = 1
    journalled = False

    def begin(self) -> SignInState:
        """Nothing asked yet."""
        return SignInState()

    def accepts(self, state: SignInState) -> Accepts:
        """Names and choices."""
        choices = tuple((state.is_unknown, person.user) for person in state.people)
        return Accepts(text=True, choices=len(choices), command_letters="q", choice_values=choices)

    def prefers(self, state: SignInState) -> tuple[str, ...]:
        """A badge is all that counts here."""
        return (PERSON,)

    def handle(self, state: SignInState, event: Event, context: Context) -> Result:
        """A badge signs in; a name is looked up first."""
        match event:
            case Scan(meanings) if meanings[0].kind == PERSON:
                return _sign_in(Person(meanings[0].key, meanings[0].label or meanings[0].key))
            case Scan(meanings):
                thing = meanings[0]
                return Turn(
                    state._replace(other_match=thing), (_query_people(_code(thing))._replace(id=_OTHER_MATCH_QUERY),)
                )
            case Text(text) | UnknownCode(text):
                return self._search_name(state, text)
            case Rows("people", rows, known):
                people = tuple(_parse_person(row) for row in rows)
                # A badge that was scanned before the store's people were here is taken when they come.
                found = _sign_in_by_badge(rows) or self._handle_people(state._replace(match_count=known), people)
                return _known_people_only(found) if context.policy.known_people_only else found
            case Rows(id_, rows, _) if id_ == _OTHER_MATCH_QUERY and state.other_match:
                found = self._handle_other_match(
                    state._replace(other_match=None), state.other_match, tuple(map(_parse_person, rows))
                )
                return _known_people_only(found) if context.policy.known_people_only else found
            case Rows(id_, rows, _) if id_.startswith(_EARLIER_PREFIX):
                return _handle_earlier_name(state, id_.removeprefix(_EARLIER_PREFIX), rows)
            case Changed("person") if state.is_unknown:  # the store's people have only now arrived
                earlier = (_query_people(said)._replace(id=_EARLIER_PREFIX + said) for said in state.earlier_names)
                return Turn(state, (*earlier, _query_people(state.typed_name)))  # the last is answered first
            case Choice(number) if number <= len(state.people):
                return _sign_in(state.people[number - 1])
            case Back():
                return Turn(SignInState())
            case Command("q"):
                return Turn(state, (Quit(),))
            case Opened():
                return Turn(SignInState())
        return Turn(state)

    def _search_name(self, state: SignInState, text: str) -> Result:
        return Turn(_with_name(state, text), (_query_people(text),))

    def _handle_other_match(self, state: SignInState, match: Match, people: tuple[Person, ...]) -> Result:
        """What the store knows as something else is nobody's name, unless somebody has it; the choices stay."""
        called = tuple(person for person in people if _is_named(person, _code(match)))
        if called:
            return self._handle_people(_with_name(state, _code(match)), called)
        return Turn(state, (), Verdict(WRONG, msg("sign_in.not_this", what=name_of(match))))

    def _handle_people(self, state: SignInState, people: tuple[Person, ...]) -> Result:
        asked = state.typed_name
        exact = [person for person in people if _is_named(person, asked, whole_name_only=True)]
        if len(exact) == 1:
            return _sign_in(exact[0])
        if people and asked.strip().isdecimal():  # part of an id; nobody is found by a stray digit
            return Turn(SignInState(), (), Verdict(WRONG, msg("sign_in.number", asked=asked)))
        if len(people) == 1:
            return self._handle_single_person(people[0], asked)
        if people:
            some = SignInState(asked, people, match_count=state.match_count)
            return Turn(some, (), Verdict(ASK, msg("sign_in.which", asked=asked)))
        if len(asked.strip()) < 2:
            return Turn(SignInState(), (), Verdict(WRONG, msg("sign_in.short", asked=asked)))
        myself = Person(asked.strip(), asked.strip())
        unknown = state._replace(people=(myself,), is_unknown=True)
        return Turn(unknown, (), Verdict(ASK, msg("sign_in.unknown", asked=asked)))

    def _handle_single_person(self, person: Person, typed_name: str) -> Result:
        """A part in the middle of somebody's name may be the whole name of somebody else."""
        if _is_named(person, typed_name):
            return _sign_in(person)
        return Turn(SignInState(typed_name, (person,)), (), Verdict(ASK, msg("sign_in.is_it", asked=typed_name)))

    def step_name(self, state: SignInState) -> str:
        """There is one page."""
        return self.name

    def view(self, state: SignInState) -> Step:
        """One prompt, and choices where a name fits several people."""
        label = "sign_in.as" if state.is_unknown else "sign_in.person"
        choices = tuple(msg(label, name=person.name) for person in state.people)
        return Step(
            name=self.name,
            title=msg("sign_in.title"),
            prompt=msg("sign_in.choose") if state.people else msg("sign_in.prompt"),
            lines=() if state.people else (Line("note", msg("sign_in.note")),),
            choices=choices,
            key_hints=(KeyHint("q", msg("hint.quit")),),
            choice_total=state.match_count,
        )


def _with_name(state: SignInState, text: str) -> SignInState:
    earlier = tuple(dict.fromkeys((*state.earlier_names, state.typed_name)))[-MAX_PEOPLE:] if state.is_unknown else ()
    return SignInState(text, earlier_names=earlier)


def _code(match: Match) -> str:
    return match.code or match.key


def _sign_in_by_badge(rows: Iterable[Mapping[str, Json]]) -> Result | None:
    """Whose badge was asked for, if it was one."""
    people = [_parse_person(row) for row in rows if row.get("is_badge")]
    return _sign_in(people[0]) if len(people) == 1 else None


def _known_people_only(turn: Result) -> Result:
    """The same where nobody signs in whom the store does not know."""
    if not turn.state.is_unknown or not turn.verdict:
        return turn
    told = Verdict(WRONG, msg("sign_in.only_known", asked=turn.state.typed_name))
    return Turn(turn.state._replace(people=()), turn.effects, told)


def _handle_earlier_name(state: SignInState, earlier_name: str, rows: Iterable[Mapping[str, Json]]) -> Result:
    """Whoever was asked for before something that nobody knows still signs in; what came after it is not taken."""
    rows = tuple(rows)
    called = [person for person in map(_parse_person, rows) if _is_named(person, earlier_name)]
    found = _sign_in_by_badge(rows) or (_sign_in(called[0]) if len(called) == 1 else None)
    if found is None or not state.is_unknown:
        return Turn(state)
    name = dict(found.verdict.text.args)["name"] if found.verdict else ""
    return found._replace(verdict=Verdict(INFO, msg("sign_in.done_alone", name=name, rest=state.typed_name)))


def _parse_person(row: Mapping[str, Json]) -> Person:
    return Person(str(row["user"]), str(row["name"] or row["user"]))


def _is_named(person: Person, typed_name: str, *, whole_name_only: bool = False) -> bool:
    """Whether that is a person's id or name, or the first word of the name."""
    names = {person.user.casefold(), person.name.casefold()}
    first = () if whole_name_only else person.name.casefold().split()[:1]
    return typed_name.strip().casefold() in names.union(first)


def _query_people(search: str) -> Query:
    return Query("people", "people", {"search": search, "size": MAX_PEOPLE}, is_live=True)


def _sign_in(person: Person) -> Result:
    told = Verdict(GOOD, msg("sign_in.done", name=person.name))
    return Turn(SignInState(), (SignIn(person.user, person.name),), told)
