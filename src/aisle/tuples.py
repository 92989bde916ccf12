"""`NamedTuple` as in `typing`, created ten times faster: a start creates nearly two hundred tuple types.

Work that `typing` does for each type at once is delayed: the constructor is compiled with the first instance, and
annotations stay text, as `from __future__ import annotations` leaves them. The types behave the same, and type checkers
see `typing.NamedTuple` itself.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: TID251
else:
    from collections import _tuplegetter

    _UNKNOWN = TypeError if sys.version_info >= (3, 13) else ValueError
    """Error of `_replace` for an unknown field; it differs between versions of Python."""

    class _Tuple(tuple):
        """Base of the named tuple types."""

        __slots__ = ()
        _fields = ()
        _field_defaults = {}  # noqa: RUF012 - an annotation would be a field's
        _places = {}  # noqa: RUF012 - the same; position of each field, so that a long tuple is changed in a few steps

        def __new__(cls, /, *values, **named):
            """Create the first instance of a type, and give the type its own constructor."""
            kind = next(kind for kind in cls.__mro__ if "_fields" in kind.__dict__)
            kind.__new__ = staticmethod(_constructor(kind))
            return kind.__new__(cls, *values, **named)

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **others):
            values, places = list(self), self._places
            try:
                for name, value in others.items():
                    values[places[name]] = value
            except KeyError:
                unknown = [name for name in others if name not in places]
                raise _UNKNOWN(f"Got unexpected field names: {unknown!r}") from None
            return tuple.__new__(self.__class__, values)

        __replace__ = _replace  # `copy.replace`, from Python 3.13 on

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self):
            return tuple(self)

    class _Maker(type):
        """Metaclass that makes a tuple type from a class body."""

        def __new__(cls, name, bases, body):
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"Fields without a default stand before those with one: {name}{fields}")
            places = {field: at for at, field in enumerate(fields)}
            getters = {field: _tuplegetter(at, "") for field, at in places.items()}
            own = {"__slots__": (), "__match_args__": fields, "_fields": fields, "_field_defaults": defaults}
            own["_places"] = places
            bases = tuple(_Tuple if base is NamedTuple else base for base in bases)
            return type(name, bases, body | getters | own)

    def _constructor(kind):
        """Return `__new__` of a type with its fields as parameters, as fast as that of `collections.namedtuple`."""
        fields = ", ".join(kind._fields)
        values = f"({fields},)" if fields else "()"
        new = eval(f"lambda _cls, {fields}: _new(_cls, {values})", {"_new": tuple.__new__, "__builtins__": {}})  # noqa: S307
        new.__name__, new.__qualname__ = "__new__", f"{kind.__qualname__}.__new__"
        new.__defaults__ = tuple(kind._field_defaults.values()) or None
        return new

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
