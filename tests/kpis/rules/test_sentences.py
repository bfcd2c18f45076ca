"""Where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.rules.sentences import sentences
from tests.kpis.rules.plain_splitter import plain_sentences

COUNTS = [
    ("The latency is 3.5 seconds.", 1),
    ("Dr. Chen approved it.", 1),
    ("Use a cache, e.g. Redis or memcached. It helps.", 2),
    ("Shipped on Oct. 5 with no faults.", 1),
    ("It shipped in Oct. The rollout held.", 2),
    ("Upgrade to v0.10.0 today. Then restart.", 2),
    ("The build is ready.Ship it now.", 2),
    ("See package.json and src/index.ts for details.", 1),
    ("Wait... what? No!", 2),
    ("A pause... and it continues.", 1),
    ("What?! Really?! Yes.", 3),
    ("Vitamin C. Is it enough?", 1),
    ("Meet at 9 a.m. Monday is fine.", 1),
    ("The U.S. Senate met. It voted.", 2),
    ("J. Smith wrote the plan. K. Lee signed it.", 2),
    ("Done. \u2014 then more", 2),
    ("\u6771\u4eac\u3067\u3059\u3002\u5927\u962a\u3067\u3059\u3002", 1),
    ("It took 4. 5 of them failed.", 2),
    ("apples, pears, etc. They are fruit.", 2),
    ("apples, pears, etc. are fruit.", 1),
    ("", 0),
    (" \n\n ", 0),
    ("no terminator", 1),
    ("A.\r\n\r\nB.", 2),
    ("one\ntwo", 1),
    ("one\n \t\ntwo", 2),
    ('He said "no." Then he left.', 2),
]


@pytest.mark.parametrize(("text", "count"), COUNTS)
def test_counts(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_a_ruler_is_no_sentence_where_one_has_to_hold_a_letter() -> None:
    assert sentences("One.\n\n---\n\nTwo.") == ["One.", "---", "Two."]
    assert sentences("One.\n\n---\n\nTwo.", with_a_letter=True) == ["One.", "Two."]


_PIECES = ["A", "b", " ", "\n", "\r\n", ".", "!", "?", ")", '"', "\u2019", "\u201c", "3", "Dr", "e.g", "no", "etc",
           "\t", "\u00a0", "(", "-", "\u2014", "\u00e9", "\U0001f600", "..."]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=16).map("".join))
def test_the_quick_splitter_does_as_the_plain_one(text: str) -> None:
    assert sentences(text) == plain_sentences(text)


@given(st.text())
def test_nothing_but_white_space_is_lost(text: str) -> None:
    kept = "".join(sentences(text))
    assert "".join(kept.split()) == "".join("".join(plain_sentences(text)).split())
    assert all(piece in text for piece in sentences(text))
