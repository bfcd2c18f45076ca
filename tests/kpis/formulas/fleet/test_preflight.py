"""The rules of the gate before a launch, and the rate of its decisions."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.fleet.preflight import VERDICTS, admission, cap, host_capacity, limiter, live, verdict
from kpis.registry import load
from seams.contract.fleet_preflight import SpawnVerdict


@pytest.mark.parametrize(
    ("host", "carries"),
    [
        ((64, 128_000, 1_000), (32, "cpu")),
        ((8, 64_000, 200_000), (1, "threads")),
        ((32, 3_000, 2_000), (2, "memory")),
        ((8, None, 500), (4, "cpu")),
        ((None, 6_000, 100), (4, "memory")),
        ((None, None, None), None),
        ((None, None, 100), None),
        ((0, 0, 0), (1, "cpu")),
    ],
)
def test_what_a_host_carries(host, carries) -> None:
    assert host_capacity(*host) == carries


@pytest.mark.parametrize(
    ("max_workers", "target", "host", "seats", "wanted"),
    [
        (2, 3, None, None, 2),
        (8, 0, None, None, 8),
        (8, -1, None, None, 8),
        (8, 6, (4, "cpu"), None, 4),
        (8, 6, (4, "cpu"), 3, 3),
        (8, 6, None, 0, 6),
        (-3, 0, None, None, 0),
    ],
)
def test_the_cap_is_the_least_of_what_is_known(max_workers, target, host, seats, wanted) -> None:
    assert cap(max_workers, target, host, seats) == wanted


def test_a_loop_without_an_aim_is_not_believed_about_what_lives() -> None:
    assert live(50, 0, 7) == 7
    assert live(50, 6, 7) == 50
    assert live(1, 6, 7) == 7
    assert live(9, -1, 7) == 9  # an aim all the same, though no cap


def test_what_stands_in_the_way() -> None:
    assert limiter(8, 6, (4, "memory"), None, live=3) == "memory"
    assert limiter(8, 6, (4, "memory"), None, live=4) == "leases"
    assert limiter(0, 0, None, None, live=0) == "configured"
    assert limiter(8, 3, None, 2, live=0) == "seats"
    assert limiter(3, 3, (3, "cpu"), 3, live=0) == "configured"


_FREE = {
    "failed": False,
    "safe": True,
    "depleted": False,
    "seats": None,
    "leased": 0,
    "cap_before_seats": 4,
    "cap": 4,
    "live": 1,
    "account": True,
}
_IN_THE_WAY = {
    "REFUSE_INSPECT": {"failed": True},
    "REFUSE_HOST": {"safe": False},
    "REFUSE_NO_SEAT": {"depleted": True, "seats": 4, "leased": 4},
    "REFUSE_AT_CAP": {"live": 4},
    "REFUSE_NO_ACCOUNT": {"account": False},
}


def test_the_first_that_holds_is_said() -> None:
    """Whatever else is in the way as well, the earlier one wins."""
    assert verdict(**_FREE) == "SPAWN_OK"
    names = list(_IN_THE_WAY)
    for size in range(1, len(names) + 1):
        for chosen in itertools.combinations(names, size):
            given = dict(_FREE)
            for name in chosen:
                given |= _IN_THE_WAY[name]
            assert verdict(**given) == chosen[0]


@pytest.mark.parametrize("more", [{"seats": 5}, {"leased": 0}, {"seats": None}, {"depleted": False}])
def test_depleted_seats_refuse_only_where_they_are_the_limit_and_held(more) -> None:
    assert verdict(**(_FREE | _IN_THE_WAY["REFUSE_NO_SEAT"] | more)) == "SPAWN_OK"


def test_the_words_are_those_of_the_seam_and_of_the_catalog() -> None:
    assert tuple(each.value for each in SpawnVerdict) == VERDICTS
    assert load().get("spawn_admission_rate").reasons == VERDICTS
    assert load().get("dispatch_preflight_ns").params["verdict"] == VERDICTS


def test_the_rate_comes_with_its_histogram_and_its_split() -> None:
    rows = [
        {"verdict": "SPAWN_OK", "limiter": "cpu"},
        {"verdict": "REFUSE_AT_CAP", "limiter": "leases"},
        {"verdict": "REFUSE_AT_CAP", "limiter": "leases"},
        {"verdict": "REFUSE_INSPECT", "limiter": None},
        {"verdict": "NEVER", "limiter": "cpu"},
        {"verdict": ["SPAWN_OK"], "limiter": "cpu"},
        {},
    ]
    found = admission(rows)
    assert (found.admitted, found.decisions, found.rate, found.unreadable) == (1, 4, 0.25, 3)
    assert found.by_verdict == dict.fromkeys(VERDICTS, 0) | {"SPAWN_OK": 1, "REFUSE_AT_CAP": 2, "REFUSE_INSPECT": 1}
    assert found.by_limiter == {
        "cpu": {"SPAWN_OK": 1},
        "leases": {"REFUSE_AT_CAP": 2},
        "unknown": {"REFUSE_INSPECT": 1},
    }


def test_no_decision_is_no_rate() -> None:
    assert admission([]).rate is None


@given(st.lists(st.tuples(st.sampled_from(VERDICTS), st.sampled_from([None, "cpu", "leases"]))))
def test_every_decision_is_in_both_splits_once(said) -> None:
    found = admission({"verdict": verdict, "limiter": by} for verdict, by in said)
    assert found.decisions == len(said) == sum(found.by_verdict.values())
    assert sum(times for counts in found.by_limiter.values() for times in counts.values()) == len(said)
