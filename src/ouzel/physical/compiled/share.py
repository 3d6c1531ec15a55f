"""How threads share the events of a table, or its partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from functools import partial
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

from ouzel.physical import recycled, stoppable
from ouzel.physical.worker import in_background

Integers = np.ndarray[tuple[int], np.dtype[np.int64]]
Array = np.ndarray[Any, Any]
Item = TypeVar("Item")
Result = TypeVar("Result")

# Below so many events, a second thread costs more than it saves; a mere pass over values takes more of them.
PARALLEL_FROM, PASS = 50_000, 2.5


def in_threads(work: Callable[[int, int], Result], count: int, threads: int) -> list[Result]:
    """Do the work for ranges of `count` events, each in a thread of its own; the results in order."""
    threads = min(threads, count)  # of several ranges none is empty
    if threads < 2 or count < PARALLEL_FROM * PASS:
        return [work(0, count)]
    edges = [count * k // threads for k in range(threads + 1)]
    return each_in_a_thread(lambda ends: work(*ends), list(pairwise(edges)))


def picked(values: Array, places: Integers, threads: int) -> Array:
    """The values at some places, all of which there are; threads share the work."""
    if threads < 2 or len(places) < PARALLEL_FROM * PASS:
        return recycled.picked(values, places)  # type: ignore[no-any-return]
    out: Array = recycled.recycled(len(places), values.dtype)

    def pick(begin: int, end: int) -> None:
        # to clip places is faster than to check them
        np.take(values, places[begin:end], out=out[begin:end], mode="clip")

    in_threads(pick, len(places), threads)
    return out


def each_in_a_thread(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Do the work for each item in a thread of its own; the results in order.  If one fails, all are stopped.

    The first is done here, and the threads for the others are kept: to start them takes as long as some work does.
    """
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    done: SimpleQueue[None] = SimpleQueue()

    def do(number: int, context: Context) -> None:
        try:
            results[number] = context.run(work, items[number])
        except BaseException as error:
            errors.append(error)
            context.run(stoppable.stop)
        finally:
            done.put(None)

    try:
        for number in range(1, len(items)):
            in_background(partial(do, number, copy_context()))
        do(0, copy_context())
        for _ in items:
            done.get()
        if errors:
            # those that were only told to stop do not say why
            raise min(errors, key=lambda error: isinstance(error, stoppable.StoppedError))
        return [results[number] for number in range(len(items))]
    except BaseException:
        stoppable.stop()
        raise
    finally:
        errors.clear()  # an error knows its frames, and must not be known to one of them


def split_evenly(begins: Integers, parts: int) -> list[tuple[int, int]]:
    """Ranges of partitions with about as many events each; `begins` is where the events of each begin.

    >>> split_evenly(np.array([0, 10, 11, 12, 20]), 2)
    [(0, 1), (1, 4)]
    """
    wanted = begins[-1] * np.arange(1, parts) // parts
    inner = np.unique(np.searchsorted(begins, wanted))
    edges = [0, *(int(edge) for edge in inner if 0 < edge < len(begins) - 1), len(begins) - 1]
    return list(pairwise(edges))
