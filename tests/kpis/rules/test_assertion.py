"""What is not said plainly shows none of the six signs that take a claim at its word."""

from __future__ import annotations

import pytest

from kpis.rules.hallucination import CONTEXT
from kpis.rules.material import CLAIMS, Material

PLAIN: dict[str, tuple[str, str]] = {
    "cron-contradiction": ("0 3 * * * sweep", "the sweep runs every hour"),
    "threshold-flip": ("Alert when CPU is above 90%.", "alert when CPU is below 90%"),
    "modality-strengthening": ("Users may delete their traces.", "users must delete their traces"),
    "forbidden-recommendation": ("Never use eval.", "use eval here"),
    "false-absence-claim": ("Refunds take 3 days.", "the document does not mention refunds"),
    "ungrounded-attribution": ("Mara Brandt: I drop search.", "according to Peter Novik, search is dropped"),
}
NOT_SAID = [
    *("It is not true that {}.", "The claim that {} is false.", "Nobody says that {}.", "It is a myth that {}."),
    *(
        "Is it so that {}?",
        "You asked whether {}.",
        "Some believe {}.",
        "Imagine that {}.",
        "If {}, ask.",
        "I hoped that {}.",
        "Proposal:\n{}.",
        "The goal: {}.",
    ),
    *('They quote "{}" on the page of the team.', "The page has ` {} ` in a corner, and that is all.", "> {}."),
    *("```\n{}.\n```\nThat stands in a file.", "In the old text: {}.", "Formerly {}.", "A wrong reading: {}."),
    *(
        "{}. That is wrong.",
        "{}? No.",
        "Common myths:\n\n- first\n- {}.",
        "## What is false\n{}.",
        "Anna claimed that {}.",
    ),
]


@pytest.mark.parametrize("sign", list(PLAIN))
def test_what_is_said_plainly_shows(sign: str) -> None:
    given, said = PLAIN[sign]
    assert CONTEXT[sign](Material(given, f"{said[0].upper()}{said[1:]}."))


@pytest.mark.parametrize("around", NOT_SAID)
@pytest.mark.parametrize("sign", list(PLAIN))
def test_what_is_denied_asked_quoted_past_or_supposed_does_not(sign: str, around: str) -> None:
    given, said = PLAIN[sign]
    for claim in (said, f"{said[0].upper()}{said[1:]}"):
        assert not CONTEXT[sign](Material(given, around.format(claim)))


@pytest.mark.parametrize(
    ("sign", "given", "said"),
    [
        ("ungrounded-date", "The launch is on 4 July 2024.", "The launch is on the 9th of May, 2024."),
        ("ungrounded-attribution", "Mara Brandt said the launch is in May.", "John Smith said the launch is in May."),
    ],
)
def test_the_month_of_may_hedges_nothing(sign: str, given: str, said: str) -> None:
    assert CONTEXT[sign](Material(given, said))
    assert not CONTEXT[sign](Material(given, said.replace(".", ", or it may be another.")))


@pytest.mark.parametrize("sign", list(PLAIN))
def test_a_long_run_of_claims_that_are_denied_is_looked_through_once(sign: str) -> None:
    given, said = PLAIN[sign]
    material = Material(given, f"It is not so that {said}. " * (50 * CLAIMS) + ":" * 100_000)
    assert not CONTEXT[sign](material)
