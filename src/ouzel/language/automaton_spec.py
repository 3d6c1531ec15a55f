"""Stage 1: register automata from a specification, a dict of plain values as JSON has them, and back.

What is wrong with one is said with the arc, the key, and what was required.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from ouzel.errors import QueryError, did_you_mean, listed
from ouzel.language.algebra_tree import Formula
from ouzel.language.automaton_tree import ALWAYS, Arc, Automaton, Field, Life, Window
from ouzel.language.parser import parse_alone, parse_text

MAX_ARCS = 10_000
"""How many arcs an automaton may have."""

TYPES = ("integer", "float", "string", "boolean", "time")
"""What a field of the register can be told to be, where no first value tells it; `time` is that of events."""

Written = Mapping[str, Any]

_KEYS = ("start", "final", "register", "window", "partition", "events", "states", "arcs")
# Lives without a beginning or an end go from one to the other, as times of 64 bits do.
_FIRST, _LAST = -(2**63), 2**63 - 1
_ARC_KEYS = ("id", "source", "target", "when", "set", "epsilon", "end_of_window", "final", "lives")
_WITHIN = "PATTERN A a WITHIN "


def read_automaton(spec: Any) -> Automaton:
    """The automaton of a specification: a dict of plain values, as JSON has them."""
    spec = _mapping(spec, "automaton", _KEYS)
    for key in ("start", "final", "arcs"):
        if key not in spec:
            _fail("automaton", f"no '{key}'", f"'{key}'")
    automaton = Automaton(
        start=_name(spec["start"], "start"),
        final=tuple(_names(spec["final"], "final")),
        register=tuple(_fields(spec.get("register") or {})),
        window=_window(spec.get("window")),
        partition=tuple(_names(spec.get("partition") or (), "partition")),
        events=tuple(_names(spec.get("events") or (), "events")),
        arcs=tuple(read_arcs(spec["arcs"])),
        states=tuple(_names(spec.get("states") or (), "states")),
    )
    check_arcs(automaton)
    return automaton


def read_arcs(arcs: Any) -> Iterator[Arc]:
    """The arcs of a list of specifications; those without an id are called a0, a1, … by their place.

    Of arcs of one id no two live at one time.
    """
    if not isinstance(arcs, list | tuple):
        _fail("arcs", f"got {_shown(arcs)}", "a list of arcs")
    if len(arcs) > MAX_ARCS:
        _fail("arcs", f"there are {len(arcs):,}", f"{MAX_ARCS:,} at most")
    found = [_arc(spec, place) for place, spec in enumerate(arcs)]
    check_ids(found)
    yield from found


def check_ids(arcs: Iterable[Arc]) -> None:
    """Refuse arcs of one id that live at one time."""
    known: dict[str, list[Arc]] = {}
    for arc in arcs:
        others = known.setdefault(arc.id, [])
        if any(_meet(arc, other) for other in others):
            _fail(f"arc '{arc.id}'", "there is another of that id", "an id of its own for every arc")
        others.append(arc)


def check_arcs(automaton: Automaton) -> None:
    """Refuse arcs that set what there is not, or wait for the end of a window where there is none."""
    names = [one.name for one in automaton.register]
    for arc in automaton.arcs:
        check_arc(arc, names, has_window=automaton.window is not None)
    if automaton.arcs:
        _check_states(automaton)


def _check_states(automaton: Automaton) -> None:
    """Refuse a start that no arc knows, and final states that none leads to, unless they are named."""
    mentioned = {name for arc in automaton.arcs for name in (arc.source, arc.target)}
    sources = [arc.source for arc in automaton.arcs]
    later = "name it in 'states', if its arcs are still to come"
    if automaton.start not in {*mentioned, *automaton.states}:
        _fail(
            "start",
            f"no arc leaves '{automaton.start}'",
            f"a state that arcs leave: {listed(sources)}",
            did_you_mean(automaton.start, sources) or later,
        )
    states = {automaton.start, *automaton.states, *(arc.target for arc in automaton.arcs)}
    lost = [one for one in automaton.final if one not in states]
    if lost:
        _fail(
            "final",
            f"no arc leads to '{lost[0]}'",
            f"states of the automaton: {listed(states)}",
            did_you_mean(lost[0], states) or later,
        )


def check_arc(arc: Arc, names: list[str], *, has_window: bool) -> None:
    """Refuse an arc that does not fit a register of some names, and a window."""
    for name, _value in arc.sets:
        if name not in names:
            _fail(
                f"arc '{arc.id}'",
                f"it sets '{name}'",
                f"a field of the register: {listed(names) if names else 'there are none'}",
                did_you_mean(name, names),
            )
    if arc.end_of_window and not has_window:
        _fail(f"arc '{arc.id}'", "'end_of_window' without a window", "a window, as in window='5 minutes'")
    if arc.end_of_window and arc.silent:
        _fail(f"arc '{arc.id}'", "both 'epsilon' and 'end_of_window'", "one of them: both consume nothing")


def _arc(spec: Any, place: int) -> Arc:
    what = f"arc {place + 1}"
    spec = _mapping(spec, what, _ARC_KEYS)
    for key in ("source", "target"):
        if key not in spec:
            _fail(what, f"no '{key}'", f"'{key}', the name of a state")
    name = _name(spec["id"], f"{what}: id") if spec.get("id") is not None else f"a{place}"
    what = f"arc '{name}'"
    sets = spec.get("set") or {}
    if not isinstance(sets, Mapping):
        _fail(what, f"'set' is {_shown(sets)}", "what fields of the register become: {'r1': 'r1 + 1'}")
    when = spec.get("when")
    return Arc(
        id=name,
        source=_name(spec["source"], f"{what}: source"),
        target=_name(spec["target"], f"{what}: target"),
        when=None if when is None else _formula(when, f"{what}: when"),
        sets=tuple((_name(key, f"{what}: set"), _formula(one, f"{what}: {key}")) for key, one in sets.items()),
        silent=_flag(spec, "epsilon", what),
        end_of_window=_flag(spec, "end_of_window", what),
        final=_flag(spec, "final", what),
        lives=tuple(_lives(spec["lives"], what)) if "lives" in spec else ALWAYS,
    )


def _lives(given: Any, what: str) -> Iterator[Life]:
    if not isinstance(given, list | tuple):
        _fail(what, f"'lives' is {_shown(given)}", "a list of pairs: [[since, until], …]")
    for one in given:
        is_pair = isinstance(one, list | tuple) and len(one) == 2
        if not is_pair or not all(time is None or type(time) is int for time in one):
            _fail(what, f"'lives' has {_shown(one)}", "times in ticks, or null: [since, until]")
        if None not in one and one[0] > one[1]:
            _fail(what, f"'lives' has {_shown(one)}", "a time, and one that is not before it: [since, until]")
        yield one[0], one[1]


def _meet(one: Arc, other: Arc) -> bool:
    """Whether two arcs live at one time; a life that ends before all times has none."""
    # where one takes the other's place, that at the end of the window goes a tick later: windows then are over
    spare = one.end_of_window != other.end_of_window
    lives = [_spans(one, spare and one.end_of_window), _spans(other, spare and other.end_of_window)]
    return any(max(a, c) < min(b, d) for a, b in lives[0] for c, d in lives[1])


def _spans(arc: Arc, is_later: bool) -> list[tuple[int, int]]:
    return [(_FIRST if a is None else a, _LAST if b is None else b - is_later) for a, b in arc.lives]


def _fields(register: Any) -> Iterator[Field]:
    if not isinstance(register, Mapping):
        _fail("register", f"got {_shown(register)}", "first values by name: {'r1': 0, 'r2': 0.0}")
    for key, value in register.items():
        name = _name(key, "register")
        if isinstance(value, Mapping):
            given = _mapping(value, f"register: {name}", ("type", "first"))
            if given.get("type") not in TYPES or given.get("first") is not None:
                _fail(f"register: {name}", f"got {_shown(value)}", f"a first value, or one of {_quoted(TYPES)}")
            yield Field(name, None, given["type"])
        elif value is None or not isinstance(value, bool | int | float | str):
            _fail(
                f"register: {name}",
                f"its first value is {_shown(value)}",
                "a number, a text or a truth value",
                "for null say what it will be: {'type': 'float'}" if value is None else None,
            )
        else:
            yield Field(name, value)


def _window(given: Any) -> Window | None:
    """A window, which is read as WITHIN is."""
    if given is None:
        return None
    required = "a length of time, such as '5 minutes', or a number of ticks"
    if isinstance(given, bool) or not isinstance(given, int | str):
        _fail("window", f"got {_shown(given)}", required)
    text = str(given).strip()
    source = _WITHIN + text
    try:
        queries = parse_text(source)
    except QueryError:
        _fail("window", f"got {_shown(given)}", required)
    within = queries[0].within
    is_whole = len(queries) == 1 and within is not None and within.span.end == len(source)
    if within is None or not is_whole or within.events is not None or within.inclusive:
        _fail("window", f"got {_shown(given)}", required)
    return Window(text, within, source)


# ---- back ------------------------------------------------------------------------------------------------


def written_automaton(automaton: Automaton) -> dict[str, Any]:
    """The specification of an automaton."""
    spec: dict[str, Any] = {"start": automaton.start, "final": list(automaton.final)}
    if automaton.register:
        spec["register"] = {one.name: _written_first(one) for one in automaton.register}
    if automaton.window is not None:
        spec["window"] = automaton.window.text
    if automaton.partition:
        spec["partition"] = list(automaton.partition)
    if automaton.events:
        spec["events"] = list(automaton.events)
    if automaton.states:
        spec["states"] = list(automaton.states)
    return {**spec, "arcs": [written_arc(arc) for arc in automaton.arcs]}


def written_arc(arc: Arc) -> dict[str, Any]:
    """The specification of an arc."""
    spec: dict[str, Any] = {"id": arc.id, "source": arc.source, "target": arc.target}
    if arc.when is not None:
        spec["when"] = arc.when.text
    if arc.sets:
        spec["set"] = {name: value.text for name, value in arc.sets}
    flags = {"epsilon": arc.silent, "end_of_window": arc.end_of_window, "final": arc.final}
    spec |= {key: True for key, is_set in flags.items() if is_set}
    return spec if arc.lives == ALWAYS else {**spec, "lives": [list(one) for one in arc.lives]}


def _written_first(field: Field) -> Any:
    return {"type": field.type} if field.type is not None else field.first


# ---- what is given ---------------------------------------------------------------------------------------


def _mapping(given: Any, what: str, keys: tuple[str, ...]) -> Written:
    if not isinstance(given, Mapping):
        _fail(what, f"got {_shown(given)}", f"a dict of {_quoted(keys)}")
    for key in given:
        if key not in keys:
            _fail(what, f"unknown key {_shown(key)}", f"some of {_quoted(keys)}", did_you_mean(str(key), keys))
    return given


def _flag(spec: Written, key: str, what: str) -> bool:
    value = spec.get(key, False)
    if not isinstance(value, bool):
        _fail(what, f"'{key}' is {_shown(value)}", "true or false")
    return value


def _name(given: Any, what: str) -> str:
    if not isinstance(given, str) or not given or any(ord(one) < 32 for one in given):
        _fail(what, f"got {_shown(given)}", "a name")
    return given


def _names(given: Any, what: str) -> list[str]:
    if not isinstance(given, list | tuple):
        hint = f"write ['{given}']" if isinstance(given, str) else None
        _fail(what, f"got {_shown(given)}", "a list of names", hint)
    found = [_name(one, what) for one in given]
    for one in found:
        if found.count(one) > 1:
            _fail(what, f"'{one}' is there twice", "each name once")
    return found


def _formula(given: Any, what: str) -> Formula:
    if isinstance(given, bool):
        given = "TRUE" if given else "FALSE"
    elif isinstance(given, int | float):
        given = repr(given)
    if not isinstance(given, str):
        _fail(what, f"got {_shown(given)}", "an expression as text, such as 'e.price > r1'")
    try:
        return Formula(given, parse_alone(given))
    except QueryError as error:
        raise error.said_of(what) from None


def _shown(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{one}'" for one in names)


def _fail(what: str, got: str, required: str, hint: str | None = None) -> NoReturn:
    raise QueryError(f"{what}: {got}", required=required, hint=hint)
