"""Work that is marked as missing, cut out, faked, or promised."""

from __future__ import annotations

import pytest

from kpis.terms.evaluation import Pattern
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
