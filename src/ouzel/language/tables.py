"""The parser, made from tables that come with the package.

Lark computes the tables from the grammar, which takes longer than most queries.  So `make_tables.py` has them
computed once, and `tables.json` holds them as plain data.  Where that is not up to date, it is left alone.
"""

from __future__ import annotations

import hashlib
import json
import pkgutil
from typing import Any

import lark
from lark import Lark

FILE = "tables.json"
START = "start"
ALONE = "alone"
STARTS = [START, ALONE]
_OPTIONS: dict[str, Any] = {"parser": "lalr", "lexer": "contextual"}
_OPTIONS |= {"propagate_positions": True, "maybe_placeholders": False}

Entry = dict[str, Any]


def build() -> Lark:
    """The parser, computed from the grammar."""
    return Lark(_read("grammar.lark"), start=STARTS, **_OPTIONS)


def load() -> Lark | None:
    """The parser, from its tables; None if they are missing or not up to date."""
    try:
        tables = json.loads(_read(FILE))
    except OSError:
        return None
    return parser_of(tables) if tables["stamp"] == stamp() else None


def stamp() -> str:
    """Changes with all that the tables depend on: the grammar, the options, and how Lark writes what it has."""
    series = lark.__version__.rpartition(".")[0]
    return hashlib.sha256(f"{series} {_OPTIONS} {_read('grammar.lark')}".encode()).hexdigest()


def _read(name: str) -> str:
    content = pkgutil.get_data("ouzel.language", name)
    assert content is not None, "packages are loaded from files or archives"
    return content.decode()


def parser_of(tables: Entry) -> Lark:
    """Put tables into the form in which Lark stores a parser, where numbers stand for terminals and rules."""
    terminals, rules = tables["terminals"], [_rule(*row) for row in tables["rules"]]
    of_terminals = [{"@": number} for number in range(len(terminals))]
    of_rules = [{"@": number} for number in range(len(terminals), len(terminals) + len(rules))]
    lexer = {"terminals": of_terminals, "ignore": tables["ignore"], "lexer_type": "contextual"}
    states = {
        "tokens": _Itself(),
        "states": dict(enumerate(_state(row, of_rules) for row in tables["states"])),
        "start_states": tables["begins"],
        "end_states": tables["ends"],
    }
    parser = {
        "lexer_conf": {**lexer, "g_regex_flags": 0, "use_bytes": False},
        "parser_conf": {"rules": of_rules, "start": STARTS, "parser_type": "lalr"},
        "parser": states,
    }
    data = {"parser": parser, "rules": of_rules, "options": {**_OPTIONS, "start": STARTS}}
    return Lark.load({"data": data, "memo": dict(enumerate(terminals + rules))})


class _Itself(dict[str, str]):
    """Lark has numbers for symbols, too; here a symbol stands for itself."""

    def __missing__(self, symbol: str) -> str:
        return symbol


def _rule(origin: str, symbols: str, order: int, alias: str | None, expand1: bool) -> Entry:
    options = {"keep_all_tokens": False, "expand1": expand1, "priority": None, "template_source": None}
    return {
        "origin": _symbol(origin),
        "expansion": [_symbol(symbol) for symbol in symbols.split()],
        "order": order,
        "alias": alias,
        "options": {**options, "empty_indices": [], "__type__": "RuleOptions"},
        "__type__": "Rule",
    }


def _symbol(text: str) -> Entry:
    """A symbol; a terminal that leaves no trace in the tree has a minus sign before it."""
    name = text.removeprefix("-")
    if name.isupper():
        return {"name": name, "filter_out": name != text, "__type__": "Terminal"}
    return {"name": name, "__type__": "NonTerminal"}


def _state(row: list[Entry], of_rules: list[Entry]) -> Entry:
    """Where each symbol leads, and which rule is complete before which terminals."""
    shifts, reduces = row
    actions: Entry = {symbol: (0, state) for symbol, state in shifts.items()}
    for rule, symbols in reduces.items():
        actions |= dict.fromkeys(symbols.split(), (1, of_rules[int(rule)]))
    return actions
