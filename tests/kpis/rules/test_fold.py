"""The text without its disguise, and the way back."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.rules.fold import Folded, fold
from kpis.rules.lookalikes import LOOKALIKES
from kpis.rules.unseen import REFERENCE_UNSEEN, UNSEEN, characters
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
        ("\u026a\u0262\u0274\u1d0f\u0280\u1d07", "ignore"),
        ("i\u0336g\u0335n\u0337o\u0338re", "ignore"),
        ("a \u2260 b", "a \u2260 b"),
        ("\ufdfa", "\ufdfa"),
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


_UNSEEN = frozenset(characters(UNSEEN))
_REFERENCE_UNSEEN = frozenset(characters(REFERENCE_UNSEEN))


@given(st.text() | st.text(alphabet=st.sampled_from(["a", "\u0301", " ", "\u034f", "\u3164", "\uffa0", "\U000e0041"])))
def test_what_cannot_be_seen_is_gone(raw: str) -> None:
    assert _UNSEEN.isdisjoint(fold(raw).text)
    assert _REFERENCE_UNSEEN.isdisjoint(fold(raw, as_reference=True).text)


@pytest.mark.parametrize(
    "unseen", ["\u2063", "\u202e", "\u2066", "\u061c", "\u180e", "\u034f", "\ufe0f", "\U000e0061", "\u3164", "\u115f"]
)
def test_a_letter_that_nobody_sees_parts_no_word(unseen: str) -> None:
    folded = fold(f"so {unseen.join('ignore')}!")
    assert folded.text == "so ignore!"
    assert folded.raw_span(3, 9) == (3, 14 if len(unseen.encode("utf-16-le")) == 2 else 19)
    assert fold(unseen.join("ignore"), as_reference=True).text != "ignore"


def test_marks_are_put_in_order_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counting(form: Any, text: str) -> str:
        asked.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr("kpis.rules.fold.normalize", counting)
    marks = "\u0301\u0316\u0323\u0345" * 1000
    for raw in (f"a{marks}", f"\u4e2d{marks}", marks):
        assert len(fold(raw).text) >= 1000
    assert asked
    assert max(asked) <= 40


@given(st.text(alphabet=st.sampled_from("a\u0301\u0316\ufdfa\ufdfb\u3316\ufb03\u2474 ")))
def test_a_folded_text_is_at_most_four_times_as_long(raw: str) -> None:
    assert len(fold(raw).text) <= 4 * len(raw)


@given(
    st.text(alphabet=st.sampled_from("a b \n\n\t\r\v\f\x1c\x85.\u2014\u00e9\u4e2d\U0001f600\ud800"))
    | st.text(alphabet=st.sampled_from("a \n\u2014\u0301\u0430\u200b\ufeff\u00a0\u2028\u2026\u00a8\u212a\u0130"))
)
def test_the_quick_way_folds_as_the_pieces_do(raw: str) -> None:
    quick = fold(raw)
    slow = Folded(raw, quick._odd, quick._way)
    assert quick.text == slow.text
    assert not quick.same_words or raw.split() == quick.text.split()
