"""What is said of a query that can be read but not understood: unknown names and names taken twice."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import EVENTS, TYPES, check

NAMES = {
    "an unknown type": """
        PATTERN SEQ(Shlef a, Exit b)

        unknown event type 'Shlef'
          line 1, column 13
            PATTERN SEQ(Shlef a, Exit b)
                        ^^^^^
          required: a type of the input: Exit, Register, Shelf
          hint: did you mean 'Shelf'?
    """,
    "an unknown type like no other": """
        PATTERN SEQ(Shelf a, Zebra b)

        unknown event type 'Zebra'
          line 1, column 22
            PATTERN SEQ(Shelf a, Zebra b)
                                 ^^^^^
          required: a type of the input: Exit, Register, Shelf
    """,
    "a type in the wrong case": """
        PATTERN SEQ(shelf a, Exit b)

        unknown event type 'shelf'
          line 1, column 13
            PATTERN SEQ(shelf a, Exit b)
                        ^^^^^
          required: a type of the input: Exit, Register, Shelf
          hint: did you mean 'Shelf'?
    """,
    "an unknown type in ANY": """
        PATTERN SEQ(ANY(Shelf, Exti) a, Exit b)

        unknown event type 'Exti'
          line 1, column 24
            PATTERN SEQ(ANY(Shelf, Exti) a, Exit b)
                                   ^^^^
          required: a type of the input: Exit, Register, Shelf
          hint: did you mean 'Exit'?
    """,
    "an unknown negative type": """
        PATTERN SEQ(Shelf a, !(Registr b), Exit c)

        unknown event type 'Registr'
          line 1, column 24
            PATTERN SEQ(Shelf a, !(Registr b), Exit c)
                                   ^^^^^^^
          required: a type of the input: Exit, Register, Shelf
          hint: did you mean 'Register'?
    """,
    "an unknown variable": """
        PATTERN SEQ(Shelf shelf, Exit exit) WHERE shlf.tag = exit.tag

        unknown variable 'shlf'
          line 1, column 43
            PATTERN SEQ(Shelf shelf, Exit exit) WHERE shlf.tag = exit.tag
                                                      ^^^^
          required: a variable of the pattern: exit, shelf
          hint: did you mean 'shelf'?
    """,
    "an unknown attribute": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.wieght > b.weight

        unknown attribute 'wieght' of Shelf
          line 1, column 38
            PATTERN SEQ(Shelf a, Exit b) WHERE a.wieght > b.weight
                                                 ^^^^^^
          required: one of shelf, tag, ts, type, weight
          hint: did you mean 'weight'?
    """,
    "an attribute of another type": """
        PATTERN SEQ(Shelf a, Exit b) WHERE b.shelf = 's'

        unknown attribute 'shelf' of Exit
          line 1, column 38
            PATTERN SEQ(Shelf a, Exit b) WHERE b.shelf = 's'
                                                 ^^^^^
          required: one of tag, ts, type, weight
    """,
    "an attribute that no type of ANY has": """
        PATTERN SEQ(ANY(Register, Exit) a, Exit b) WHERE a.shelf = 's'

        unknown attribute 'shelf' of Register or Exit
          line 1, column 52
            PATTERN SEQ(ANY(Register, Exit) a, Exit b) WHERE a.shelf = 's'
                                                               ^^^^^
          required: one of tag, ts, type, weight
    """,
    "an unknown attribute in an equivalence test": """
        PATTERN SEQ(Shelf a, Exit b) WHERE [tga]

        unknown attribute 'tga' in an equivalence test
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) WHERE [tga]
                                                ^^^
          required: an attribute of some component: shelf, tag, ts, type, weight
          hint: did you mean 'tag'?
    """,
    "an unknown attribute in RETURN": """
        PATTERN SEQ(Shelf a, Exit b) RETURN a.tga

        unknown attribute 'tga' of Shelf
          line 1, column 39
            PATTERN SEQ(Shelf a, Exit b) RETURN a.tga
                                                  ^^^
          required: one of shelf, tag, ts, type, weight
          hint: did you mean 'tag'?
    """,
    "an unknown function": """
        PATTERN SEQ(Shelf a, Exit b) WHERE abss(a.weight) > 1

        unknown function 'abss'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE abss(a.weight) > 1
                                               ^^^^^^^^^^^^^^
          required: a built-in function or one registered with oz.register_function
          hint: did you mean 'abs'?
    """,
    "an unknown function like no other": """
        PATTERN SEQ(Shelf a, Exit b) WHERE frobnicate(a.weight) > 1

        unknown function 'frobnicate'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE frobnicate(a.weight) > 1
                                               ^^^^^^^^^^^^^^^^^^^^
          required: a built-in function or one registered with oz.register_function
    """,
    "an unknown variable of a strategy": """
        PATTERN SEQ(Shelf a, Exit b) WHERE skip_till_next_match(a, c) { a.tag = 1 }

        unknown variable 'c' in skip_till_next_match
          line 1, column 60
            PATTERN SEQ(Shelf a, Exit b) WHERE skip_till_next_match(a, c) { a.tag = 1 }
                                                                       ^
          required: a variable of the pattern: a, b
    """,
    "an attribute of a query that does not return it": """
        PATTERN Shelf a RETURN a.tag INTO T PATTERN T t WHERE t.weight > 1

        unknown attribute 'weight' of T
          line 1, column 57
            PATTERN Shelf a RETURN a.tag INTO T PATTERN T t WHERE t.weight > 1
                                                                    ^^^^^^
          required: one of tag
    """,
    "an attribute without a variable": """
        PATTERN SEQ(Shelf a, Exit b) WHERE tag = 1

        unknown variable 'tag'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE tag = 1
                                               ^^^
          required: a variable of the pattern: a, b
          hint: for an attribute write a.tag
    """,
    "a type in place of its variable": """
        PATTERN SEQ(Shelf a, Exit b) WHERE Shelf.tag = 1

        unknown variable 'Shelf'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE Shelf.tag = 1
                                               ^^^^^
          required: a variable of the pattern: a, b
          hint: the Shelf of the pattern is called a
    """,
    "an operator as a function": """
        PATTERN SEQ(Shelf a, Exit b) WHERE between(a.tag, 1)

        unknown function 'between'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE between(a.tag, 1)
                                               ^^^^^^^
          required: a built-in function or one registered with oz.register_function
          hint: BETWEEN is an operator, written beside its operands
    """,
    "NOT as a type": """
        PATTERN NOT Register

        unknown event type 'NOT'
          line 1, column 9
            PATTERN NOT Register
                    ^^^
          required: a type of the input: Exit, Register, Shelf
          hint: a negative component is written !(B b)
    """,
    "a second query behind a semicolon": """
        PATTERN Shelf a; PATTERN Exit

        unknown event type 'PATTERN'
          line 1, column 18
            PATTERN Shelf a; PATTERN Exit
                             ^^^^^^^
          required: a type of the input: Exit, Register, Shelf
          hint: behind ';' the pattern goes on: leave the ';' out
    """,
}

