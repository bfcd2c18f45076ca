"""Forbidden phrases."""

from __future__ import annotations

import pytest

from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Pattern
from tests.kpis.rules.asking import claim, fires, spans

BLOCK = "no_blocklist_words"


def test_places_come_phrase_by_phrase() -> None:
    found = claim(BLOCK, "illegal drugs and illegal drugs and how to hack")
    assert spans(found) == [(36, 47, "blocklist"), (0, 13, "blocklist"), (18, 31, "blocklist")]
    assert found.score == 0.0


@pytest.mark.parametrize("text", ["how to\nhack", "HOW TO HACK", "h\u043ew t\u043e h\u200back", "how  to \t hack"])
def test_a_disguised_phrase_is_the_phrase(text: str) -> None:
    assert fires(BLOCK, text) is (text != "how to\nhack")


def test_a_list_of_the_deployment_takes_the_place_of_ours() -> None:
    assert fires(BLOCK, "A Zebra.", deployment={"blocklist": ["zebra"]})
    assert not fires(BLOCK, "how to hack", deployment={"blocklist": ["zebra"]})
    assert not fires(BLOCK, "zebra", deployment={"blocklist": ["zebra"]}, call={"blocklist": []})


def test_a_phrase_of_another_script_is_found_though_the_text_is_folded() -> None:
    assert fires(
        BLOCK, "\u0443\u0431\u0435\u0439 \u0435\u0433\u043e", deployment={"blocklist": ["\u0443\u0431\u0435\u0439"]}
    )


def test_where_small_letters_take_more_room_no_place_is_told() -> None:
    found = claim(BLOCK, "\u0130 how to hack", call={"blocklist": ["hack", "how", "none"]})
    assert (found.state, found.evidence) == (ClaimState.FIRED, (Pattern("blocklist", 2),))
