"""Ways to Kafka, Avro and PostgreSQL that PySpark does not bring: from Maven's repository, in pinned versions."""

from __future__ import annotations

from pathlib import Path

import pyspark

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.jars import SPARK_HOME, Jars

_KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13"
_TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"
_AVRO = "org.apache.spark:spark-avro_2.13"
# What Spark has already, among it a Hadoop of 50 MB.
_IN_SPARK = (
    "at.yawk.lz4",
    "com.github.luben",
    "org.apache.hadoop",
    "org.lz4",
    "org.scala-lang",
    "org.slf4j",
    "org.tukaani",
    "org.xerial.snappy",
)
KAFKA_PACKAGE = f"{_KAFKA}:{pyspark.__version__}"
# A repository may lag behind PyPI: the second of each runs on Spark 4.3 too.
KAFKA = (
    Jars((KAFKA_PACKAGE,), _IN_SPARK),
    Jars((f"{_KAFKA}:4.2.0",), _IN_SPARK, forced=(f"{_TOKENS}:4.0.0",)),
)
POSTGRES = (Jars(("org.postgresql:postgresql:42.7.8",), ("org.checkerframework",)),)
POSTGRES_DRIVER = "org.postgresql.Driver"
AVRO = (Jars((f"{_AVRO}:{pyspark.__version__}",), _IN_SPARK), Jars((f"{_AVRO}:4.0.0",), _IN_SPARK))


def kafka_jars() -> list[Path]:
    """The jars with which Spark reads and writes Kafka: for the setting spark.jars."""
    return _fetched("spark-sql-kafka-0-10", KAFKA)


def avro_jars() -> list[Path]:
    """The jars with which Spark reads Avro."""
    return _fetched("spark-avro", AVRO)


def postgres_jars() -> list[Path]:
    """The jars with which Java connects to PostgreSQL."""
    return _fetched("postgresql", POSTGRES)


def _fetched(name: str, versions: tuple[Jars, ...]) -> list[Path]:
    """The jars of the first version that can be had; none if this Spark has them already."""
    if any((SPARK_HOME / "jars").glob(f"{name}_*.jar")):
        return []
    problems = []
    for jars in sorted(versions, key=lambda jars: not jars.place().is_dir()):  # those at hand first
        try:
            return jars.fetch()
        except OuzelError as error:
            problems.append(str(error))
    raise OuzelError("\n".join(problems))
