"""Write `tables.json` again, when the grammar or Lark has changed: `python -m ouzel.language.make_tables`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef
from lark.parsers.lalr_analysis import Shift

from ouzel.language.tables import FILE, STARTS, Entry, build, stamp

Row = dict[str, tuple[Any, Any]]
"""What Lark has for a state: by symbol, an action and the next state or a rule."""
# The width of what has no bound differs between versions of Python; all that matters is that it is the greatest.
_UNBOUNDED = 2**32


def tables_of(parser: Lark) -> Entry:
    """A parser as plain data, numbered in an order that depends on the grammar alone."""
    rules = sorted(parser.rules, key=lambda rule: (rule.origin.name, rule.order))
    table = parser.parser.parser._parse_table
    states = _in_order([table.start_states[start] for start in STARTS], table.states)
    return {
        "stamp": stamp(),
        "begins": {start: states.index(table.start_states[start]) for start in STARTS},
        "ends": {start: states.index(table.end_states[start]) for start in STARTS},
        "ignore": sorted(parser.lexer_conf.ignore),
        "terminals": [_terminal(terminal) for terminal in parser.terminals],
        "rules": [_rule(rule) for rule in rules],
        "states": [_state(table.states[state], states, rules) for state in states],
    }


def _in_order(starts: list[int], rows: dict[int, Row]) -> list[int]:
    """The states as one reaches them from the first ones: Lark's own order is that of its sets."""
    found = list(starts)
    for state in found:
        row = rows[state]
        reached = dict.fromkeys(row[symbol][1] for symbol in sorted(row) if row[symbol][0] is Shift)
        found += [one for one in reached if one not in found]
    return found


def _terminal(terminal: TerminalDef) -> Entry:
    entry: Entry = terminal.serialize()
    if "_width" in entry["pattern"]:
        entry["pattern"]["_width"] = [min(width, _UNBOUNDED) for width in entry["pattern"]["_width"]]
    return entry


def _rule(rule: Rule) -> list[Any]:
    symbols = " ".join(("-" if getattr(one, "filter_out", False) else "") + one.name for one in rule.expansion)
    return [rule.origin.name, symbols, rule.order, rule.alias, rule.options.expand1]


def _state(row: Row, states: list[int], rules: list[Rule]) -> list[Entry]:
    shifts: Entry = {}
    reduces: dict[str, list[str]] = {}
    for symbol, (action, argument) in sorted(row.items()):
        if action is Shift:
            shifts[symbol] = states.index(argument)
        else:
            reduces.setdefault(str(rules.index(argument)), []).append(symbol)
    return [shifts, {rule: " ".join(symbols) for rule, symbols in reduces.items()}]


def as_text(tables: Entry) -> str:
    """The file's text: a line for each terminal, rule and state."""
    lines = [f'"{name}": {_lines(value)}' for name, value in tables.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n]"


if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(as_text(tables_of(build())), encoding="utf-8")
