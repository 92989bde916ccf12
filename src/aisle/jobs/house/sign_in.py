"""Sign-in: scan a badge or type a name. Whoever the store does not know may still go on under the name typed,
unless that is something else in the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aisle.jobs.base import Changed, Context, Event, Json, Opened, Query, Quit, Rows, SignIn, Turn
from aisle.jobs.numbers import what_is
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Hint, Line, Step, Verdict, msg
from aisle.scan.meaning import PERSON, Back, Choice, Command, Meaning, Open, Text, Thing, Unknown
from aisle.tuples import NamedTuple

MOST = 8
"""People offered as numbered choices at most."""

_THING = "thing"
"""The query for people of a name that is something else in the store."""

_EARLIER = "earlier/"
"""Queries for what was said before begin so; what it was stands behind."""


class Person(NamedTuple):
    """One app user of the store."""

    user: str
    name: str


class SigningIn(NamedTuple):
    """What was typed, and who it could be."""

    asked: str = ""
    people: tuple[Person, ...] = ()
    unknown: bool = False
    """Nobody of that name is known: going on under it is the one choice."""
    earlier: tuple[str, ...] = ()
    """What was said before and nobody knew either: the badge or name, it may be, of somebody who is not here yet."""
    known: int = 0
    """How many it could be; no more than are offered are in `people`."""
    thing: Meaning | None = None
    """What was said last is known as this, and is asked about as a name."""


Result = Turn[SigningIn]


class SignInJob:
    """The first page of a terminal that belongs to nobody."""

    name = "sign_in"
    steps: tuple[str, ...] = ("sign_in",)
    version = 1
    journalled = False

    def begin(self) -> SigningIn:
        """Nothing asked yet."""
        return SigningIn()

    def open(self, state: SigningIn) -> Open:
        """Names and choices."""
        choices = tuple((state.unknown, person.user) for person in state.people)
        return Open(text=True, choices=len(choices), letters="q", stand_for=choices)

    def prefers(self, state: SigningIn) -> tuple[str, ...]:
        """A badge is all that counts here."""
        return (PERSON,)

    def step(self, state: SigningIn, event: Event, context: Context) -> Result:
        """A badge signs in; a name is looked up first."""
        match event:
            case Thing(meanings) if meanings[0].kind == PERSON:
                return _enter(Person(meanings[0].key, meanings[0].label or meanings[0].key))
            case Thing(meanings):
                thing = meanings[0]
                return Turn(state._replace(thing=thing), (_people(_code(thing))._replace(id=_THING),))
            case Text(text) | Unknown(text):
                return self._ask(state, text)
            case Rows("people", rows, known):
                people = tuple(_person(row) for row in rows)
                # A badge that was scanned before the store's people were here is taken when they come.
                found = _by_badge(rows) or self._answer(state._replace(known=known), people)
                return _known_alone(found) if context.policy.known_people_only else found
            case Rows(id_, rows, _) if id_ == _THING and state.thing:
                found = self._is_thing(state._replace(thing=None), state.thing, tuple(map(_person, rows)))
                return _known_alone(found) if context.policy.known_people_only else found
            case Rows(id_, rows, _) if id_.startswith(_EARLIER):
                return _said_earlier(state, id_.removeprefix(_EARLIER), rows)
            case Changed("person") if state.unknown:  # the store's people have only now arrived
                earlier = (_people(said)._replace(id=_EARLIER + said) for said in state.earlier)
                return Turn(state, (*earlier, _people(state.asked)))  # the last is answered first
            case Choice(number) if number <= len(state.people):
                return _enter(state.people[number - 1])
            case Back():
                return Turn(SigningIn())
            case Command("q"):
                return Turn(state, (Quit(),))
            case Opened():
                return Turn(SigningIn())
        return Turn(state)

    def _ask(self, state: SigningIn, text: str) -> Result:
        return Turn(_asking(state, text), (_people(text),))

    def _is_thing(self, state: SigningIn, thing: Meaning, people: tuple[Person, ...]) -> Result:
        """What the store knows as something else is nobody's name, unless somebody has it; the choices stay."""
        called = tuple(person for person in people if _is_called(person, _code(thing)))
        if called:
            return self._answer(_asking(state, _code(thing)), called)
        return Turn(state, (), Verdict(WRONG, msg("sign_in.not_this", what=what_is(thing))))

    def _answer(self, state: SigningIn, people: tuple[Person, ...]) -> Result:
        asked = state.asked
        exact = [person for person in people if _is_called(person, asked, whole=True)]
        if len(exact) == 1:
            return _enter(exact[0])
        if people and asked.strip().isdecimal():  # part of an id; nobody is found by a stray digit
            return Turn(SigningIn(), (), Verdict(WRONG, msg("sign_in.number", asked=asked)))
        if len(people) == 1:
            return self._one(people[0], asked)
        if people:
            some = SigningIn(asked, people, known=state.known)
            return Turn(some, (), Verdict(ASK, msg("sign_in.which", asked=asked)))
        if len(asked.strip()) < 2:
            return Turn(SigningIn(), (), Verdict(WRONG, msg("sign_in.short", asked=asked)))
        myself = Person(asked.strip(), asked.strip())
        unknown = state._replace(people=(myself,), unknown=True)
        return Turn(unknown, (), Verdict(ASK, msg("sign_in.unknown", asked=asked)))

    def _one(self, person: Person, asked: str) -> Result:
        """A part in the middle of somebody's name may be the whole name of somebody else."""
        if _is_called(person, asked):
            return _enter(person)
        return Turn(SigningIn(asked, (person,)), (), Verdict(ASK, msg("sign_in.is_it", asked=asked)))

    def at(self, state: SigningIn) -> str:
        """There is one page."""
        return self.name

    def view(self, state: SigningIn) -> Step:
        """One prompt, and choices where a name fits several people."""
        label = "sign_in.as" if state.unknown else "sign_in.person"
        choices = tuple(msg(label, name=person.name) for person in state.people)
        return Step(
            name=self.name,
            title=msg("sign_in.title"),
            prompt=msg("sign_in.choose") if state.people else msg("sign_in.prompt"),
            lines=() if state.people else (Line("note", msg("sign_in.note")),),
            choices=choices,
            hints=(Hint("q", msg("hint.quit")),),
            of=state.known,
        )


