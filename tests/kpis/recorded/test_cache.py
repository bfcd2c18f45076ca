"""Breaks of the provider's cache, and what is to blame for each."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.cache import LEAST_BREAK, BreakCause, cache_breaks
from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.view import view_of
from kpis.terms.trace import Request, Tokens
from tests.kpis.recorded.runs import MINUTE, compaction, parts, request, run


def causes(requests: list[Request], **more: object) -> list[BreakCause]:
    return [found.cause for found in cache_breaks(view_of(run(requests, **more)))]  # type: ignore[arg-type]


def test_a_prefix_that_is_read_whole_is_no_break() -> None:
    assert not causes([request(0, write=50_000), request(1, read=50_000, write=900)])


def test_hits_are_a_ratio_of_sums() -> None:
    found = metrics(parts(run([request(0, write=100), request(1, read=300)])))["cache_hit_ratio"]
    assert (found.value, found.numerator, found.denominator) == (0.75, 300, 400)


def test_the_first_request_of_a_thread_is_no_break() -> None:
    assert not causes([request(0, write=500_000)])


@pytest.mark.parametrize(
    ("prompt", "lost", "broken"), [(10_000, 2_000, 0), (10_000, 2_001, 1), (90_000, 9_000, 0), (90_000, 9_001, 1)]
)
def test_a_break_is_above_two_thousand_tokens_and_a_tenth(prompt: int, lost: int, broken: int) -> None:
    assert LEAST_BREAK == 2_000
    assert len(causes([request(0, write=prompt), request(1, read=prompt - lost, write=lost)])) == broken


def test_a_coffee_is_a_pause() -> None:
    after = request(1, write=50_500, at=6 * MINUTE)
    assert causes([request(0, write=50_000, at=0), after]) == [BreakCause.PAUSE]


def test_four_minutes_are_none() -> None:
    after = request(1, write=50_500, at=4 * MINUTE)
    assert causes([request(0, write=50_000, at=0), after]) == [BreakCause.UNEXPLAINED]


@pytest.mark.parametrize(("minutes", "cause"), [(59, BreakCause.UNEXPLAINED), (61, BreakCause.PAUSE)])
def test_a_thread_that_writes_for_an_hour_survives_a_lunch(minutes: int, cause: BreakCause) -> None:
    first = request(0, tokens=Tokens(0, 0, 0, 50_000, out_total=1), at=0)
    again = request(1, tokens=Tokens(0, 0, 0, 50_500, out_total=1), at=minutes * MINUTE)
    assert causes([first, again]) == [cause]


def test_a_recorded_compaction_comes_before_the_pause_beside_it() -> None:
    requests = [request(0, write=150_000, at=0), request(1, read=16_545, write=20_934, at=9 * MINUTE)]
    assert causes(requests, events=[compaction(5)]) == [BreakCause.COMPACTION]


def test_another_model_has_another_cache() -> None:
    assert causes([request(0, write=50_000), request(1, write=50_500, model="tiered")]) == [BreakCause.MODEL_CHANGE]


def test_a_prompt_that_halves_is_a_guess_and_one_that_shrinks_a_mutation() -> None:
    assert causes([request(0, write=90_000), request(1, write=40_000)]) == [BreakCause.IMPLICIT_COMPACTION]
    assert causes([request(0, write=90_000), request(1, write=80_000)]) == [BreakCause.MUTATION]


def test_a_fork_that_writes_its_copied_history_anew_is_a_start() -> None:
    assert causes([request(0, write=90_000, copied=True), request(1, write=90_500)]) == [BreakCause.THREAD_START]


def test_a_copied_break_is_not_counted_again() -> None:
    assert not causes([request(0, write=90_000, copied=True), request(1, write=90_500, copied=True)])


def test_a_branch_that_was_left_is_followed_apart() -> None:
    """After a rewind the conversation goes on from the request before the branch, and its prefix is still cached."""
    requests = [
        request(0, write=50_000),
        request(1, read=50_000, write=40_000, in_conversation=False),
        request(2, read=50_000, write=1_000, turn=1),
    ]
    assert not causes(requests)


def test_a_silent_cache_is_undefined_and_so_are_its_breaks() -> None:
    requests = [
        request(0, tokens=Tokens(fresh_in=50_000, out_total=1)),
        request(1, tokens=Tokens(fresh_in=9, out_total=1)),
    ]
    found = metrics(parts(run(requests)))
    for name in ("cache_hit_ratio", "cache_breaks", "cache_break_tokens", "cache_rewritten_tokens"):
        assert found[name].value is None, name
    assert found["cache_break_cost_usd"].value is None
    assert found["cache_breaks"].undefined == "1 of 1 requests cannot be held against the one before them"


def test_lost_and_rewritten_tokens_differ_after_a_compaction() -> None:
    requests = [request(0, write=150_963), request(1, read=16_545, write=20_934)]
    found = metrics(parts(run(requests, events=[compaction(5)])))
    assert found["cache_break_tokens"].value == 150_963 - 16_545
    assert found["cache_rewritten_tokens"].value == 20_934
    assert dict(found["cache_break_tokens"].detail) == {"compaction": 134_418}
