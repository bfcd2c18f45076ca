"""How long a wording promises to hold."""

from __future__ import annotations

import pytest

from seams.syscall.durability import durability_of_text
from seams.syscall.views import lowered


def durability(text: str) -> str:
    return durability_of_text(lowered(text.encode())).value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("it's 3pm", "turn"),
        ("the build is currently running", "turn"),
        ("I prefer to work in the afternoon", "durable"),
        ("my name is Ada", "durable"),
        ("I prefer meetings at 3pm", "durable"),
        ("my build is failing right now", "turn"),
        ("call me back later", "turn"),
        ("today's task is the durability gate", "session"),
        ("row 42 = 17", "turn"),
        ("the user prefers afternoons", "durable"),
        ("", "turn"),
        ("preferred", "durable"),
        ("Preference: tabs", "durable"),
        ("preferably", "turn"),
        ("unpreferred", "turn"),
        ("I always lint", "durable"),
        ("I USUALLY lint", "durable"),
        ("i normally lint", "durable"),
        ("Rani always lints", "turn"),
        ("we use tabs", "durable"),
        ("we used tabs", "turn"),
        ("we prefer tabs", "durable"),
        ("my time zone is", "turn"),
        ("My pronouns is wrong", "durable"),
        ("my favourite editor is ed", "durable"),
        ("my favorite programming language is ML", "durable"),
        ("my favourite is none", "turn"),
        ("tommy name is", "turn"),
        ("this session only, and I prefer tabs", "durable"),
        ("on this branch", "session"),
        ("working on it", "session"),
        ("Today\u2019s task", "session"),
        ("the current task", "session"),
        ("for now", "session"),
        ("for nowhere", "turn"),
        ("\u2019\u00fc prefer", "durable"),
    ],
)
def test_the_longest_frame_decides(text: str, told: str) -> None:
    assert durability(text) == told
