"""What `oz.match` takes besides tables: paths, lazy frames, and whatever streams Arrow."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import ouzel as oz

QUERY = "PATTERN SEQ(A a, B b) WHERE a.x < b.x RETURN a.x AS low, b.x AS high"
TABLE = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"], "x": [5, 7, 1]})
FOUND = [{"low": 5, "high": 7}]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.parquet.write_table(TABLE, "events.parquet")
    pyarrow.csv.write_csv(TABLE, "events.csv")
    lines = "".join(f"{row}\n".replace("'", '"') for row in TABLE.to_pylist())
    Path("events.jsonl").write_text(lines)
    with gzip.open("zipped.csv.gz", "wt") as file:
        file.write(Path("events.csv").read_text())
    for name, part in (("a", TABLE.slice(0, 1)), ("b", TABLE.slice(1))):
        for folder in ("parquet", "csv"):
            Path(folder).mkdir(exist_ok=True)
        pyarrow.parquet.write_table(part, f"parquet/{name}.parquet")
        pyarrow.csv.write_csv(part, f"csv/{name}.csv")


@pytest.mark.parametrize(
    "path",
    [
        "events.parquet",
        "events.csv",
        "events.jsonl",
        "zipped.csv.gz",
        "parquet",
        "csv",
        "csv/*.csv",
        "parquet/?.parquet",
    ],
)
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path(path: str, kind: type) -> None:
    found = oz.match(kind(path), QUERY)
    assert isinstance(found, pa.Table)
    assert found.to_pylist() == FOUND


def test_paths_by_type() -> None:
    pyarrow.csv.write_csv(TABLE.slice(0, 1).drop("type"), "a.csv")
    found = oz.match({"A": "a.csv", "B": TABLE.slice(1).drop("type")}, QUERY)
    assert found.to_pylist() == FOUND


def test_a_path_is_explained_and_compressed() -> None:
    assert oz.query(QUERY).explain("events.csv") == oz.query(QUERY).explain(TABLE)
    assert oz.match("events.csv", "PATTERN SEQ(A a, B+ b[]) RETURN a.x", mode="compressed").expand().num_rows == 3


def test_a_lazy_frame() -> None:
    lazy = pl.LazyFrame(TABLE.to_pydict()).with_columns(pl.col("type").cast(pl.Categorical))
    found = oz.match(lazy, QUERY)
    assert isinstance(found, pl.DataFrame)
    assert found.to_dicts() == FOUND


class Stream:
    """Something that gives Arrow streams, and nothing else."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


def test_whatever_streams_arrow() -> None:
    found = oz.match(Stream(), QUERY)
    assert isinstance(found, pa.Table)
    assert found.to_pylist() == FOUND
    assert (
        oz.match(pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches()), QUERY).to_pylist() == FOUND
    )


# ---- what cannot be read -------------------------------------------------------------------------------


def refused(path: str, error: type[Exception] = oz.DataError, text: str = QUERY, **options: Any) -> str:
    with pytest.raises(error) as raised:
        oz.match(path, text, **options)
    assert type(raised.value) is error
    return str(raised.value)


def test_no_such_file() -> None:
    assert "nowhere.csv" in refused("nowhere.csv", FileNotFoundError)
    assert "no/*.csv" in refused("no/*.csv", FileNotFoundError)
    Path("events.txt").write_text("")
    assert refused("events.txt", oz.SchemaError).startswith("'events.txt': required a name that ends in .parquet")


def test_lines_are_those_of_an_editor() -> None:
    Path("bad.csv").write_text('ts,type,x\n1,A,"two\nlines"\n\nsoon,B,7\n')
    assert refused("bad.csv").startswith("line 5, column 'ts': required a time; got 'soon'")
    Path("bad.csv").write_text('ts,type,x\n1,A,"two\nlines"\n2,B\n')
    assert "'bad.csv' cannot be read: line 4: CSV parse error: Expected 3 columns, got 2" in refused("bad.csv")
    Path("bad.jsonl").write_text('\n{"ts": 1}\n\n{"ts": null}\n')
    assert refused("bad.jsonl", text="PATTERN a").startswith("line 4, column 'ts': the event has no time")
    Path("bad.jsonl").write_text('\n{"ts": 1}\n\n{"ts": \n')
    assert "'bad.jsonl' cannot be read: line 4: JSON parse error" in refused("bad.jsonl")
    Path("bad.jsonl").write_text('\n{"ts": 1}\n\n{"ts": "x"}\n')
    assert "'bad.jsonl' cannot be read: line 4: JSON parse error" in refused("bad.jsonl")


def test_lines_of_several_files() -> None:
    Path("csv/c.csv").write_text("ts,type,x\n4,B,9\nlater,A,1\n")
    assert refused("csv").startswith("line 3 of 'csv/c.csv', column 'ts': required a time; got 'later'")
    Path("csv/c.csv").write_text("ts,type,y\n4,B,9\n")
    assert refused("csv", oz.SchemaError).startswith(
        "'csv/c.csv': required the columns of 'csv/a.csv', ts, type, x;"
    )


def test_types_of_several_files_are_brought_together() -> None:
    Path("csv/c.csv").write_text("ts,type,x\n4,B,9.5\n")
    assert oz.match("csv", QUERY).to_pylist() == [{"low": 5.0, "high": 7.0}, {"low": 5.0, "high": 9.5}]
    Path("csv/c.csv").write_text("ts,type,x\n4,B,many\n")
    assert "required one type per column" in refused("csv", oz.SchemaError)


