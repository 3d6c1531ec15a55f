"""The scan's plan, from the bottom to the top of SASE's Figure 6: scan, construction, negation, transformation."""

from __future__ import annotations

from ouzel.explain.formulas import formula, mask, placed_first, same_partition, term, within
from ouzel.explain.layout import Entry, Placed, columns
from ouzel.explain.words import output_words
from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Explained
from ouzel.physical.scan.shape import Negative, Shape


def explained(query: BoundQuery, shape: Shape) -> Explained:
    """The sections of the plan; the conditions, each with the one place where it went."""
    sections = [
        ("scan", _scan(query, shape)),
        ("construct", _construct(query, shape)),
        ("negation", columns([_refutation(query, shape, negative) for negative in shape.negatives])),
        ("transform", _transform(query)),
    ]
    return Explained(sections, _placed(query, shape))


def _scan(query: BoundQuery, shape: Shape) -> list[str]:
    """Sequence scan: which events are pushed onto which stack (SASE 4.1 to 4.3)."""
    keys = ", ".join(test.attribute for test in query.equivalences)
    head = "stacks of events" if shape.length > 1 else "event by event"
    head += f", apart for each value of {keys} (PAIS):" if keys else ":"
    positives = [one.variable for one in shape.positives]
    entries: list[Entry] = []
    for component in query.components:
        variable, terms = component.variable, [mask(query, component)]
        if component.negative:
            goal = "noted, to refute"
        elif variable == positives[-1]:
            goal = "construct"
        else:
            level = positives.index(variable)
            goal = f"stack of {variable}"
            # nothing below the event, nothing to construct (SASE 4.3, windows in the scan)
            before = f"stack of {positives[level - 1]} has an event"
            terms += [" ".join([before, *within(query)])] if level > 0 else []
        entries.append((f"{variable} -> {goal}", formula(terms)))
    return [head, *columns(entries)]


def _construct(query: BoundQuery, shape: Shape) -> list[str]:
    """Sequence construction: the last component, then a loop for each from the first on, and what each decides."""
    names, last = [one.variable for one in shape.positives], shape.length - 1
    entries: list[Entry] = []
    for level in (last, *range(last)):
        terms = ["the event just scanned"]
        if level < last:
            # what comes after the first is near enough if that is
            after = [f"after {names[level - 1]}"] if level else []
            terms = [*after, f"before {names[-1]}", *([] if level else within(query, f" of {names[-1]}"))]
        terms += [term(c) for c in shape.conjuncts if shape.decided(shape.levels(c)) == level]
        for negative in shape.inner:
            if shape.decided(shape.negative_levels(negative)) == level:
                terms.append(_where(shape, negative))
        entries.append((f"bind {names[level]}", formula(terms)))
    along = ", from the first on along the stacks" if last else ""
    return [f"for every event that can be the last{along}:", *columns(entries)]


def _where(shape: Shape, negative: Negative) -> str:
    """A negative component and its neighbours."""
    names, gap = [one.variable for one in shape.positives], negative.gap
    variable = negative.component.variable
    if gap == 0:
        return f"no {variable} before {names[0]}"
    if gap == shape.length:
        return f"no {variable} after {names[-1]}"
    return f"no {variable} between {names[gap - 1]} and {names[gap]}"


def _refutation(query: BoundQuery, shape: Shape, negative: Negative) -> Entry:
    """Which events refute a sequence, and when that is decided: at the end of the pattern, late (SASE 3.3)."""
    terms = [mask(query, negative.component), *same_partition(query)]
    terms += [term(conjunct) for conjunct in negative.conjuncts]
    if negative.gap == shape.length:
        terms += within(query, f" of {shape.positives[0].variable}")
        when = "postponed until the window has passed"
    else:
        terms += within(query, f" of {shape.positives[-1].variable}") if negative.gap == 0 else []
        deciding = shape.positives[shape.decided(shape.negative_levels(negative))]
        when = f"decided in construct, as {deciding.variable} is bound"
    return _where(shape, negative), [*formula(terms), when]


def _transform(query: BoundQuery) -> list[str]:
    apart = "that do not overlap " if query.non_overlap else ""
    goal = "are added up" if query.aggregates else "become rows"
    return [f"sequences {apart}{goal}: {output_words(query)}"]


def _placed(query: BoundQuery, shape: Shape) -> Placed:
    refuting = {id(c): negative for negative in shape.negatives for c in negative.conjuncts}
    placed = placed_first(query, "scan: each partition has stacks of its own")
    for conjunct in query.conjuncts:
        if conjunct.component is None:
            continue
        if conjunct.is_single:
            place = f"scan: mask of {conjunct.component.variable}, once per event"
        elif id(conjunct) in refuting:
            late = refuting[id(conjunct)].gap == shape.length
            place = f"negation of {conjunct.component.variable}, {'postponed' if late else 'in construct'}"
        else:
            place = f"construct: as {shape.positives[shape.decided(shape.levels(conjunct))].variable} is bound"
        placed.append((conjunct.text, place))
    edges = any(negative.gap in (0, shape.length) for negative in shape.negatives)
    return placed + [(text, "scan and construct" + (", and negation" if edges else "")) for text in within(query)]
