"""Changes of matches in PostgreSQL: Spark writes them to a table beside, and one transaction applies them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from ouzel.errors import OuzelError
from ouzel.runtimes.op_column import INSERT, WITHDRAW
from ouzel.runtimes.reported import MATCH_ID, OP
from ouzel.runtimes.spark.columns import backquoted
from ouzel.runtimes.spark.connectors import POSTGRES_DRIVER, postgres_jars
from ouzel.runtimes.spark.postgres_table import Table, quoted_name
from ouzel.runtimes.spark.watching import is_connect

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

SCHEME = "jdbc:postgresql:"


def is_postgres(place: str) -> bool:
    """Whether a place is a database of PostgreSQL."""
    return place.startswith(SCHEME)


class Postgres:
    """A table, by its name or SCHEMA.NAME; it is made when the first changes come, if it is not there."""

    def __init__(self, url: str, table: str, options: dict[str, Any]) -> None:
        """`options` are those of the connection: `user`, `password`, and whatever the driver knows."""
        self.url = url
        self.options = {name: str(value) for name, value in options.items()}
        self.table = Table(table)

    def check(self, changes: DataFrame, *, begins: bool = False) -> None:
        """Find the driver, connect, look whether the table can take changes, and make it if it is not there.

        Where a stream begins, ids do too: there must be none in the table.
        """
        session = changes.sparkSession
        if is_connect(session):
            raise OuzelError("upsert: not to be had over Spark Connect\n  hint: write a change log, and apply it")
        self.table.check_names(changes.columns)
        with self._connected(session) as connection:
            self.table.check(connection, changes.columns)
        # whether types suit is best seen by trying
        self._apply(session.createDataFrame([], changes.schema))
        if begins:
            with self._connected(session) as connection:
                self.table.check_is_empty(connection)

    def __call__(self, changes: DataFrame, batch: int) -> None:  # noqa: ARG002
        """Apply the changes of a micro-batch."""
        self._apply(changes)

    def _apply(self, changes: DataFrame) -> None:
        flat = changes.select([flattened(field.name, field.dataType) for field in changes.schema])
        properties = {**self.options, "driver": POSTGRES_DRIVER}
        try:
            flat.write.mode("overwrite").jdbc(self.url, self.table.beside, properties=properties)
        except Py4JJavaError as error:
            raise OuzelError(f"PostgreSQL, table {self.table.beside}: {_root(error.java_exception)}") from error
        with self._connected(changes.sparkSession) as connection:
            connection.setAutoCommit(False)
            statement = connection.createStatement()
            for sql in self._statements(changes.columns, is_new=not self.table.is_there(connection)):
                statement.execute(sql)
            connection.commit()

    def _statements(self, names: list[str], *, is_new: bool) -> Iterator[str]:
        """What applies the changes; a task that was tried again may have written some of them twice."""
        table, beside, key = self.table.name, self.table.beside, quoted_name(MATCH_ID)
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
            raise OuzelError(f"PostgreSQL, table {self.table.name}: {error.java_exception.getMessage()}") from None
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
