"""Expressions of the algebra in the notation of the paper (Cayuga 2), and register automata arc by arc."""

from __future__ import annotations

from ouzel.language import algebra_tree as algebra
from ouzel.language.automaton_tree import Arc, Automaton
from ouzel.language.names import one_line, quoted

ALL_EVENTS = "S"


def notation(stream: algebra.Stream) -> str:
    """An expression on one line: σ π ρ α ∪ ;θ μ.

    >>> notation(algebra.Prefixed(algebra.Select(algebra.Events("Stock"), ("name", "price")), "S1"))
    'ρ[S1.*](π[name, price](Stock))'
    """
    match stream:
        case algebra.Events(name):
            return ALL_EVENTS if name is None else quoted(name)
        case algebra.Hole():
            return "·"
        case algebra.Where(of, condition):
            return f"σ[{one_line(condition.text)}]({notation(of)})"
        case algebra.Select(of, names):
            return f"π[{', '.join(map(dotted, names))}]({notation(of)})"
        case algebra.Rename(of, names):
            renamed = ", ".join(f"{dotted(old)} ↦ {dotted(new)}" for new, old in names)
            return f"ρ[{renamed}]({notation(of)})"
        case algebra.Prefixed(of, prefix):
            return f"ρ[{dotted(prefix)}.*]({notation(of)})"
        case algebra.Extend(of, values):
            made = ", ".join(f"{dotted(name)} ↦ {one_line(value.text)}" for name, value in values)
            return f"α[{made}]({notation(of)})"
        case algebra.Union(left, right):
            return f"({notation(left)} ∪ {notation(right)})"
        case algebra.Next(left, right, where):
            sign = ";" if where is None else f";[{one_line(where.text)}]"
            return f"({notation(left)} {sign} {notation(right)})"
        case algebra.Fold(left, right, where, step):
            step_text = "·" if step is None else notation(step)
            theta = "TRUE" if where is None else one_line(where.text)
            return f"μ[{step_text}, {theta}]({notation(left)}, {notation(right)})"


def dotted(name: str) -> str:
    """An attribute as predicates write it: its parts in backticks where they are no plain words.

    >>> dotted("S1.price"), dotted("my price")
    ('S1.price', '`my price`')
    """
    parts = [quoted(part) for part in name.split(".")]
    return ".".join(parts) if all(parts) and "``" not in parts else quoted(name)


def automaton_notation(automaton: Automaton) -> str:
    """The arcs of an automaton, one on each line."""
    return "\n".join(map(_arc, automaton.arcs)) or f"{quoted(automaton.start)}, and no arcs"


def _arc(arc: Arc) -> str:
    kind = "ε " if arc.silent else "end of window " if arc.end_of_window else ""
    fence = "" if arc.when is None else one_line(arc.when.text)
    sets = ", ".join(f"{quoted(name)} := {one_line(value.text)}" for name, value in arc.sets)
    label = " / ".join(filter(None, [fence, sets]))
    line = f"{quoted(arc.source)} -{kind}{arc.id}-> {quoted(arc.target)}"
    return f"{line}: {label}" if label else line
