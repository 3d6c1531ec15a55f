"""The kernel of each node of a tree: what its operator does with the records of its children (ZStream 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.tree.gap_source import fill
from ouzel.physical.tree.join_source import conjunction, sequence
from ouzel.physical.tree.leaf_source import chain, union
from ouzel.physical.tree.nodes import Fill, How, Join, Leaf, Node, Union
from ouzel.physical.tree.record_writer import RecordWriter


@dataclass(frozen=True)
class Written:
    """The source of a node's kernel, the names of its parameters, and what it reads of events."""

    source: str
    parameters: tuple[str, ...]
    operands: Operands


def written(node: Node, operands: Operands, query: BoundQuery) -> Written:
    """Write the kernel of a node."""
    counts = query.window is not None and query.window.counts_events
    writer = RecordWriter(node, operands, keyed=bool(query.equivalences), counts=counts)
    match node:
        case Leaf():
            chain(writer, node)
        case Join(How.SEQUENCE):
            sequence(writer, node)
        case Join():
            conjunction(writer, node)
        case Fill():
            fill(writer, node)
        case Union():
            union(writer, node)
    head = f"def kernel({', '.join(writer.parameters)}, {operands.parameters}):"
    writer.lines[:0] = ["@jit", head]
    return Written(writer.text, tuple(writer.parameters), operands)
