"""The allocation leg: blocks and bytes by memray where it is installed; without it not available, never zero."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Undefined
from harness.measure.launch import launch
from harness.measure.legs import Unavailable, allocations
from harness.measure.legs.allocations import LOOPS, AllocationCount, Share, available, count
from tests.harness.measure.legs.sides import job, side

MEMRAY = importlib.util.find_spec("memray") is not None
needs_memray = pytest.mark.skipif(not MEMRAY, reason="memray is not installed: pip install loopladder[alloc]")


def measure(tree: Path, folder: Path, **more: Any) -> Any:
    return count(job(tree, **more), seed=1, limit=60, folder=folder, cwd=tree)


def test_without_memray_the_leg_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocations.importlib.util, "find_spec", lambda _name: None)
    says = Unavailable("Allocations are not available: install loopladder[alloc]")
    assert available() == says
    assert measure(side(tmp_path / "base"), tmp_path) == says


@pytest.mark.skipif(MEMRAY, reason="memray is installed here")
def test_a_worker_without_memray_refuses_and_counts_nothing(tmp_path: Path) -> None:
    tree = side(tmp_path / "base")
    answer = launch(job(tree, task="leg:allocated", loops=4), seed=1, limit=60, folder=tmp_path, cwd=tree)
    assert answer.undefined is not None
    assert answer.undefined[0] == "not-installed"
    assert answer.undefined[1].endswith("install loopladder[alloc]")
    assert "blocks" not in answer.result


def test_two_measurements_that_differ_are_not_exact() -> None:
    assert AllocationCount(2.0, 64.0, (Share(2.0, 64.0), Share(2.0, 64.0)), {}).agrees
    assert not AllocationCount(2.0, 64.0, (Share(2.0, 64.0), Share(2.0, 65.0)), {}).agrees


@needs_memray
def test_blocks_and_bytes_of_a_call_are_named_by_function(tmp_path: Path) -> None:
    counted = measure(side(tmp_path / "base"), tmp_path, probe="Allocates")
    assert isinstance(counted, AllocationCount)
    assert counted.agrees
    # A bytearray is its object and its buffer, freed at once: gross counts both, each time. And the call's length,
    # beyond the small integers that are kept, is an object too.
    share = counted.functions["bench.py:block"]
    assert share.blocks == pytest.approx(2, abs=0.1)
    assert share.bytes >= 1000
    assert counted.blocks == pytest.approx(3, abs=0.1)
    assert share.bytes < counted.bytes < share.bytes + 64


@needs_memray
def test_a_python_call_more_allocates_nothing_though_naming_it_would(tmp_path: Path) -> None:
    once = measure(side(tmp_path / "base"), tmp_path)
    more = measure(side(tmp_path / "head", ("grown % 97", "unused(grown % 97) - 1")), tmp_path)
    assert isinstance(once, AllocationCount)
    assert (more.blocks, more.bytes) == (once.blocks, once.bytes)
    named = [each.functions["thing.py:inner"].blocks for each in (once, more)]
    assert named[1] - named[0] == pytest.approx(1000, abs=1)


@needs_memray
@pytest.mark.parametrize("probe", ["Batched", "Awaited"])
@pytest.mark.parametrize("estimand", ["call-mean", "call-p50"])
def test_every_kind_of_slice_is_counted(tmp_path: Path, probe: str, estimand: str) -> None:
    counted = measure(side(tmp_path / "base"), tmp_path, probe=probe, estimand=estimand)
    assert isinstance(counted, AllocationCount)
    assert counted.agrees


@needs_memray
def test_what_the_probe_does_wrong_is_told(tmp_path: Path) -> None:
    counted = measure(side(tmp_path / "base"), tmp_path, probe="Missing")
    assert isinstance(counted, Undefined)
    assert "has no 'Missing'" in counted.detail


def test_the_loops_stay_below_what_an_integer_of_its_own_costs() -> None:
    twice, kept, beyond = 2 * LOOPS, int("256"), int("257")
    assert twice <= kept
    assert kept is int("256")
    assert beyond is not int("257")
