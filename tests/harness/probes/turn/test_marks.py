from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.probes.turn._marks import MARK, last_asked, marked, renumbered
from harness.probes.turn._outlook import utf8, words_of
from seams.contract.turn import Message


@given(st.text(), st.integers(0, 10**7))
def test_a_marked_text_is_as_long_as_before(text: str, number: int) -> None:
    found = marked(text, number)
    assert (len(found), len(utf8(found))) == (len(text), len(utf8(text)))
    assert found[:-MARK] == text[:-MARK]


@given(st.text(st.characters(codec="ascii"), min_size=MARK), st.integers(0, 999_999), st.integers(0, 999_999))
def test_numbers_are_told_apart_and_are_no_words(text: str, one: int, other: int) -> None:
    assert (marked(text, one) == marked(text, other)) is (one == other)
    assert words_of(marked(text, one)[-MARK:]) == frozenset()


def test_a_text_that_ends_in_others_than_ascii_keeps_its_end() -> None:
    assert marked("price in ...... \u20ac 12345678", 123456) == "price in ...... \u20ac 12-34-56"
    assert marked("seven \u20ac", 123456) == "seven \u20ac"
    assert marked("\u20ac56", 123456) == "\u20ac56"
    assert marked("ab", 7) == "07"
    assert marked("", 7) == ""


def test_one_message_alone_is_renumbered_and_in_a_list_of_its_own() -> None:
    history = [Message("system", "You file claims."), Message("user", "question one"), Message("tool", "rows and rows")]
    assert last_asked(history) == 1
    found = renumbered(history, 1, 5)
    assert found == [history[0], Message("user", "ques00-00-05"), history[2]]
    assert history[1].content == "question one"
    assert last_asked(history[:1]) == 0
    assert last_asked([Message("", "who"), Message("tool", "")]) == 0
