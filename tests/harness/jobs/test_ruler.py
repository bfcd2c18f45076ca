"""The ruler: fixed work that never changes, and a run that carries its times. No time is asserted, only what is one."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from harness.measure import boot as boots
from harness.measure.boot import boot
from harness.measure.ruler import ROUNDS, ruler_ns, work
from tests.harness.cli.conftest import loopladder as loopladder
from tests.harness.cli.own import Command


def test_its_work_is_what_it_always_was() -> None:
    """Whoever edits the work makes every ruler time on record one of something else."""
    assert (work(1), work(ROUNDS)) == (2935314871, 1040594769)
    with pytest.raises(ValueError, match="at least one round"):
        work(0)


@pytest.mark.parametrize("collecting", [True, False])
def test_it_measures_and_leaves_the_collector_as_it_was(collecting: bool) -> None:
    was = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        assert ruler_ns() > 0
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if was else gc.disable)()


def test_a_boot_is_a_short_digest_and_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "boot_id"
    file.write_text("0e5f0e0a-1111-2222-3333-444455556666\n")
    monkeypatch.setattr(boots, "_ID", file)
    first = boot()
    assert first is not None
    assert len(first) == 6
    assert first not in file.read_text()
    file.write_text("another\n")
    assert boot() not in (None, first)
    monkeypatch.setattr(boots, "_ID", tmp_path / "missing")
    assert boot() is None


def test_a_run_carries_both_ends_of_it(loopladder: Command) -> None:
    done = loopladder("run", "--kpi", "denies", "--quick", "--json", "-")
    assert done.returncode == 0, done.stderr
    noise = json.loads(done.stdout)["noise"]
    assert {*noise} == {"before", "after", "ruler", "boot"}
    assert min(noise["ruler"]["before_ns"], noise["ruler"]["after_ns"]) > 0
    assert noise["boot"] == boot()
