"""Keys that seem wrong: near others, of a product not for the store, inactive, or unknown to service and file.

Forms of one key: `clean_cells_and_keys`.

A spreadsheet removes the zeros of `0226` in one file of a load, and another file names `0226`. The row with `226` is
refused. What depends on it is the same as if it named `0226` and were refused for another reason.

The service refuses prices and settings of a product not for the store, but takes its goods, which may lie there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.cells_of_columns import parse_objects
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells_and_keys import (
    bare_codes,
    comparable_key,
    fold_key,
    forms_without_zeros,
    nearest,
)
from aisle.client.csv_load.fields_replaced_by_other_file import names_of_shared
from aisle.client.csv_load.file_layouts_and_columns import (
    DELIVERIES,
    LOCATIONS,
    ORDERS,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
    STORES,
)
from aisle.client.csv_load.report import unread_error
from aisle.client.csv_load.service_reads import as_file_warning, product_rows, queries_for
from aisle.client.csv_load.settings_changed_while_in_use import BROUGHT, StoresOfProduct
from aisle.client.csv_load.shared_codes import NUMBER_COLUMN
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, ServerError, TransportError


class _Kind(NamedTuple):
    """Kind of key: its column, the file that creates it, and the service's list with the field that has it."""

    column: str
    file: str
    operation: str
    field: str


_KINDS = (
    _Kind("product_number", PRODUCTS.file, "list-products", "product_number"),
    _Kind("store_number", STORES.file, "list-stores", "storeNo"),
)


async def find_mistaken_keys(tables: Sequence[CsvTable], client: Client) -> None:
    """Give each table the products and stores that its rows name by mistake, with those that are meant.

    Only keys in two near writings are looked up. Raise LoadError if the service does not respond.
    """
    for kind in _KINDS:
        written = _near_writings(tables, kind)
        held = await _held_of(client, kind, written) if written else set()
        known = held | _created(tables, kind, held)
        by_form: dict[str, set[str]] = {}
        for key in known:
            for form in bare_codes(key):
                by_form.setdefault(form, set()).add(key)
        mistaken = {
            key: meant
            for key in written - known
            if (meant := nearest(key, set().union(*(by_form.get(form, ()) for form in bare_codes(key)))))
        }
        for table in tables:
            if mistaken and table.name != kind.file:
                table.mistaken_keys[kind.column] = mistaken


async def find_unknown_keys(tables: Sequence[CsvTable], client: Client) -> dict[str, set[str]]:
    """Return the products and stores that files of one matter name, and that neither the service nor a file has.

    Only files that give a field of another file too are read. Raise LoadError if the service does not respond.
    """
    names = names_of_shared(tables)
    shared = [table for table in tables if table.name in names]
    found: dict[str, set[str]] = {}
    for kind in _KINDS if shared else ():
        created = {hash(key) for key in _keys([table for table in tables if table.name == kind.file], kind)}
        named = {key for key in _keys(shared, kind, with_broken=True) if hash(key) not in created}
        found[kind.column] = named - await _held_of(client, kind, named) if named else set()
    return found


async def keys_not_held(table: CsvTable, client: Client) -> dict[str, set[str]]:
    """Return the products and stores of a file that the service does not have; none if it lists none of them.

    Raise LoadError if the service does not respond.
    """
    found: dict[str, set[str]] = {}
    for kind in _KINDS:
        named = set(_keys([table], kind))
        held = await _held_of(client, kind, named)
        found[kind.column] = named - held if held else set()
    return found


async def _held_of(client: Client, kind: _Kind, keys: set[str]) -> set[str]:
    """Return the keys that the service has; all if it does not list them. Raise LoadError if it does not respond."""
    try:
        return await _held(client, kind, keys)
    except (TransportError, ServerError) as error:
        raise unread_error("Whether the service has what the files name", error) from error
    except ClientError:
        return keys


def _near_writings(tables: Sequence[CsvTable], kind: _Kind) -> set[str]:
    """Return the keys of all files that are near to another one; of the others only hashes are kept."""
    first: dict[int, int] = {}
    shared: set[int] = set()
    seen: set[int] = set()
    for key in _keys(tables, kind):
        if hash(key) in seen:
            continue
        seen.add(hash(key))
        shared.update(form for form in map(hash, bare_codes(key)) if first.setdefault(form, hash(key)) != hash(key))
    return (
        {key for key in _keys(tables, kind) if not shared.isdisjoint(map(hash, bare_codes(key)))} if shared else set()
    )


def _keys(tables: Sequence[CsvTable], kind: _Kind, *, with_broken: bool = False) -> Iterator[str]:
    last = ""
    for table in tables:
        for _, (key,) in table.select_cells((kind.column,), with_broken=with_broken):
            if key and key != last:
                yield key
            last = key


async def _held(client: Client, kind: _Kind, keys: set[str]) -> set[str]:
    """Return the keys of the service that are these, or near to them."""
    found: set[str] = set()
    for query in queries_for(kind.field, keys) if kind.file == PRODUCTS.file else [{}]:
        async for row in client.rows(kind.operation, query=query):
            if (key := str(row.get(kind.field) or "")) in keys:
                found.add(key)
    return found


