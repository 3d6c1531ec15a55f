"""What is said of patterns of LIKE and RLIKE that have no meaning."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import EVENTS, TYPES, check

CASES = {
    "an escape at the end": """
        PATTERN Shelf a WHERE a.shelf LIKE 'x!' ESCAPE '!'

        an escape without a character in the pattern of LIKE
          line 1, column 36
            PATTERN Shelf a WHERE a.shelf LIKE 'x!' ESCAPE '!'
                                               ^^^^
          required: %, _ or ! behind every !
          hint: an escape that means itself is written twice: !!
    """,
    "an escape before another character": """
        PATTERN Shelf a WHERE a.shelf LIKE 'x!y' ESCAPE '!'

        an escape before 'y' in the pattern of LIKE
          line 1, column 36
            PATTERN Shelf a WHERE a.shelf LIKE 'x!y' ESCAPE '!'
                                               ^^^^^
          required: %, _ or ! behind every !
          hint: an escape that means itself is written twice: !!
    """,
    "an escape of two characters": """
        PATTERN Shelf a WHERE a.shelf LIKE 'x!%' ESCAPE '!!'

        an escape of 2 characters
          line 1, column 49
            PATTERN Shelf a WHERE a.shelf LIKE 'x!%' ESCAPE '!!'
                                                            ^^^^
          required: one character, for example ESCAPE '!'
    """,
    "an open parenthesis": """
        PATTERN Shelf a WHERE a.shelf RLIKE 'x('

        no regular expression: missing ): x(
          line 1, column 37
            PATTERN Shelf a WHERE a.shelf RLIKE 'x('
                                                ^^^^
          required: a pattern of RE2, which searches in linear time
          hint: RE2's syntax: https://github.com/google/re2/wiki/Syntax
    """,
    "lookaround": """
        PATTERN Shelf a WHERE a.shelf RLIKE 'x(?=y)'

        no regular expression: invalid perl operator: (?=
          line 1, column 37
            PATTERN Shelf a WHERE a.shelf RLIKE 'x(?=y)'
                                                ^^^^^^^^
          required: a pattern of RE2, which searches in linear time
          hint: RE2 has no lookahead and no lookbehind: join two conditions with AND
    """,
    "a backreference": r"""
        PATTERN Shelf a WHERE a.shelf RLIKE '(x)\1'

        no regular expression: invalid escape sequence: \1
          line 1, column 37
            PATTERN Shelf a WHERE a.shelf RLIKE '(x)\1'
                                                ^^^^^^^
          required: a pattern of RE2, which searches in linear time
          hint: RE2 has no backreferences
    """,
    "a pattern that is no constant": """
        PATTERN SEQ(Shelf a, Shelf b) WHERE a.shelf RLIKE b.shelf

        a pattern of RLIKE that differs from event to event
          line 1, column 51
            PATTERN SEQ(Shelf a, Shelf b) WHERE a.shelf RLIKE b.shelf
                                                              ^^^^^^^
          required: a text or a parameter: RLIKE '^x'
          hint: LIKE takes patterns from attributes
    """,
    "a number": """
        PATTERN Shelf a WHERE a.tag RLIKE 'x'

        type clash in 'RLIKE'
          line 1, column 23
            PATTERN Shelf a WHERE a.tag RLIKE 'x'
                                  ^^^^^^^^^^^^^^^
          required: RLIKE takes string; got integer
    """,
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_messages(case: str) -> None:
    check(case, lambda query: oz.match(EVENTS, query, types=TYPES))


def test_what_can_be_seen_without_data_is_said_without() -> None:
    with pytest.raises(oz.QueryError, match="no regular expression"):
        oz.query("PATTERN A a WHERE a.s RLIKE '['")
    with pytest.raises(oz.QueryError, match="an escape without"):
        oz.query("PATTERN A a WHERE a.s LIKE '!' ESCAPE '!'")


def test_a_parameter_is_checked_when_it_has_a_value() -> None:
    query = oz.query("PATTERN Shelf a WHERE a.shelf RLIKE $p")
    with pytest.raises(oz.QueryError, match=r"no regular expression: missing \]"):
        oz.match(EVENTS, query, types=TYPES, params={"p": "[a"})
    query = oz.query("PATTERN Shelf a WHERE a.shelf LIKE $p ESCAPE $e")
    with pytest.raises(oz.QueryError, match="an escape of 0 characters"):
        oz.match(EVENTS, query, types=TYPES, params={"p": "x", "e": ""})
