"""Work that is marked as missing, cut out, faked, or promised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.rules.anchors import holds_any
from kpis.rules.stub_shapes import PROMISES, Promise
from kpis.rules.subject import Subject
from kpis.rules.thresholds import ThresholdError
from kpis.terms.evaluation import Case, Pattern
from kpis.terms.evaluation_words import SkipClass
from tests.kpis.rules.asking import claim, fires, spans

STUB = "no_stub_output"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("TODO: write it", (0, 4, "marker TODO")),
        ("\U0001f600 x = 1  # FIXME", (12, 17, "marker FIXME")),
        ("This is not yet implemented.", (8, 27, "marker NOT YET IMPLEMENTED")),
        ("Dear [insert name],", (5, 12, "marker [INSERT")),
        ("The rest is omitted for brevity.", (12, 31, "omitted for brevity")),
        ("It is hard-coded for now.", (6, 24, "for now")),
        ("def f(x):\n    # later\n    pass\n", (0, 31, "empty function")),
        ("x = 1\n# ... rest of the code\n", (6, 16, "elided code")),
        ("// your logic goes here", (14, 23, "goes here")),
        ("if ready or True:\n    go()", (9, 16, "condition always true")),
        ("expect(true).toBe(true)", (0, 23, "test of nothing")),
        ("You can fill this in later.", (8, 26, "fill in later")),
        ("I'll look into this and get back to you.", (0, 40, "promise")),
        ("Working on it.", (0, 14, "promise")),
        ("The form is there. The table will be added later.", (19, 49, "promise")),
        ("I\nwill add the rest of the table.", (0, 10, "promise")),
        ("The rest will\nbe added later.", (0, 28, "promise")),
        ("Fix it in a bit.", (0, 16, "promise")),
        ("I finish the other half in  a\twhile.", (0, 36, "promise")),
        ("Handle the rest in a separate change.", (0, 37, "promise")),
        ("\u0130: I will add it.", (0, 17, "promise")),
        ("\u0130 is not yet implemented.", (5, 24, "marker NOT YET IMPLEMENTED")),
    ],
)
def test_what_is_a_stub_and_where(text: str, span: tuple[int, int, str]) -> None:
    assert span in spans(claim(STUB, text))


@pytest.mark.parametrize(
    "text",
    [
        "The hackathon was fun, and todo lists are useful.",
        "Keep the TODO list short; a FIXME is a debt, and every XXX is worse.",
        "```diff\n-# TODO remove\n+done\n```",
        "@@ -1,2 +1,2 @@\n-x = 1  # FIXME\n+x = 2\n",
        "def f(x):\n    pass\n    return 1\n",
        "if ready or True_north:\n    go()",
        "The feature is not implemented in version 2 of the protocol.",
        "An abstract method raises it:\n```py\nraise NotImplementedError\n```",
        'He wrote "I will get back to you" and never did, which is why the contract ended in March of that year.',
        "The sum is 4. The parts are 1 and 3. The order does not matter. I will check others.",
        "The price goes here and there.",
    ],
)
def test_what_is_none(text: str) -> None:
    assert not fires(STUB, text)


@pytest.mark.parametrize(
    "text",
    ["```py\nraise NotImplementedError\n```", "raise NotImplementedError('x')", "throw new Error('not implemented')"],
)
def test_what_raises_that_it_is_not_there(text: str) -> None:
    assert Pattern("not implemented", 1) in claim(STUB, text).evidence


def test_promises_have_to_be_most_of_it() -> None:
    work = "The function now returns the sorted list, and the test covers the empty case. "
    promise = "I will add the rest soon."
    assert fires(STUB, promise)
    assert fires(STUB, f"{work}{promise}")  # two sentences, and the last is a promise
    assert not fires(STUB, f"{work}{work}{promise}")


def test_markers_of_the_deployment_take_the_place_of_ours() -> None:
    assert fires(STUB, "LATER", deployment={"stub_markers": ["LATER"]})
    assert not fires(STUB, "TODO", deployment={"stub_markers": ["LATER"]})


@pytest.mark.parametrize("promise", PROMISES)
def test_a_text_with_a_promise_has_what_a_promise_cannot_do_without(promise: Promise) -> None:
    @given(st.from_regex(promise.pattern))
    def holds(text: str) -> None:
        subject = Subject(Case(text))
        assert not subject.lacks(promise.words)
        assert promise.also in subject.one_line
        assert holds_any(subject.one_line, promise.anchors)

    holds()


@pytest.mark.parametrize("listed", ["LATER", [["LATER"]], ["LATER", 5], [""]])
def test_markers_that_are_no_list_of_texts_are_no_answer(listed: object) -> None:
    with pytest.raises(ThresholdError, match="stub_markers"):
        claim(STUB, "LATER", deployment={"stub_markers": listed})


def test_too_many_markers_for_a_long_text_are_not_looked_for() -> None:
    found = claim(STUB, "ab " * 350_000, call={"stub_markers": [f"word number {number}" for number in range(2000)]})
    assert found.skip is not None
    assert found.skip.skip_class is SkipClass.DEFEATED