def _created(tables: Sequence[CsvTable], kind: _Kind, held: set[str]) -> set[str]:
    """Return the keys that a file of the load creates, without those refused because the service has a like one."""
    like = {comparable_key((key,)) for key in held}
    own = [table for table in tables if table.name == kind.file]
    return {key for key in _keys(own, kind) if comparable_key((key,)) not in like}


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

    def see(self, key: RecordKey, row: Row) -> None:
        """Store a key of the service, if the file has one of its forms."""
        for form in self._forms(key) if self._first else ():
            if self._first.get(form, hash(key)) != hash(key) or form in self._shared:
                self._shared.add(form)
                self._others.setdefault(form, key[-1])

    def warn(self, known_keys: Collection[RecordKey]) -> None:
        """Add a warning for each new key that another has in a form without zeros."""
        warned: set[int] = set()
        for line, key in self._keys() if self._shared else ():
            found = [self._others.setdefault(form, key[-1]) for form in self._forms(key) if form in self._shared]
            is_new = key not in known_keys and hash(key) not in warned
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


_MOST_ZEROS = 3
"""Number of lost zeros up to which a key is taken for a shortened one; of three, two others have to show it."""


class KeysWithoutZeros:
    """Keys of digits of a file and of the service, by their lengths: those that have fewer than others with zeros.

    `4713` is one of `004711`, `004712` and `4713`. A file that writes its numbers without zeros has more of such keys,
    or the service has some already.
    """

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


_FILES = (ORDERS, DELIVERIES, STOCK, STORE_PRODUCTS)
_WHAT = (
    "the product is not for the store (its stores_allowed or stores_not_allowed), and the row is loaded all the same"
)


async def warn_of_unfit_products(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> None:
    """Add a warning for each row of a product that is not for the row's store, or inactive, or keeps no stock.

    Raise TransportError if the service does not respond.
    """
    if table.layout not in _FILES:
        return
    cells = ("store_number", "product_number", table.key_columns[1])
    named = {product for _, (_, product, _) in table.select_cells(cells) if product}
    if not named:
        return
    limited: dict[str, StoresOfProduct] = {}
    off: set[tuple[str, str]] = set()
    with as_file_warning(table, "which products are active, and for which stores, could not be read"):
        async for row in product_rows(client, named):
            number, stores = str(row.get("product_number") or ""), StoresOfProduct.of(row)
            if number in named and any(stores):
                limited[number] = stores
            off |= {(number, name) for name in _FLAGS.get(table.name, ()) if number in named and row.get(name) is False}
    for line, (store, product, name) in table.select_cells(cells) if limited or off else ():
        value = f"{product} in store {store}"
        if store and product in limited and not limited[product].has(store):
            table.notes.add_warning(_WHAT, value, line, loaded=line)
        for flag in _FLAGS.get(table.name, ()) if (store, name) not in known_keys else ():
            if (product, flag) in off:
                what = f"{BROUGHT[table.name]} is of a product whose {flag} is false"
                table.notes.add_warning(what, value, line, loaded=line)


_FLAGS = {STOCK.file: ("is_active",), ORDERS.file: ("is_active",), DELIVERIES.file: ("is_active", "is_stock")}
"""Flags that a product needs for the goods of a file; a row of stock for one that keeps none is not loaded."""


_MAY_BE_ITSELF = "smallest_product_number"
_NUMBERS = ("purchase_unit_product_number", "referral_product_id", _MAY_BE_ITSELF)


_PARTS = "set_product"
"""Column with the products of a set, as JSON."""


async def warn_of_unknown_products(table: CsvTable, client: Client) -> None:
    """Add a warning for each product that a row names and nobody has. Raise TransportError without a response."""
    if table.layout is not PRODUCTS:
        return
    rows = dict(table.select_cells((NUMBER_COLUMN,)))
    own, named = {number for (number,) in rows.values()}, []
    for line, column, number in _references(table):
        if (number,) == rows[line] and column != _MAY_BE_ITSELF:
            what = "has the set itself as a part" if column == _PARTS else "is the product itself"
            table.notes.add_warning(f"{column} {what}", number, line)
        elif number not in own:
            named.append((line, column, number))
    missing = {number for *_, number in named}
    if not missing:
        return
    with as_file_warning(table, "whether the products that it names are there could not be read"):
        missing -= {str(row.get(NUMBER_COLUMN) or "") async for row in product_rows(client, missing)}
        if not missing:
            return
        known = own | {str(row.get(NUMBER_COLUMN) or "") async for row in client.rows("list-products")}
        for line, column, number in named:
            if number in missing:
                near = nearest(number, known)
                value = f"{number}; {near}?" if near else number
                table.notes.add_warning(f"{column} names a product that the service does not have", value, line)


def _references(table: CsvTable) -> Iterator[tuple[int, str, str]]:
    """Yield row, column and number of each product that a row names."""
    names = [name for name in (*_NUMBERS, _PARTS) if table.has_column(name)]
    for line, cells in table.select_cells(names, only_readable=True) if names else ():
        for name, cell in zip(names, cells, strict=True):
            for number in _parts(cell) if name == _PARTS else (cell,):
                if number:
                    yield line, name, number


def _parts(cell: str) -> list[str]:
    try:
        return [str(part.get("set_product_number") or "") for part in parse_objects(cell)] if cell else []
    except ValueError:
        return []
