"""Changes of matches in PostgreSQL: Spark writes them to a table beside, and one transaction applies them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from ouzel.errors import OuzelError, listed
from ouzel.runtimes.op_column import INSERT, WITHDRAW
from ouzel.runtimes.reported import MATCH_ID, OP
from ouzel.runtimes.spark.columns import backquoted
from ouzel.runtimes.spark.connectors import POSTGRES_DRIVER, postgres_jars
from ouzel.runtimes.spark.watching import is_connect

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

SCHEME = "jdbc:postgresql:"
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


def is_postgres(place: str) -> bool:
    """Whether a place is a database of PostgreSQL."""
    return place.startswith(SCHEME)


class Postgres:
    """A table, by its name or SCHEMA.NAME; it is made when the first changes come, if it is not there."""

    def __init__(self, url: str, table: str, options: dict[str, Any]) -> None:
        """`options` are those of the connection: `user`, `password`, and whatever the driver knows."""
        self.url = url
        self.options = {name: str(value) for name, value in options.items()}
        self._names = table.split(".")
        self.table, self.beside = quoted(table), quoted(".".join([*self._names[:-1], beside(self._names[-1])]))

    def check(self, changes: DataFrame) -> None:
        """Find the driver, connect, and look whether the table can take changes, if it is there."""
        session = changes.sparkSession
        if is_connect(session):
            raise OuzelError("upsert: not to be had over Spark Connect\n  hint: write a change log, and apply it")
        for name in (*self._names, *changes.columns):
            if len(name.encode()) > LONGEST:
                raise OuzelError(
                    f"upsert: required names of at most {LONGEST} bytes, as PostgreSQL has; got '{name}'"
                )
        with self._connected(session) as connection:
            self._check_schema(connection)
            if self._is_there(connection):
                self._check_table(connection, [name for name in changes.columns if name != OP])

    def _check_schema(self, connection: Any) -> None:
        """Refuse a schema in which no table can be made: changes are written to one beside."""
        *schema, _name = self._names
        named = "to_regnamespace(?)" if schema else "quote_ident(current_schema())::regnamespace"
        asked = connection.prepareStatement(_SCHEMA.format(named))
        for number in range(2 * len(schema)):
            asked.setString(number + 1, quoted_name(schema[0]))
        found = asked.executeQuery()
        found.next()
        if found.getString(1) is None:
            raise OuzelError(f"upsert: required a schema that is there; got the table {self.table}")
        if not found.getBoolean(2):
            raise OuzelError(
                f"upsert: required the right to make tables in the schema {found.getString(1)}, as changes are "
                f"written to {self.beside} before they are applied\n  hint: GRANT CREATE ON SCHEMA"
            )

    def _check_table(self, connection: Any, names: list[str]) -> None:
        asked = connection.prepareStatement(_COLUMNS)
        asked.setString(1, self.table)
        found, columns, key = asked.executeQuery(), {}, False
        while found.next():
            columns[str(found.getString(1))] = bool(found.getBoolean(2))
            key |= str(found.getString(1)) == MATCH_ID and bool(found.getBoolean(3))
        missing = [name for name in names if name not in columns]
        wanted = [name for name, is_wanted in columns.items() if is_wanted and name not in names]
        if missing or wanted:
            problem = f"lacks {listed(missing)}" if missing else f"wants values for {listed(wanted)}"
            raise OuzelError(f"upsert: required a table with the columns of the changes; {self.table} {problem}")
        if not key:
            raise OuzelError(
                f"upsert: required a key on match_id alone, by which changes are applied; {self.table} has none\n"
                f"  hint: ALTER TABLE {self.table} ADD UNIQUE ({MATCH_ID})"
            )

    def __call__(self, changes: DataFrame, batch: int) -> None:  # noqa: ARG002
        """Apply the changes of a micro-batch."""
        flat = changes.select([flattened(field.name, field.dataType) for field in changes.schema])
        properties = {**self.options, "driver": POSTGRES_DRIVER}
        try:
            flat.write.mode("overwrite").jdbc(self.url, self.beside, properties=properties)
        except Py4JJavaError as error:
            raise OuzelError(f"PostgreSQL, table {self.beside}: {_root(error.java_exception)}") from error
        with self._connected(changes.sparkSession) as connection:
            connection.setAutoCommit(False)
            statement = connection.createStatement()
            for sql in self._statements(changes.columns, is_new=not self._is_there(connection)):
                statement.execute(sql)
            connection.commit()

    def _is_there(self, connection: Any) -> bool:
        asked = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")
        asked.setString(1, self.table)
        found = asked.executeQuery()
        found.next()
        return bool(found.getBoolean(1))

    def _statements(self, names: list[str], *, is_new: bool) -> Iterator[str]:
        """What applies the changes; a task that was tried again may have written some of them twice."""
        table, beside, key = self.table, self.beside, quoted_name(MATCH_ID)
        columns = ", ".join(quoted_name(name) for name in names if name != OP)
        if is_new:
            yield f"CREATE TABLE {table} AS SELECT {columns} FROM {beside} LIMIT 0"  # noqa: S608 - names are quoted
            yield f"ALTER TABLE {table} ADD PRIMARY KEY ({key})"
        new = f"SELECT DISTINCT ON ({key}) {columns} FROM {beside} WHERE {OP} = {INSERT}"  # noqa: S608
        yield f"INSERT INTO {table} ({columns}) {new} ON CONFLICT ({key}) DO NOTHING"
        gone = f"SELECT {key} FROM {beside} WHERE {OP} = {WITHDRAW}"  # noqa: S608
        yield f"DELETE FROM {table} WHERE {key} IN ({gone})"  # noqa: S608
        yield f"DROP TABLE {beside}"

    @contextmanager
    def _connected(self, session: Any) -> Iterator[Any]:
        """A connection of the driver's, in Java; what is not committed is undone."""
        properties = session._jvm.java.util.Properties()
        for name, value in self.options.items():
            properties.setProperty(name, value)
        try:
            connection = _driver(session).connect(self.url, properties)
        except Py4JJavaError as error:
            why = error.java_exception.getMessage()
            raise OuzelError(f"'{self.url.partition('?')[0]}': cannot connect: {why}") from None
        try:
            yield connection
        except Py4JJavaError as error:
            raise OuzelError(f"PostgreSQL, table {self.table}: {error.java_exception.getMessage()}") from None
        finally:
            connection.close()


