"""What a message resolves, what it claims, and what a change bears out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.fleet_closure import Witness
from seams.fleet.witness import Kind, claimed, kind_of, references, reverted, witness

WORDS = ("fix", "fixes", "fixed", "close", "closes", "closed", "resolve", "resolves", "resolved")


@pytest.mark.parametrize("word", [*WORDS, *map(str.upper, WORDS), *map(str.title, WORDS), "fixe", "fixs"])
def test_these_words_bind(word: str) -> None:
    assert references(f"A change\n\n{word} #17.") == ({17}, set())


@pytest.mark.parametrize(
    "text",
    ["closing #17", "see #17", "prefixes #17", "fixes: #17", "fixing #17", "re-open #17", "(#17)"],
)
def test_these_only_mention(text: str) -> None:
    assert references(text) == (set(), {17})


@pytest.mark.parametrize(
    "text", ["foo-#17", "a#17", "fixes#17", "fixes foo#17", "fixes #17th", "fixes # 17", "issue 17"]
)
def test_these_say_nothing(text: str) -> None:
    assert references(text) == (set(), set())


def test_resolving_wins_over_a_mention_of_the_same_issue() -> None:
    assert references("See #3 and #4. Fixes #3\tcloses\n#5") == ({3, 5}, {4})


def test_a_hyphen_before_the_word_is_a_boundary() -> None:
    assert references("auto-fix #3") == ({3}, set())


@pytest.mark.parametrize(
    "text",
    [
        "close" + " " * 1_000_000,
        "close " * 200_000,
        "fixes #" + "1" * 1_000_000,
        "#1" * 500_000,
        "fixe" * 300_000,
        "fix" + "(" * 1_000_000,
        "a" * 1_000_000 + ":",
        "\n" * 1_000_000 + "This reverts commit " + "a" * 1_000_000,
        "Revert " + "This reverts commit\n" * 50_000,
    ],
)
def test_a_hostile_message_is_read_in_one_pass(text: str) -> None:
    resolved, _ = references(text)
    assert not resolved
    assert claimed(text) is None
    assert reverted(text) == frozenset()
    assert witness(text, []) is Witness.NONE


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    resolved, mentioned = references(text)
    assert not resolved & mentioned
    assert all(number >= 0 for number in resolved | mentioned)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/tool.py", Kind.CODE),
        ("Tool.JAVA", Kind.CODE),
        ("tests/test_tool.py", Kind.TEST),
        ("src/tool_test.go", Kind.TEST),
        ("web/tool.test.ts", Kind.TEST),
        ("tests/cases/one.json", Kind.DATA),
        ("README.md", Kind.DOCS),
        ("Makefile", Kind.SETTINGS),
        ("pyproject.toml", Kind.SETTINGS),
        ("results/a.csv", Kind.DATA),
        ("LICENSE", Kind.OTHER),
        ("src/.py", Kind.OTHER),
        ("odd\udcff.py", Kind.CODE),
    ],
)
def test_kinds_of_files(path: str, kind: Kind) -> None:
    assert kind_of(path) is kind


@pytest.mark.parametrize(
    ("message", "paths", "bears"),
    [
        ("fix: it", ["a.py"], Witness.DIFF),
        ("fix(x)!: it", ["a.py", "b.json"], Witness.DIFF),
        ("fix: it", ["README.md"], Witness.NONE),
        ("fix: it", ["tests/test_a.py"], Witness.NONE),
        ("fix: it", ["a.json"], Witness.NONE),
        ("docs: it", ["README.md"], Witness.DIFF),
        ("docs: it", ["a.py"], Witness.NONE),
        ("test: it", ["tests/test_a.py"], Witness.DIFF),
        ("bench: it", ["a.json"], Witness.DATA),
        ("bench: it", ["a.py"], Witness.NONE),
        ("It is done", ["a.json"], Witness.DATA),
        ("It is done", ["a.json", "README.md"], Witness.DIFF),
        ("unheard: it", ["a.py"], Witness.DIFF),
        ("It is done", ["LICENSE"], Witness.NONE),
        ("It is done", [], Witness.NONE),
        ("", ["a.py"], Witness.DIFF),
    ],
)
def test_what_a_change_bears_out(message: str, paths: list[str], bears: Witness) -> None:
    assert witness(message, paths) is bears


def test_only_a_revert_takes_back() -> None:
    body = f"This reverts commit {'a' * 40}."
    assert reverted(f'Revert "fix"\n\n{body}') == {"a" * 40}
    assert reverted(f"feat: more\n\n{body}") == frozenset()
    assert reverted(f"Revert \n{body[:-5]}") == frozenset()
