"""New keys of a file that differ from others, of the file or the service, by zeros, decimal marks or letters O."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from aisle.client.csv_load.columns import LOCATIONS
from aisle.client.csv_load.csv_table import CsvTable, RecordKey
from aisle.client.csv_load.near_keys import comparable_key, fold_key, forms_without_zeros


class KeysBesideOthers:
    """Keys of a file that creates records, by hashes of their forms without zeros."""

    def __init__(self, table: CsvTable, noun: str) -> None:
        """Read the keys of the file. `noun` is what it creates."""
        self._table = table
        self._noun = noun
        self._first: dict[int, int] = {}
        """Hash of the first key of a form, by the hash of the form."""
        self._shared: set[int] = set()
        """Forms that keys in several writings have."""
        self._others: dict[int, str] = {}
        """First key of the service, or of the file, of a form."""
        for _, key in self._keys():
            for form in self._forms(key):
                if self._first.setdefault(form, hash(key)) != hash(key):
                    self._shared.add(form)

    def see(self, key: RecordKey) -> None:
        """Store a key of the service, if the file has one of its forms."""
        for form in self._forms(key) if self._first else ():
            if self._first.get(form, hash(key)) != hash(key) or form in self._shared:
                self._shared.add(form)
                self._others.setdefault(form, key[-1])

    def warn(self, known: Collection[RecordKey]) -> None:
        """Add a warning for each new key that another has in a form without zeros."""
        warned: set[int] = set()
        for line, key in self._keys() if self._shared else ():
            found = [self._others.setdefault(form, key[-1]) for form in self._forms(key) if form in self._shared]
            is_new = key not in known and hash(key) not in warned
            other = next((one for one in found if comparable_key((one,)) != comparable_key(key[-1:])), "")
            if other and is_new:
                warned.add(hash(key))
                by = "zeros or a comma" if "," in key[-1] + other else "zeros"
                by = "the letter O and the digit 0" if _without_o(key[-1]) == _without_o(other) else by
                what = f"{self._noun} differs from another by {by} alone; if it is the same, write it in one way"
                self._table.notes.add_warning(what, f"{key[-1]} beside {other}", line)

    def _keys(self) -> Iterator[tuple[int, RecordKey]]:
        """Yield the keys with a digit, once for rows of one record that stand together."""
        last: RecordKey = ()
        for line, key, _ in self._table.record_keys():
            if key != last and any(map(str.isdigit, key[-1])):
                yield line, key
            last = key

    def _forms(self, key: RecordKey) -> list[int]:
        """Return hashes of the forms of a key. Another warning compares the letters of locations."""
        *before, name = key
        forms = [*forms_without_zeros(name)]
        if self._table.name != LOCATIONS.file and "0" in (form := _without_o(name)):
            forms.append(f"O as 0: {form}")
        return [hash((*before, form)) for form in forms]


def _without_o(name: str) -> str:
    """Return a key with the digit for each letter O, which looks like it."""
    return fold_key(name).replace("o", "0")