def _root(error: Any) -> str:
    """What an exception of Java's comes of."""
    while (cause := error.getCause()) is not None:
        error = cause
    return str(error.getMessage())


def _driver(session: Any) -> Any:
    """The driver, from the session's own packages or fetched now."""
    loader = session._jsparkSession.sharedState().jarClassLoader()
    try:
        found = loader.loadClass(POSTGRES_DRIVER)
    except Py4JJavaError:
        for path in postgres_jars():
            session._jsparkSession.sessionState().resourceLoader().addJar(str(path))
        found = loader.loadClass(POSTGRES_DRIVER)
    gateway, jvm = session.sparkContext._gateway, session._jvm
    made = found.getDeclaredConstructor(gateway.new_array(jvm.java.lang.Class, 0))
    return made.newInstance(gateway.new_array(jvm.java.lang.Object, 0))


def flattened(name: str, kind: DataType) -> Column:
    """A column as a database takes it: what has fields becomes a text in JSON."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import ArrayType, MapType, StructType

    column, inner = f.col(backquoted(name)), kind
    while isinstance(inner, ArrayType):
        inner = inner.elementType
    if not isinstance(inner, MapType | StructType):
        return column
    return f.to_json(column, {"ignoreNullFields": "false"}).alias(name)


def beside(name: str) -> str:
    """The name of the table beside one, which is another name also where it has to be cut.

    >>> beside("thefts")
    'thefts__ouzel'
    """
    if len((name + BESIDE).encode()) <= LONGEST:
        return name + BESIDE
    end = f"_{sha256(name.encode()).hexdigest()[:16]}{BESIDE}"
    return name.encode()[: LONGEST - len(end)].decode(errors="ignore") + end


def quoted(table: str) -> str:
    """The name of a table, perhaps with that of its schema before it, in quotes.

    >>> quoted("shop.thefts")
    '"shop"."thefts"'
    """
    return ".".join(map(quoted_name, table.split(".")))


def quoted_name(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'