def _asking(state: SigningIn, text: str) -> SigningIn:
    earlier = tuple(dict.fromkeys((*state.earlier, state.asked)))[-MOST:] if state.unknown else ()
    return SigningIn(text, earlier=earlier)


def _code(thing: Meaning) -> str:
    return thing.code or thing.key


def _by_badge(rows: Iterable[Mapping[str, Json]]) -> Result | None:
    """Whose badge was asked for, if it was one."""
    people = [_person(row) for row in rows if row.get("is_badge")]
    return _enter(people[0]) if len(people) == 1 else None


def _known_alone(found: Result) -> Result:
    """The same where nobody signs in whom the store does not know."""
    if not found.state.unknown or not found.verdict:
        return found
    told = Verdict(WRONG, msg("sign_in.only_known", asked=found.state.asked))
    return Turn(found.state._replace(people=()), found.effects, told)


def _said_earlier(state: SigningIn, said: str, rows: Iterable[Mapping[str, Json]]) -> Result:
    """Whoever was asked for before something that nobody knows still signs in; what came after it is not taken."""
    rows = tuple(rows)
    called = [person for person in map(_person, rows) if _is_called(person, said)]
    found = _by_badge(rows) or (_enter(called[0]) if len(called) == 1 else None)
    if found is None or not state.unknown:
        return Turn(state)
    name = dict(found.verdict.text.args)["name"] if found.verdict else ""
    return found._replace(verdict=Verdict(INFO, msg("sign_in.done_alone", name=name, rest=state.asked)))


def _person(row: Mapping[str, Json]) -> Person:
    return Person(str(row["user"]), str(row["name"] or row["user"]))


def _is_called(person: Person, asked: str, *, whole: bool = False) -> bool:
    """Whether that is a person's id or name, or the first word of the name."""
    names = {person.user.casefold(), person.name.casefold()}
    first = () if whole else person.name.casefold().split()[:1]
    return asked.strip().casefold() in names.union(first)


def _people(search: str) -> Query:
    return Query("people", "people", {"search": search, "size": MOST}, live=True)


def _enter(person: Person) -> Result:
    told = Verdict(GOOD, msg("sign_in.done", name=person.name))
    return Turn(SigningIn(), (SignIn(person.user, person.name),), told)
