"""Buckets are called so that Spark's own hash spreads them evenly over tasks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import ouzel as oz
from ouzel.runtimes.spark.spreading import EVEN_FOR, bucket_keys, spark_hash


def test_the_hash_is_spark_s(spark: SparkSession) -> None:
    values = [0, 1, 7, 12_345, 2**31 - 1]
    rows = spark.createDataFrame([(value,) for value in values], "value int").select(f.hash("value")).collect()
    assert spark_hash(np.array(values, np.uint32)).tolist() == [row[0] for row in rows]


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 8, 200])
@pytest.mark.parametrize("buckets", [1, 2, 8, 24, 600])
def test_tasks_get_equal_shares(tasks: int, buckets: int) -> None:
    shares = Counter((spark_hash(np.array(bucket_keys(buckets), np.uint32)) % tasks).tolist())
    assert max(shares.values()) == -(-buckets // tasks)


def test_spark_shuffles_as_foreseen(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(key,) for key in bucket_keys(8)], "bucket int").repartition(2, "bucket")
    assert sorted(row[1] for row in rows.groupBy(f.spark_partition_id()).count().collect()) == [4, 4]


def test_no_two_buckets_have_one_name() -> None:
    assert len(set(bucket_keys(EVEN_FOR))) == EVEN_FOR


def test_more_buckets_than_there_are_names_for_are_refused() -> None:
    with pytest.raises(oz.OuzelError, match="buckets: required 9600 at the most; got 9601"):
        oz.SparkOptions(buckets=EVEN_FOR + 1)


def test_more_buckets_keep_the_names_of_the_first() -> None:
    assert bucket_keys(100)[:8] == bucket_keys(8)
