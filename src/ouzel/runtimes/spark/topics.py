"""Kafka topics, as users write them: kafka://HOST:PORT,…/TOPIC?OPTION=VALUE&…."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from ouzel.errors import OuzelError

SCHEME = "kafka://"


@dataclass(frozen=True)
class Topic:
    """A topic at some brokers, and Spark's options for it."""

    servers: str
    name: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def broker(self) -> dict[str, str]:
        """What Spark's connector must be told to find the brokers, and what else the user said."""
        return {"kafka.bootstrap.servers": self.servers, **self.options}


def topic_of(place: str) -> Topic | None:
    """The topic that a place names; None if it names something else.

    >>> topic_of("kafka://localhost:9092/readings?startingOffsets=latest")
    Topic(servers='localhost:9092', name='readings', options={'startingOffsets': 'latest'})
    >>> topic_of("readings.parquet")
    """
    if not place.startswith(SCHEME):
        return None
    found = re.fullmatch(r"([^/?]+)/([\w.-]+)(?:\?(.*))?", place.removeprefix(SCHEME))
    if found is None:
        raise OuzelError(f"'{place}': required kafka://HOST:PORT/TOPIC, or several HOST:PORT with commas between")
    return Topic(found[1], found[2], dict(parse_qsl(found[3] or "")))