DUPLICATES = {
    "two components of one name": """
        PATTERN SEQ(Shelf a, Exit a)

        two components are called 'a'
          line 1, column 27
            PATTERN SEQ(Shelf a, Exit a)
                                      ^
          required: a variable of its own for every component
          hint: write Exit a2
    """,
    "one type twice without variables": """
        PATTERN Shelf; Shelf

        two components are called 'Shelf'
          line 1, column 16
            PATTERN Shelf; Shelf
                           ^^^^^
          required: a variable of its own for every component
          hint: write Shelf Shelf2
    """,
    "two columns of one name": """
        PATTERN SEQ(Shelf a, Exit b) RETURN a.tag AS x, b.tag AS x

        two columns of RETURN are called 'x'
          line 1, column 58
            PATTERN SEQ(Shelf a, Exit b) RETURN a.tag AS x, b.tag AS x
                                                                     ^
          required: a name of its own for every column
          hint: name it with AS
    """,
    "one column twice": """
        PATTERN SEQ(Shelf a, Exit b) RETURN a.tag, a.tag

        two columns of RETURN are called 'a_tag'
          line 1, column 44
            PATTERN SEQ(Shelf a, Exit b) RETURN a.tag, a.tag
                                                       ^^^^^
          required: a name of its own for every column
          hint: name it with AS
    """,
    "two queries of one name": """
        QUERY q PATTERN Shelf a QUERY q PATTERN Exit a

        two queries are called 'q'
          line 1, column 31
            QUERY q PATTERN Shelf a QUERY q PATTERN Exit a
                                          ^
          required: a name of its own for every query
    """,
    "INTO a type of the input": """
        PATTERN Shelf a RETURN a.tag INTO Exit

        INTO 'Exit', which is a type of the input already
          line 1, column 35
            PATTERN Shelf a RETURN a.tag INTO Exit
                                              ^^^^
          required: a new type
          hint: choose another name
    """,
    "INTO one type twice": """
        PATTERN Shelf a RETURN a.tag INTO T PATTERN Exit a RETURN a.tag INTO T

        INTO 'T', which is another query's INTO already
          line 1, column 70
            PATTERN Shelf a RETURN a.tag INTO T PATTERN Exit a RETURN a.tag INTO T
                                                                                 ^
          required: a new type
          hint: choose another name
    """,
    "queries in a circle": """
        PATTERN T a RETURN a.x INTO U PATTERN U a RETURN a.x INTO T

        queries that feed each other: U → T → U
          line 1, column 29
            PATTERN T a RETURN a.x INTO U PATTERN U a RETURN a.x INTO T
                                        ^
          required: a graph without cycles
          hint: a query cannot read what is made from its own matches
    """,
    "alternatives twice without a variable": """
        PATTERN SEQ(ANY(Shelf, Exit), ANY(Shelf, Exit))

        two components are called 'Shelf|Exit'
          line 1, column 31
            PATTERN SEQ(ANY(Shelf, Exit), ANY(Shelf, Exit))
                                          ^^^^^^^^^^^^^^^^
          required: a variable of its own for every component
          hint: write ANY(Shelf, Exit) x
    """,
    "a variable called as a column of the result": """
        PATTERN SEQ(Shelf start, Exit b)

        the variable 'start' without RETURN
          line 1, column 13
            PATTERN SEQ(Shelf start, Exit b)
                        ^^^^^^^^^^^
          required: a variable that is not called as a column of the result: start, end
          hint: choose another name, or say what to RETURN
    """,
}

CASES = NAMES | DUPLICATES


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, lambda query: oz.match(EVENTS, query, types=TYPES))
