"""A table of PostgreSQL to which changes of matches can be applied: its names, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from ouzel.errors import OuzelError, listed
from ouzel.runtimes.reported import MATCH_ID, OP

BESIDE = "__ouzel"
"""How the name of the table ends to which a micro-batch is written before it is applied."""
LONGEST = 63
"""PostgreSQL cuts names that have more bytes, and takes those for the same that then are."""

_COLUMNS = """
    SELECT attname, attnotnull AND NOT atthasdef AND attidentity = '' AND attgenerated = '', EXISTS (
        SELECT FROM pg_index WHERE indrelid = attrelid AND indnkeyatts = 1 AND indkey[0] = attnum
            AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL)
    FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped"""
"""The columns of a table, whether they want a value, and whether each is a key by itself."""
_SCHEMA = "SELECT {0}, has_schema_privilege({0}, 'CREATE')"
"""The schema of a table, if there is one, and whether tables can be made in it."""


class Table:
    """A table by its name or SCHEMA.NAME, and the one beside it to which a micro-batch is written first."""

    def __init__(self, name: str) -> None:
        """Nothing is asked of the database yet."""
        *self._schema, own = name.split(".")
        self._own = own
        self.name, self.beside = quoted([*self._schema, own]), quoted([*self._schema, beside(own)])

    def check_names(self, columns: Iterable[str]) -> None:
        """Refuse names that PostgreSQL would cut."""
        for name in (*self._schema, self._own, *columns):
            if len(name.encode()) > LONGEST:
                raise OuzelError(
                    f"upsert: required names of at most {LONGEST} bytes, as PostgreSQL has; got '{name}'"
                )

    def check(self, connection: Any, columns: list[str]) -> None:
        """Refuse what cannot take changes with some columns."""
        self._check_schema(connection)
        there = _columns(connection, self.beside)
        if there and set(there) != set(columns):
            raise OuzelError(
                f"upsert: required that there is no table {self.beside}, to which changes are written before "
                "they are applied; there is one that is none of Ouzel's\n  hint: rename it"
            )
        if self.is_there(connection):
            self._check_columns(connection, [name for name in columns if name != OP])

    def is_there(self, connection: Any) -> bool:
        """Whether there is such a table."""
        asked = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")
        asked.setString(1, self.name)
        found = asked.executeQuery()
        found.next()
        return bool(found.getBoolean(1))

    def check_is_empty(self, connection: Any) -> None:
        """Refuse to begin with a table that has matches: ids begin, too."""
        sql = f"SELECT EXISTS (SELECT FROM {self.name} WHERE {quoted_name(MATCH_ID)} >= 0)"  # noqa: S608
        found = connection.createStatement().executeQuery(sql)
        found.next()
        if found.getBoolean(1):
            raise OuzelError(
                "upsert: required a table without matches beside a new checkpoint, as ids begin anew; "
                f"{self.name} has some\n  hint: empty it, or go on with the checkpoint that they are of"
            )

    def _check_schema(self, connection: Any) -> None:
        """Refuse a schema in which no table can be made: changes are written to one beside."""
        named = "to_regnamespace(?)" if self._schema else "quote_ident(current_schema())::regnamespace"
        asked = connection.prepareStatement(_SCHEMA.format(named))
        for number in range(2 * len(self._schema)):
            asked.setString(number + 1, quoted_name(self._schema[0]))
        found = asked.executeQuery()
        found.next()
        if found.getString(1) is None:
            raise OuzelError(f"upsert: required a schema that is there; got the table {self.name}")
        if not found.getBoolean(2):
            raise OuzelError(
                f"upsert: required the right to make tables in the schema {found.getString(1)}, as changes are "
                f"written to {self.beside} before they are applied\n  hint: GRANT CREATE ON SCHEMA"
            )

    def _check_columns(self, connection: Any, names: list[str]) -> None:
        columns = _columns(connection, self.name)
        _wants, key = columns.get(MATCH_ID, (False, False))
        missing = [name for name in names if name not in columns]
        wanted = [name for name, (is_wanted, _key) in columns.items() if is_wanted and name not in names]
        if missing or wanted:
            problem = f"lacks {listed(missing)}" if missing else f"wants values for {listed(wanted)}"
            raise OuzelError(f"upsert: required a table with the columns of the changes; {self.name} {problem}")
        if not key:
            raise OuzelError(
                f"upsert: required a key on match_id alone, by which changes are applied; {self.name} has none\n"
                f"  hint: ALTER TABLE {self.name} ADD UNIQUE ({MATCH_ID})"
            )


def _columns(connection: Any, table: str) -> dict[str, tuple[bool, bool]]:
    """The columns of a table, whether they want a value, and whether each is a key; none without it."""
    asked = connection.prepareStatement(_COLUMNS)
    asked.setString(1, table)
    found, columns = asked.executeQuery(), {}
    while found.next():
        columns[str(found.getString(1))] = bool(found.getBoolean(2)), bool(found.getBoolean(3))
    return columns


def beside(name: str) -> str:
    """The name of the table beside one, which is another name also where it has to be cut.

    >>> beside("thefts")
    'thefts__ouzel'
    """
    if len((name + BESIDE).encode()) <= LONGEST:
        return name + BESIDE
    end = f"_{sha256(name.encode()).hexdigest()[:16]}{BESIDE}"
    return name.encode()[: LONGEST - len(end)].decode(errors="ignore") + end


def quoted(names: Iterable[str]) -> str:
    """The name of a table, perhaps with that of its schema before it, in quotes.

    >>> quoted(["shop", "thefts"])
    '"shop"."thefts"'
    """
    return ".".join(map(quoted_name, names))


def quoted_name(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'
