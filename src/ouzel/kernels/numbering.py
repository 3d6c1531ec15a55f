"""Numbers for what events belong to: keys of partitions, positions within them, matches that stand apart."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def number_keys(keys: Array, values: Array, count: int, slots: Array, numbers: Array) -> int:
    """Number integer keys in the order of their appearance, and tell how many there are then.

    `values` are the `count` keys known so far, with room for the new ones.  `slots` is a hash table whose length
    is a power of two: slots hold numbers, -1 if they are free, and some are free.
    """
    mask = len(slots) - 1
    for i in range(len(keys)):
        value = keys[i]
        # all steps stay within 63 bits, compiled or not
        h = value ^ (value >> 31)
        h = (h & 0x7FFFFFFF) * 0x5BD1E995
        h = (h ^ (h >> 29)) & mask
        while slots[h] >= 0 and values[slots[h]] != value:
            h = (h + 1) & mask
        if slots[h] < 0:
            slots[h] = count
            values[count] = value
            count += 1
        numbers[i] = slots[h]
    return count


def flagged(numbers: Array, flags: Array, places: Array) -> int:
    """Fill `places` with those of the numbers for whose last bits a flag is set, and tell how many they are.

    There are as many flags as some power of two.
    """
    mask = len(flags) - 1
    count = 0
    for i in range(len(numbers)):
        if flags[np.uint64(numbers[i] & mask)]:
            places[count] = i
            count += 1
    return count


def order_by_number(numbers: Array, least: int, edges: Array, places: Array) -> None:
    """Fill `places` with the places of the numbers in order, those of equal ones as they come.

    `edges` are zeros, two more than from the least number to the greatest.
    """
    for i in range(len(numbers)):
        edges[np.uint64(numbers[i] - least + 1)] += 1
    for k in range(1, len(edges)):
        edges[k] += edges[k - 1]
    for i in range(len(numbers)):
        number = np.uint64(numbers[i] - least)
        places[np.uint64(edges[number])] = i
        edges[number] += 1


def number_positions(
    moments: Array, parts: Array, seen: Array, over: Array, latest: Array, positions: Array
) -> None:
    """Fill in how many events of an event's partition are over before it: those of one moment are in one position.

    Events come in order of their moments; one in partition -1 is in none.  Of each partition, `seen` is the number
    of events so far, `latest` the moment of the latest and `over` how many there were before that moment.
    """
    for i in range(len(moments)):
        p = parts[i]
        if p < 0:
            positions[i] = 0
            continue
        if moments[i] != latest[p]:
            latest[p] = moments[i]
            over[p] = seen[p]
        positions[i] = over[p]
        seen[p] += 1


def mark_apart(order: Array, parts: Array, until: Array, starts: Array, ends: Array) -> Array:
    """Which matches start after the end of the last one kept in their partition, when they are tried in an order.

    `until` are those ends by partition, which grow.
    """
    keep = np.zeros(len(order), np.bool_)
    for k in order:
        p = parts[k]
        if until[p] < starts[k]:
            keep[k] = True
            until[p] = ends[k]
    return keep


def are_well_counted(
    order: Array,
    parts: Array,
    numbers: Array,
    times: Array,
    tails: Array,
    known_numbers: Array,
    known_times: Array,
    before: Array,
) -> bool:
    """Whether no number of an event is taken in its partition, and all agree with the order of times.

    `order` are the events by partition, in each the greatest number first.  What is known of a partition are
    moments that lead from its tail to those `before`.
    """
    for i in range(len(order)):
        e = order[i]
        if i == 0 or parts[order[i - 1]] != parts[e]:
            p = tails[parts[e]] if parts[e] < len(tails) else -1
            k = -1
        else:
            f = order[i - 1]
            if numbers[f] == numbers[e] or times[f] < times[e]:
                return False
        while p >= 0 and known_numbers[p] > numbers[e]:
            k = p
            p = before[p]
        if p >= 0 and (known_numbers[p] == numbers[e] or known_times[p] > times[e]):
            return False
        if k >= 0 and known_times[k] < times[e]:
            return False
    return True
