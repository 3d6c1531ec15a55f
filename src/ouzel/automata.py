"""Register automata by hand: `oz.automaton({"start": "q0", "final": ["q3"], …})`, or arc by arc (AFA 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ouzel.errors import OuzelError
from ouzel.language import automaton_tree
from ouzel.language.automaton_spec import check_arcs, check_ids, read_arcs, read_automaton, written_automaton
from ouzel.language.document import automaton_entry, document
from ouzel.language.notation import automaton_notation
from ouzel.language.strict_json import read_json


@dataclass(frozen=True, repr=False)
class Automaton:
    """A register automaton, which is a query like any other; see `oz.automaton`."""

    tree: automaton_tree.Automaton
    name: str | None = None
    type: str | None = None
    """What `into` said: the type of the events that its matches are for other queries."""

    def arc(
        self,
        source: str,
        target: str,
        when: str | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - as a specification calls it
        *,
        id: str | None = None,
        epsilon: bool = False,
        end_of_window: bool = False,
        final: bool = False,
        lives: Sequence[Sequence[int | None]] | None = None,
    ) -> Automaton:
        """The same with one more arc; without an id, it is called a0, a1, … by its place.

        >>> automaton(start="q0", final=["q1"]).arc("q0", "q1", when="e.price > 10")
        q0 -a0-> q1: e.price > 10
        """
        spec: dict[str, Any] = {"source": source, "target": target, "when": when, "set": set, "epsilon": epsilon}
        spec |= {"id": id or f"a{len(self.tree.arcs)}", "end_of_window": end_of_window, "final": final}
        spec |= {} if lives is None else {"lives": lives}
        (arc,) = read_arcs([spec])
        check_ids((*self.tree.arcs, arc))
        return replace(self, tree=replace(self.tree, arcs=(*self.tree.arcs, arc)))

    def named(self, name: str) -> Automaton:
        """The same as a query of a name, by which its results go among those of others."""
        return replace(self, name=_name("named", name))

    def into(self, type: str) -> Automaton:
        """The same, whose matches are events of a new type for other queries."""
        return replace(self, type=_name("into", type))

    @property
    def spec(self) -> dict[str, Any]:
        """What it is made of, as JSON has it."""
        return written_automaton(self.tree)

    @property
    def text(self) -> str:
        """The query as one text."""
        return document([self.entry], "automaton")

    @property
    def entry(self) -> dict[str, Any]:
        """The query as an entry of a document."""
        check_arcs(self.tree)
        return automaton_entry(self.spec, self.name, self.type)

    def __repr__(self) -> str:
        """Its arcs, one on each line."""
        return automaton_notation(self.tree)


def automaton(
    spec: Mapping[str, Any] | str | None = None,
    *,
    start: str | None = None,
    final: Sequence[str] = (),
    register: Mapping[str, Any] | None = None,
    window: int | str | None = None,
    partition: Sequence[str] = (),
    events: Sequence[str] = (),
    states: Sequence[str] = (),
    arcs: Sequence[Mapping[str, Any]] = (),
) -> Automaton:
    """A register automaton, of a specification (a dict or JSON), or of its parts, to which `arc` adds arcs.

    >>> automaton({"start": "q0", "final": ["q1"], "arcs": [{"source": "q0", "target": "q1", "when": "e.x > 1"}]})
    q0 -a0-> q1: e.x > 1
    """
    if spec is None:
        if start is None:
            raise OuzelError("automaton: required a specification, or start= and final=; got neither")
        spec = {"start": start, "final": final, "register": register, "window": window}
        spec |= {"partition": partition, "events": events, "states": states, "arcs": arcs}
    elif start is not None or final or register or window or partition or events or states or arcs:
        raise OuzelError("automaton: required a specification, or its parts; got both")
    return Automaton(read_automaton(_read(spec) if isinstance(spec, str) else spec))


def _read(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise OuzelError(
            f"automaton: required a dict, or the same as JSON; got the text {text[:40]!r}: {error}\n"
            "  hint: of a file give what is in it, Path(…).read_text()"
        ) from None


def _name(where: str, name: Any) -> str:
    if not isinstance(name, str) or not name or not name.isprintable():
        raise OuzelError(f"{where}: required a name; got {name!r}")
    return name
