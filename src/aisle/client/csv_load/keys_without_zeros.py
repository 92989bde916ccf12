"""New keys that have fewer digits than others beside them which begin with zeros: a spreadsheet may have taken theirs.

`4713` is one of `004711`, `004712` and `4713`. A file that writes its numbers without zeros has more of such keys, or
the service has some already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.paging import Row

_MOST_ZEROS = 3
"""Number of lost zeros up to which a key is taken for a shortened one; of three, two others have to show it."""


class KeysWithoutZeros:
    """Keys of digits of a file and of the service, by their lengths."""

    def __init__(self, table: CsvTable, noun: str) -> None:
        """Read the keys of the file. `noun` is what it creates."""
        self._table = table
        self._noun = noun
        self._with_zeros: Counter[tuple[RecordKey, int]] = Counter()
        """Number of keys that begin with a zero, by store and number of digits."""
        self._shown: dict[tuple[RecordKey, int], str] = {}
        self._usual: set[tuple[RecordKey, int]] = set()
        """Stores and numbers of digits of keys of the service without zeros."""
        self._own = {hash(key) for _, key in self._keys()}
        for _, key in self._keys():
            self._count(key)
        self._of_file = self._with_zeros.copy()

    def _keys(self) -> Iterator[tuple[int, RecordKey]]:
        """Yield the keys of digits, each once."""
        seen: set[int] = set()
        for line, key, _ in self._table.record_keys():
            if hash(key) not in seen and _is_number(key[-1]):
                seen.add(hash(key))
                yield line, key

    def _count(self, key: RecordKey) -> None:
        of_kind = key[:-1], len(key[-1])
        if key[-1][0] == "0":
            self._with_zeros[of_kind] += 1
            self._shown.setdefault(of_kind, key[-1])

    def see(self, key: RecordKey, _: Row) -> None:
        """Count a key of the service."""
        if not _is_number(key[-1]):
            return
        if key[-1][0] != "0":
            self._usual.add((key[:-1], len(key[-1])))
        elif hash(key) not in self._own:
            self._count(key)

    def warn(self, known_keys: Collection[RecordKey]) -> None:
        """Add a warning for each new key that may have lost its zeros."""
        found: dict[tuple[tuple[RecordKey, int], bool], list[tuple[int, str]]] = {}
        for line, key in self._keys() if self._with_zeros else ():
            length = len(key[-1])
            if key[-1][0] == "0" or key in known_keys:
                continue
            longer = ((zeros, (key[:-1], length + zeros)) for zeros in range(1, _MOST_ZEROS + 1))
            if of_kind := next((one for zeros, one in longer if self._with_zeros[one] >= max(1, zeros - 1)), None):
                is_usual = (key[:-1], length) in self._usual
                found.setdefault((of_kind, is_usual), []).append((line, key[-1]))
        for (of_kind, is_usual), rows in found.items():
            others = self._of_file[of_kind] - 1 if is_usual else self._with_zeros[of_kind]
            for line, name in rows if len(rows) <= others else ():
                what = f"{self._noun} may have lost the zeros with which others begin; if so, write it as text"
                self._table.notes.add_warning(what, f"{name} beside {self._shown[of_kind]}", line)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal()
