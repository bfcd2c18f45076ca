"""Hostile text on its way to a terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.inert import encoding_of, inert


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain é 漢", "plain é 漢"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ends", ""),
        ("\x1bcreset", "reset"),
        ("a\x1b", "a"),
        ("one\ntwo\r\nthree\tfour", "one two three four"),
        ("back\x08\x08space\x00", "backspace"),
        ("left\u202eright\u2066\u200b", "leftright"),
        ("line\u2028break", "line break"),
        ("[red]markup[/red] :smile:", "[red]markup[/red] :smile:"),
        ("caf\udce9", "caf\\udce9"),
    ],
)
def test_what_is_shown(text: str, safe: str) -> None:
    assert inert(text) == safe


def test_what_cannot_be_encoded_becomes_an_escape() -> None:
    assert inert("é µ", "ascii") == "\\xe9 \\xb5"


@given(st.text(st.characters()), st.sampled_from(["utf-8", "ascii", "cp1252", "koi8-r"]))
def test_no_control_character_passes_and_everything_can_be_written(text: str, encoding: str) -> None:
    safe = inert(text, encoding)
    safe.encode(encoding)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in safe)
    assert inert(safe, encoding) == safe


def test_a_stream_without_an_encoding_is_taken_as_utf_8() -> None:
    assert encoding_of(io.StringIO()) == "utf-8"
    assert encoding_of(io.TextIOWrapper(io.BytesIO(), encoding="cp1252")) == "cp1252"
