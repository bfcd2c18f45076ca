"""The text without its disguise, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.rules.fold import UNSEEN, Folded, fold
from kpis.rules.lookalikes import LOOKALIKES
from kpis.rules.utf16 import units


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain text,\non two lines", "plain text,\non two lines"),
        ("two  spaces", "two spaces"),
        ("a \t\n b", "a\nb"),
        ("a\u00a0b\u3000c", "a b c"),
        ("\uff15\uff11\uff12", "512"),
        ("\u2460\u2461", "12"),
        ("\ufb03", "ffi"),
        ("i\u200bg\u00adn\u2060ore\ufeff", "ignore"),
        ("\u0456gn\u043er\u0435", "ignore"),
        ("\u0431\u0417", "63"),
        ("\U0001d422\U0001d420", "ig"),
        ("e\u0301", "\u00e9"),
        ("a\u2028b", "a\nb"),
        ("l33t stays", "l33t stays"),
        ("", ""),
    ],
)
def test_what_is_folded(raw: str, text: str) -> None:
    assert fold(raw).text == text


@pytest.mark.parametrize(
    ("raw", "sought", "span"),
    [
        ("SSN is 512-44-9871 x", "512-44-9871", (7, 18)),
        ("SSN is 5\u200b12-44\u200b-9871 x", "512-44-9871", (7, 20)),
        ("\U0001f600\U0001f600 SSN 512-44-9871 \U0001f600", "512-44-9871", (9, 20)),
        ("\U0001f600\U0001f600 SSN \uff15\uff11\uff12-44-9871 \U0001f600", "512-44-9871", (9, 20)),
        ("\U0001d7d3\U0001d7cf\U0001d7d0", "12", (2, 6)),
        ("a  b", "b", (3, 4)),
        ("\ufb03x", "x", (1, 2)),
        ("\ufb03x", "f", (0, 1)),
    ],
)
def test_the_way_back(raw: str, sought: str, span: tuple[int, int]) -> None:
    folded = fold(raw)
    at = folded.text.find(sought)
    assert at >= 0
    assert folded.raw_span(at, at + len(sought)) == span


def test_a_lookalike_is_one_character_for_one() -> None:
    assert all(len(other) == len(latin) == 1 for other, latin in LOOKALIKES.items())
    assert all(latin.isascii() and not other.isascii() for other, latin in LOOKALIKES.items())


@given(
    st.text(alphabet=st.sampled_from("ab 5\n\t\u200b\u00ad\ufeff\uff15\u0430\ufb03e\u0301\u00a0\u00b4\U0001f600\ud800"))
)
def test_every_stretch_leads_into_the_text(raw: str) -> None:
    folded = fold(raw)
    before = 0
    for at in range(len(folded.text)):
        start, end = folded.raw_span(at, at + 1)
        assert before <= start <= end <= units(raw)
        before = start
        assert folded.raw_span(at, len(folded.text))[1] <= units(raw)


@given(st.text())
def test_what_cannot_be_seen_is_gone(raw: str) -> None:
    assert not set(fold(raw).text) & set(UNSEEN)


@given(
    st.text(alphabet=st.sampled_from("a b \n\n\t\r\v\f\x1c\x85.\u2014\u00e9\u4e2d\U0001f600\ud800"))
    | st.text(alphabet=st.sampled_from("a \n\u2014\u0301\u0430\u200b\ufeff\u00a0\u2028\u2026\u00a8\u212a\u0130"))
)
def test_the_quick_way_folds_as_the_pieces_do(raw: str) -> None:
    quick = fold(raw)
    slow = Folded(raw, quick._odd)
    assert quick.text == slow.text
    assert not quick.same_words or raw.split() == quick.text.split()