@pytest.mark.parametrize("text", ["ts,type,x\n1,A,Müller\n", "ts,type,xü\n1,A,1\n"], ids=["a value", "a name"])
def test_an_encoding(text: str) -> None:
    Path("latin.csv").write_bytes(text.encode("latin-1"))
    message = refused("latin.csv")
    assert message.startswith("'latin.csv' is not in UTF-8: ")
    assert message.endswith("hint: say how it is written, for example encoding='latin-1'")
    Path("wide.csv").write_bytes(text.encode("utf-16"))
    assert "encoding" in refused("wide.csv")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_delimiter(delimiter: str) -> None:
    Path("other.csv").write_text(Path("events.csv").read_text().replace(",", delimiter))
    message = refused("other.csv")
    assert message.startswith("'other.csv' has one column, 'ts")
    assert message.endswith(f"hint: say how they are delimited: delimiter={delimiter!r}")


HEAD = "ts,type,x\n1,A,one\n"


@pytest.mark.parametrize("name", ["quotes.csv", "quotes.csv.gz"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('2,B,"two\n3,B,three\n', 3),
        ('2,B,"two\n3,B,""three""\n', 3),
        ('2,"B,two\n3,B,three\n', 3),
        ('2,B,"t\nwo"\n3,B,"three\n' + "4,B,four\n" * 200_000, 5),
    ],
)
def test_a_quote_without_an_end(text: str, line: int, name: str) -> None:
    content = (HEAD + text).encode()
    Path(name).write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    assert refused(name).startswith(
        f"'{name}' cannot be read: line {line}: a quote without an end\n  hint: close it"
    )


def test_a_quote_where_a_file_was_cut() -> None:
    Path("cut.csv").write_text(HEAD + '2,B,"tw')
    assert "line 3: a quote without an end" in refused("cut.csv")


@pytest.mark.parametrize("last", ['"', 'a"', '"a', "", "a\nb\n", '\n"\n"', "5 in"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_quotes_with_an_end(last: str, end: str) -> None:
    doubled = last.replace('"', '""')
    Path("quoted.csv").write_bytes((HEAD + f'2,B,"{doubled}"{end}').encode())
    found = oz.match("quoted.csv", "PATTERN B b RETURN b.x")
    assert found.to_pylist() == [{"x": last}]


def test_a_quote_within_a_field() -> None:
    Path("inches.csv").write_text(HEAD + '2,B,5" wide\n')
    assert oz.match("inches.csv", "PATTERN B b RETURN b.x").to_pylist() == [{"x": '5" wide'}]


def test_json_lines_in_another_encoding() -> None:
    Path("latin.jsonl").write_bytes('{"ts": 1, "type": "A", "x": "Müller"}\n'.encode("latin-1"))
    message = refused("latin.jsonl")
    assert message.startswith("'latin.jsonl' is not in UTF-8: ")
    assert message.endswith("hint: say how it is written, for example encoding='latin-1'")


def test_a_directory_of_compressed_files() -> None:
    Path("zipped").mkdir()
    Path("zipped.csv.gz").rename("zipped/part.csv.gz")
    assert oz.match("zipped", QUERY).to_pylist() == FOUND
    Path("zipped/events.jsonl").write_text("{}")
    assert "required files of one format in the directory" in refused("zipped", oz.SchemaError)


@pytest.mark.parametrize("other", ["b.jsonl", "b.parquet"])
def test_a_directory_of_several_formats(other: str) -> None:
    """None of the files is left out in silence."""
    Path("mixed/below").mkdir(parents=True)
    Path("events.csv").rename("mixed/a.csv")
    Path("events").with_suffix(Path(other).suffix).rename(Path("mixed/below", other))
    message = refused("mixed", oz.SchemaError)
    assert message.startswith("'mixed': required files of one format in the directory; got csv (a.csv) and ")
    assert other in message
    assert "hint: name those of one format by a pattern: 'mixed/**/*.csv'" in message
    assert oz.match("mixed/**/*.csv", QUERY).to_pylist() == FOUND


def test_compressed_parquet_is_refused_by_name() -> None:
    """Parquet files are compressed within: gzip around one is nothing that can be read."""
    Path("zipped").mkdir()
    Path("zipped/part.parquet.gz").write_bytes(gzip.compress(Path("events.parquet").read_bytes()))
    for path in ("zipped", "zipped/part.parquet.gz"):
        message = refused(path, oz.SchemaError)
        assert message.startswith("'zipped/part.parquet.gz': required Parquet as it is, not in gzip")
        assert "hint: unpack it with gunzip" in message


LONG = '"' + "y" * 200_000 + '"'


def test_a_long_field_beside_an_error() -> None:
    """Where the line cannot be told, what is wrong can."""
    Path("long.csv").write_text(f"ts,type,x\n1,A,{LONG}\n2,B,3,4\n")
    assert "'long.csv' cannot be read: CSV parse error: Expected 3 columns, got 4" in refused("long.csv")
    Path("long.csv").write_text(f"ts,type,x\n1,A,{LONG}\nsoon,B,3\n")
    assert refused("long.csv").startswith("row 1, column 'ts': required a time; got 'soon'")


def test_text_that_the_csv_module_reads_otherwise() -> None:
    """No line is told then."""
    Path("odd.csv").write_text('ts,type,x\n1,A,"a"b,"\n2,3,4"\n')
    assert "'odd.csv' cannot be read: " in refused("odd.csv")


@pytest.mark.parametrize("kept", [0, 10, 300, -100])
def test_a_parquet_file_that_is_not_whole(kept: int, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pa.parquet.write_table(pa.table({"ts": range(100), "type": ["A", "B"] * 50}), path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(oz.DataError) as error:
        oz.match(path, "PATTERN A a; B b")
    assert "events.parquet' cannot be read: " in str(error.value)
    assert str(error.value).endswith(
        "hint: write the file anew: it is empty, cut short, damaged, or of another format"
    )
