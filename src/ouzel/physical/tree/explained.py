"""A tree plan in words: what its leaves take, and the tree as a picture, each condition where it is decided."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.explain.formulas import formula, mask, placed_first, same_partition, term, within
from ouzel.explain.layout import Entry, Placed, columns
from ouzel.explain.words import infix, output_words
from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.pattern import Binds
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites import Rewritten
from ouzel.physical.contract import Explained
from ouzel.physical.finish.negation import Between
from ouzel.physical.tree.build import Tree
from ouzel.physical.tree.hashing import hashed_in
from ouzel.physical.tree.negation import Negated
from ouzel.physical.tree.nodes import Bar, Fill, How, Join, Kind, Leaf, Node, Union, walk

# Of so many variants trees are drawn.
MOST_DRAWN = 4


def explained(
    written: BoundQuery,
    rewritten: Rewritten,
    trees: Sequence[Tree],
    negated: Sequence[Negated],
    order: Sequence[str],
) -> Explained:
    """The sections of the plan; the conditions as they were written, each with the one place where it went."""
    query = rewritten.query
    drawn = [line for tree in trees[:MOST_DRAWN] for line in _picture(tree)]
    more = len(trees) - MOST_DRAWN
    drawn += [f"and {more} more, with other closures left empty"] if more > 0 else []
    sections = [
        ("rewritten", columns([(rule, [infix(after.pattern)]) for rule, after in rewritten.steps])),
        ("leaves", _leaves(query)),
        ("tree", [f"order of joins: {order[0]}", *order[1:], *drawn]),
        ("negation", columns([_refuted(query, one) for one in negated])),
        ("transform", _transform(query)),
    ]
    return Explained(sections, _placed(written, query, trees))


def _leaves(query: BoundQuery) -> list[str]:
    keys = ", ".join(test.attribute for test in query.equivalences)
    head = "buffers of events, in order of time" + (f", linked by {keys}:" if keys else ":")
    return [head, *columns([(one.variable, [mask(query, one)]) for one in query.components])]


def _picture(tree: Tree) -> list[str]:
    empty = ", ".join(sorted(tree.variant.empty))
    return [*([f"where {empty} has no event:"] if empty else []), *_drawn(tree.root, "", "")]


def _drawn(node: Node, before: str, below: str) -> list[str]:
    """A node with what is joined there, and its children below it."""
    conditions = " AND ".join(term(one) for one in node.conjuncts)
    looked_up = ", ".join(dict.fromkeys(f"{one.name}" for pair in hashed_in(node) for one in pair))
    lines = [f"{before}{_label(node)}" + (f"  where {conditions}" if conditions else "")]
    lines[0] += f"  (looked up by {looked_up})" if looked_up else ""
    for number, child in enumerate(node.children):
        is_last = number == len(node.children) - 1
        lines += _drawn(child, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  "))
    return lines


def _label(node: Node) -> str:
    match node:
        case Leaf(component, kind):
            return component.variable + {Kind.EVENT: "", Kind.CHAIN: "[]", Kind.STOP: ", as it ends"}[kind]
        case Join(how, groups=groups, bars=bars):
            between = [f"all {gap.group.variable} between" for gap in groups if gap.group]
            between += [f"no {_barred(bar)} between" for bar in bars]
            name = "KSEQ" if groups and how is How.SEQUENCE else "NSEQ" if bars else how.value
            return f"{name} {', '.join(between)}".rstrip()
        case Fill(group=gap):
            assert gap.group is not None
            return f"KSEQ all {gap.group.variable} before"
        case Union(parts):
            return "DIS" if len(parts) > 1 else "SELECT"


def _barred(bar: Bar) -> str:
    conditions = " AND ".join(term(one) for one in bar.conjuncts)
    return bar.component.variable + (f" where {conditions}" if conditions else "")


def _refuted(query: BoundQuery, one: Negated) -> Entry:
    terms = [mask(query, one.component), *same_partition(query), *(term(c) for c in one.conjuncts)]
    when = "decided when the match is found"
    if one.between.at_end:
        terms += within(query)
        when = "postponed until the window has passed"
    return f"no {one.component.variable} {_where(one.between)}", [*formula(terms), when]


def _where(between: Between) -> str:
    if between.around:
        return "around the match"
    before, after = " & ".join(between.before), " & ".join(between.after)
    if not before:
        return f"before {after}"
    return f"between {before} and {after}" if after else f"after {before}"


def _transform(query: BoundQuery) -> list[str]:
    apart = "that do not overlap " if query.non_overlap else ""
    goal = "are added up" if query.aggregates else "become rows"
    return [f"records of the root {apart}{goal}: {output_words(query)}"]


def _placed(written: BoundQuery, query: BoundQuery, trees: Sequence[Tree]) -> Placed:
    placed = placed_first(query, "leaves: events are linked by partition")
    left = {one.variable for one in query.components}
    for conjunct in written.conjuncts:
        gone = sorted(conjunct.variables - left)
        if gone:
            placed.append((conjunct.text, f"nowhere: {gone[0]} was rewritten"))
        elif conjunct.component is not None:
            placed.append((conjunct.text, _place(conjunct, trees)))
    return placed + [(text, "every join") for text in within(query)]


def _place(conjunct: Conjunct, trees: Sequence[Tree]) -> str:
    assert conjunct.component is not None
    if conjunct.component.binds is Binds.NONE and not conjunct.is_single:
        name = conjunct.component.variable
        is_pushed = any(
            bar.component.variable == name
            for tree in trees
            for node in walk(tree.root)
            if isinstance(node, Join)
            for bar in node.bars
        )
        return f"tree: negation of {name}, pushed down" if is_pushed else f"negation of {name}"
    if conjunct.is_single:
        return f"leaves: mask of {conjunct.component.variable}, once per event"
    for tree in trees:
        for node in walk(tree.root):
            if any(one.text == conjunct.text for one in node.conjuncts):
                names = ", ".join(one.variable for one in node.components)
                return f"tree: where {names} are joined"
    return "nowhere: what it mentions is never bound together"
