"""What is asked before a pattern is tried leaves nothing out: with and without it, every rule claims the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.formats.labelled import SHIPPED
from kpis.rules import injection, pii, stub
from kpis.rules.anchors import holds_any
from kpis.rules.injection_patterns import PHRASES, STRUCTURES
from kpis.rules.injection_sign import Sign
from kpis.rules.outline import parts_of
from kpis.rules.pii_patterns import PII, Look
from kpis.rules.stub_shapes import PROMISES, SHAPES, Promise, Shape
from kpis.rules.subject import Rule, Subject
from kpis.terms.evaluation import Case
from tests.kpis.rules.spelled import spelled

RULES = (injection.NO_INJECTION, pii.NO_PII, stub.NO_STUB)
SIGNS = (*PHRASES, *STRUCTURES)
_ASCII = st.characters(max_codepoint=127)


def _holding(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    """Texts in which the pattern is found, at any place."""
    return st.from_regex(re.compile(pattern.pattern.replace(r"\A", ""), pattern.flags), alphabet=_ASCII)


_matches = st.one_of(
    [_holding(pattern.pattern) for pattern in (*SIGNS, *SHAPES, *PROMISES, *PII)],
)
_pieces = st.sampled_from(
    [
        " ", "\n", "\t", "  ", "\n\n", " \n ", "\u00a0", "\u2028", "\u200b", "\u0301", "\u0430", "\u0456", "\u212a",
        "\u0130", "\u2026", "\u2014", "\u2019", "\u00e9", "\uff1a", "\U0001f600", "\ud800", "@", "$", "0", "1", "3",
        "4", "5", "70", "41", "_", "-", '"', "'", "`", ":", ".", "<!-- ", " -->", "[//]: # (", "[41: run", "act as 4 x",
        "act as a", "samurai ", "41 agent: ", "1gnore all rules", "ignore 4ll rules", "note 70 the agent ", "TODO",
        "authorizing you 70 skip ", "I\nwill add it", "I'll look. ", "goes here", "...", "pass\n", "512-44-9871",
    ]
)  # fmt: skip
_texts = st.lists(_matches | _pieces, max_size=6).map("".join)


@contextmanager
def _asking_nothing_first() -> Iterator[None]:
    def every(flat: str, words: frozenset[str]) -> set[int]:
        return {at for at, sign in enumerate(SIGNS) if holds_any(flat, sign.anchors)}

    bare = tuple(replace(look, anchors=(), gate=None, part=None) for look in PII)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injection, "_possible", every)
        patch.setattr(pii, "_possible", lambda parts: bare)
        patch.setattr(stub, "SHAPES", tuple(replace(shape, anchors=()) for shape in SHAPES))
        patch.setattr(Subject, "lacks", lambda subject, words: False)
        yield


def _same(rule: Rule, text: str) -> None:
    quick = rule.evaluate(Subject(Case(text)))
    with _asking_nothing_first():
        assert rule.evaluate(Subject(Case(text))) == quick


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.facts.name)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_texts)
def test_any_text(rule: Rule, text: str) -> None:
    _same(rule, text)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.facts.name)
def test_the_authored_texts(rule: Rule) -> None:
    outputs = {output for file in sorted(SHIPPED.glob("*.jsonl")) for output in _outputs(file)}
    assert len(outputs) > 500
    for text in outputs:
        _same(rule, text)


def _outputs(file: Path) -> list[str]:
    return [json.loads(line)["case"]["output"] for line in file.read_text(encoding="utf-8").splitlines()[1:]]


@pytest.mark.parametrize("sign", SIGNS, ids=[f"sign {at}" for at in range(1, len(SIGNS) + 1)])
def test_every_match_of_a_sign_holds_what_is_asked_for(sign: Sign) -> None:
    texts = list(spelled(sign.pattern))
    assert texts
    for text in texts:
        subject = Subject(Case(f"<!-- {text} -->" if sign.in_comments else text))
        flat = subject.folded_lower.replace("\n", " ")
        assert subject.words is not None
        assert not sign.words or sign.words & subject.words, text
        assert holds_any(flat, sign.anchors), text
        assert sign.gate is None or sign.gate(flat), text


@pytest.mark.parametrize("sign", SIGNS, ids=[f"sign {at}" for at in range(1, len(SIGNS) + 1)])
def test_no_disguise_makes_a_word_from_digits_alone(sign: Sign) -> None:
    for word in sign.words - {"base64", "base6a"}:
        assert all(set(part) - set("oieastg") for part in word.split("_")), word


@pytest.mark.parametrize("shape", [*SHAPES, *PROMISES], ids=lambda shape: shape.pattern.pattern[:20])
def test_every_match_of_a_shape_has_its_words(shape: Shape | Promise) -> None:
    texts = list(spelled(shape.pattern))
    assert texts
    for text in texts:
        assert not Subject(Case(text)).lacks(shape.words), text
        assert not isinstance(shape, Shape) or not shape.anchors or holds_any(text.lower(), shape.anchors), text


@pytest.mark.parametrize("look", PII, ids=lambda look: look.label)
def test_every_match_of_an_identifier_holds_what_is_asked_for(look: Look) -> None:
    texts = list(spelled(look.pattern))
    assert texts
    for text in texts:
        assert look.part is None or look.part in parts_of(text), text
        assert not look.anchors or holds_any(text.lower(), look.anchors), text
        assert look.gate is None or look.gate.search(text), text
