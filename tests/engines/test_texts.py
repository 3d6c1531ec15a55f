"""Numbers of texts in order of arrival, and ranks that order them, whenever new ones come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ouzel.physical.compiled.texts import Texts


def in_order(texts: Texts) -> list[str]:
    ranks = texts.ranks()
    assert len(set(ranks[: len(texts)].tolist())) == len(texts)
    return sorted(texts, key=lambda text: int(ranks[texts[text]]))


@given(st.lists(st.lists(st.text(max_size=3))))
def test_ranks_order_texts_as_python_does(batches: list[list[str]]) -> None:
    texts = Texts({"m": 0})
    for batch in batches:
        for text in batch:
            assert texts.text(texts.number(text)) == text
        assert in_order(texts) == sorted(texts)


def test_few_new_texts_leave_the_ranks_of_others() -> None:
    texts = Texts({f"{n:04}": n for n in range(1_000)})
    before = texts.ranks()[:1_000].copy()
    for text in ("0500a", "0500b", "", "zz"):
        texts.number(text)
    assert (texts.ranks()[:1_000] == before).all()
    assert in_order(texts) == sorted(texts)


def test_where_there_is_no_room_all_are_put_in_order_anew() -> None:
    texts = Texts({f"{n:04}": n for n in range(1_000)})
    texts.ranks()
    for depth in range(1, 60):
        texts.number("0500" + "a" * (60 - depth))
        assert in_order(texts) == sorted(texts)


def test_of_no_texts_there_is_one_rank() -> None:
    assert len(Texts().ranks()) == 1
