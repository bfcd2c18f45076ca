"""Signs that the output says what the material does not."""

from __future__ import annotations

import pytest

from kpis.rules.hallucination import CONTEXT, CONTEXT_FREE, NOT_BUILT
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Pattern
from tests.kpis.rules.asking import claim, fires

MARKERS = "no_hallucination_markers"

CONTRADICTED = [
    ("boolean-contradiction", "beta_search: false", "The beta_search feature is enabled."),
    ("empty-result-contradiction", "query done, 0 rows", "The query returned 12 matching rows."),
    ("false-success", "2 failed, 10 passed", "All green, safe to merge."),
    ("ungrounded-certainty", "It took 4213 ms.", "It took exactly 4,999 ms."),
    ("fabricated-cli-flag", "usage: tool [--fast] [--dry-run]", "Run it with --turbo to skip the cache."),
    ("fabricated-section-citation", "## 4.1 Scope\n## 4.2 Terms\n", "Section 7.3 allows it."),
    ("noun-count-mismatch", "We saw 4213 requests.", "It handled 4,999 requests."),
    ("status-code-contradiction", 'GET /x HTTP/1.1" 500', "The endpoint returned 404."),
    ("dependency-version-contradiction", '"react": "^18.2.0"', "The project uses react 17.0.2."),
    ("ungrounded-date", "Released 2026-08-07.", "It came out on March 3, 2026."),
    ("ungrounded-time", "Started at 09:15.", "The job began at 11:40."),
    ("weekday-contradiction", "Date: 2026-08-07", "We meet Monday, August 7th."),
    ("unit-misread", "cache timeout is 30 ms", "The cache timeout is 30 seconds."),
    ("ungrounded-version", "Changes in v2.1.0", "This ships in version 3.0."),
    ("cron-contradiction", "schedule: 0 2 * * *", "It runs at 3 AM every day."),
    ("threshold-flip", "Alert fires below 90 %.", "Fires above 90 %."),
    ("modality-strengthening", "You may restart it.", "You must restart it."),
    ("false-absence-claim", "Refunds take 3 days.", "The document does not mention refunds."),
    ("ungrounded-attribution", "Mara Brandt: I would keep the search.", "According to Peter Novik, the search stays."),
    ("forbidden-recommendation", "Never use eval.", "Use eval to read the file."),
]


def test_every_sign_of_the_reference_is_built_or_listed() -> None:
    assert len({*CONTEXT, *CONTEXT_FREE, *NOT_BUILT}) == 25
    assert {sign for sign, *_ in CONTRADICTED} == set(CONTEXT)
    assert not set(NOT_BUILT) & {*CONTEXT, *CONTEXT_FREE}
    assert all(NOT_BUILT.values())


@pytest.mark.parametrize(("sign", "given", "said"), CONTRADICTED)
def test_a_contradiction_shows(sign: str, given: str, said: str) -> None:
    assert Pattern(sign, 1) in claim(MARKERS, said, input=given).evidence


def test_a_month_is_no_hedge() -> None:
    said = claim(MARKERS, "It was on May 22, 2031.", input="It is on May 18, 2031.")
    assert Pattern("ungrounded-date", 1) in said.evidence
    assert not fires(MARKERS, "It may be on March 22, 2031.", input="It is on May 18, 2031.")


@pytest.mark.parametrize(("sign", "given", "said"), CONTRADICTED)
def test_without_an_input_it_cannot(sign: str, given: str, said: str) -> None:
    assert not fires(MARKERS, said)
    assert not fires(MARKERS, said, input="")


@pytest.mark.parametrize(("sign", "given", "said"), CONTRADICTED)
def test_a_proposal_is_no_claim(sign: str, given: str, said: str) -> None:
    assert not fires(MARKERS, f"You could try whether {said}", input=given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("beta_search: false", "The beta_search feature is disabled."),
        ("beta_search: false", "The beta_search feature is not enabled."),
        ("query done, 12 rows", "The query returned 12 matching rows."),
        ("2 failed, 10 passed", "All checks passed but 2 tests failed."),
        ("It took 4213 ms.", "It took exactly 4213 ms, which is about 4 seconds."),
        ("usage: tool [--fast] [--dry-run]", "Run it with --fast."),
        ("## 4.1 Scope\n## 4.2 Terms\n", "Section 4 and section 4.2 allow it."),
        ("3 apples and 4 pears", "There are 7 fruits: 3 apples and 4 pears."),
        ('GET /x HTTP/1.1" 500', "The endpoint returned 500."),
        ('"react": "^18.2.0"', "The project uses react 18."),
        ("Released 2026-08-07.", "It came out on 7 August 2026, or August 7."),
        ("Started at 09:15.", "It began at 9:15 am."),
        ("Date: 2026-08-07", "We meet Friday, August 7th."),
        ("timeout 30 ms, retry 30 s", "The timeout is 30 ms and the retry is 30 seconds."),
        ("Changes in v2.1.0", "This ships in version 2.1."),
        ("Summarise the plan.", "The plan has 3 steps and ends on 2026-08-07 at 12:00 with v1.2."),
    ],
)
def test_what_the_material_bears_out_is_no_sign(given: str, said: str) -> None:
    found = claim(MARKERS, said, input=given)
    assert found.state is ClaimState.QUIET, found.evidence


@pytest.mark.parametrize(
    "said",
    [
        "3 + 4 = 8",
        "A total of 10 items: 3 red, 4 blue and 2 green.",
        "- apples: 3\n- pears: 4\n- total: 9",
        "| apples | 1.50 |\n| pears | 2.25 |\n| **Total** | 4.75 |",
    ],
)
def test_a_total_that_does_not_add_up(said: str) -> None:
    assert claim(MARKERS, said).evidence == (Pattern("inconsistent-total", 1),)


@pytest.mark.parametrize(
    "said",
    [
        "3 + 4 = 7 and 1.5 + 2.5 = 4.0",
        "A total of 10 items: 3 red, 4 blue and 3 green.",
        "- apples: 3\n- pears: 4\n- total: 7",
        "| a | 33.3 |\n| b | 33.3 |\n| c | 33.3 |\n| total | 100 |",
        "The total of 12 was high (3 of them were late).",
    ],
)
def test_a_total_that_does(said: str) -> None:
    assert not fires(MARKERS, said)


def test_sources_that_lead_nowhere() -> None:
    bare = "See [1] [2] [3], a study by Dr. Roe and research by Prof. Poe."
    assert claim(MARKERS, bare).evidence == (Pattern("fabricated-citation-shape", 1),)
    assert not fires(MARKERS, bare + " https://doi.org/10.1/x")
    assert not fires(MARKERS, bare + "\n[1] Roe, On rows.")
    assert not fires(MARKERS, "See [1] and [2].")
    assert not fires(MARKERS, "A study by Dr. Roe.")


def test_each_sign_takes_its_share() -> None:
    found = claim(MARKERS, "It took exactly 4,999 requests.", input="It took 4213 requests.")
    assert found.score == pytest.approx(0.4)
    assert [item.name for item in found.evidence if isinstance(item, Pattern)] == [
        "ungrounded-certainty",
        "noun-count-mismatch",
    ]
