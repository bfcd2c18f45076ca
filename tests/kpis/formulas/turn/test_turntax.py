"""The cost model of saved turns."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kpis.formulas.turn.turntax import KNOBS, TURNS, net, sensitivity, turns_saved

CLASSES = {"grammar": 2, "pure": 2, "dedup": 3, "static": 2, "quarantine": 1, "deny": 1, "pass": 3}


def test_turns_by_kind() -> None:
    assert [turns_saved(CLASSES, kind) for kind in ("all", "forced", "elision")] == [9, 5, 4]
    assert turns_saved({}) == 0
    with pytest.raises(KeyError):
        turns_saved(CLASSES, "some")


def test_one_turn_costs_what_its_knobs_say() -> None:
    one = net(1)
    assert (one["tokens"], one["latency_ms"]) == (1320, 1500)
    assert one["dollars"] == pytest.approx(0.0054, rel=1e-12)


@pytest.mark.parametrize(
    ("turns", "tokens", "dollars", "latency_ms"),
    [(0, 0, 0.0, 0), (2, 2640, 0.0108, 3000), (9, 11880, 0.048600000000000004, 13500)],
)
def test_golden_sums(turns: int, tokens: int, dollars: float, latency_ms: int) -> None:
    assert net(turns) == {"turns": turns, "tokens": tokens, "dollars": dollars, "latency_ms": latency_ms}


@pytest.mark.parametrize(
    ("assumed", "tokens", "dollars", "latency_ms"),
    [
        ("local-fast", 6480, 0.0324, 3600),
        ("hosted-flash", 11880, 0.0486, 13500),
        ("frontier", 37080, 0.1242, 36000),
    ],
)
def test_another_turn_has_its_own_price(assumed: str, tokens: int, dollars: float, latency_ms: int) -> None:
    row = sensitivity(9)[assumed]
    assert (row["turns"], row["tokens"], row["latency_ms"]) == (9, tokens, latency_ms)
    assert row["dollars"] == pytest.approx(dollars, rel=1e-12)


def test_the_usual_turn_is_among_those_that_could_be_assumed() -> None:
    assert list(TURNS) == ["local-fast", "hosted-flash", "frontier"]
    assert sensitivity(9)["hosted-flash"] == net(9)
    assert sensitivity(0)["frontier"] == net(0)


def test_the_catalog_prices_with_the_same_knobs(repo: Path) -> None:
    rows = tomllib.loads((repo / "kpis" / "catalog" / "turn.toml").read_text())["kpi"]
    for name in ("tokens_saved", "dollars_saved", "latency_saved_ms"):
        assert rows[name]["knobs"] == dict(KNOBS)
