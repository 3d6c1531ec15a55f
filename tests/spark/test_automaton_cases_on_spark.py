"""Register automata on Spark: AFA's worked examples, over the events that are left in the end."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import automaton_cases
import ouzel as oz
from automaton_cases import Case
from spark_events import rows, rows_of

every_automaton = pytest.mark.parametrize("case", automaton_cases.CASES.values(), ids=automaton_cases.CASES)


@every_automaton
def test_batch(spark: SparkSession, case: Case) -> None:
    events = [tuple(event.values()) for event in automaton_cases.survivors(case)]
    frame = spark.createDataFrame(events, "eid string, ts long, dir string, drop double").repartition(2)
    found = oz.match(frame, automaton_cases.with_lives(case), type=None)
    assert found.columns == ["r1", "r2", "valid_from", "valid_to"]
    assert rows(found) == rows_of(automaton_cases.expected(case))
