"""The instruction leg: exact where a tool counts, demoted where two counts disagree, and never zero."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Undefined
from harness.measure.legs import Unavailable, tools
from harness.measure.legs.instructions import (
    AGREEMENT,
    ENOUGH,
    InstructionCount,
    available,
    count,
)
from harness.measure.legs.tools import read_cachegrind, read_perf
from tests.harness.measure.legs.sides import job, side

FLOOR = 1e-3
"""The floor that instruction counts are judged by: one thousandth."""

MORE_BY_ONE_IN_A_THOUSAND = ("times=1000", "times=1001")
NEUTRAL = (
    ('"""Three times and one more."""', '"""Thrice, and one more on top of that."""'),
    ("grown", "taken"),
    ("class Kept:", "class Unused:\n    size = 9\n\n\nclass Kept:"),
)


def measure(tree: Path, folder: Path, *, seed: int = 1, loops: int = 50, tool: Any = "cachegrind", **more: Any) -> Any:
    return count(job(tree, **more), tool=tool, loops=loops, seed=seed, limit=120, folder=folder, cwd=tree)


# A tool of our own in place of the hardware counter: it runs the worker and writes down what it was told to count.

FAKE_PERF = f"""#!{sys.executable}
import json, pathlib, subprocess, sys
words = sys.argv[1:]
out, command = pathlib.Path(words[words.index("-o") + 1]), words[words.index("--") + 1 :]
code = subprocess.run(command, close_fds=False).returncode
told = pathlib.Path(__file__).with_name("told.json")
told = json.loads(told.read_text())
counted = 1000
if "worker" in command:
    job = json.loads(pathlib.Path(command[command.index("worker") + 1]).read_text())
    seen = pathlib.Path(__file__).with_name("seen")
    seen.write_text((seen.read_text() if seen.exists() else "") + f"{{job['loops']}}x{{job['rounds']}} ")
    counted += told["per_call"] * job["loops"] * job["rounds"]
    if len(seen.read_text().split()) > 2:
        counted += told["later"] * job["loops"] * job["rounds"]
if told["writes"]:
    out.write_text(f"# started\\n\\n{{told['text'] or counted}},,instructions:u,1000,{{told['share']}},,\\n")
sys.exit(code)
"""


class Fake:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "perf"
        self.program.write_text(FAKE_PERF, encoding="utf-8")
        self.program.chmod(0o755)
        self.tell()

    def tell(
        self, per_call: int = 50_000, later: int = 0, text: str = "", share: str = "100.00", *, writes: bool = True
    ) -> None:
        import json

        told = {"per_call": per_call, "later": later, "text": text, "share": share, "writes": writes}
        (self.folder / "told.json").write_text(json.dumps(told), encoding="utf-8")

    @property
    def seen(self) -> list[str]:
        return (self.folder / "seen").read_text(encoding="utf-8").split()


@pytest.fixture
def perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return Fake(folder)


def test_a_leg_without_a_tool_says_so_and_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = available()
    assert isinstance(found, Unavailable)
    assert "not available" in found.reason
    assert found.reason.endswith("apt-get install valgrind")


def test_the_hardware_counter_comes_first_where_it_counts(perf: Fake) -> None:
    assert available() == "perf"


@pytest.mark.parametrize("told", [{"text": "<not supported>"}, {"share": "48.20"}, {"writes": False}])
def test_a_counter_that_does_not_count_is_passed_over(
    perf: Fake, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    perf.tell(**told)
    monkeypatch.setenv("PATH", str(perf.folder))
    (perf.folder / "true").symlink_to("/bin/true")
    assert isinstance(available(), Unavailable)


def test_a_valgrind_that_fails_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "valgrind"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isinstance(available(), Unavailable)


def test_a_count_is_the_slope_and_is_measured_twice(perf: Fake, tmp_path: Path) -> None:
    counted = measure(side(tmp_path / "base"), tmp_path, tool="perf", loops=500)
    assert counted == InstructionCount(50_000, (50_000, 50_000), 500, "perf", {})
    assert counted.agrees
    assert perf.seen == ["500x1", "500x2", "500x1", "500x2"]


def test_too_few_loops_are_raised_until_the_difference_is_enough(perf: Fake, tmp_path: Path) -> None:
    counted = measure(side(tmp_path / "base"), tmp_path, tool="perf", loops=20)
    assert isinstance(counted, InstructionCount)
    assert counted.loops * counted.per_call >= ENOUGH
    assert counted.per_call == 50_000
    assert perf.seen[:2] == ["20x1", "20x2"]


def test_counts_that_disagree_are_demoted(perf: Fake, tmp_path: Path) -> None:
    perf.tell(later=6500)
    counted = measure(side(tmp_path / "base"), tmp_path, tool="perf", loops=500)
    assert isinstance(counted, InstructionCount)
    assert counted.runs == (50_000, 56_500)
    assert not counted.agrees


def test_agreement_leaves_room_under_the_floor() -> None:
    scattered = InstructionCount(10_000, (10_000 * (1 - AGREEMENT / 2), 10_000 * (1 + AGREEMENT / 2)), 1_000, "perf")
    assert scattered.agrees
    assert not InstructionCount(10_000, (10_000, 10_000 * (1 + 2 * AGREEMENT)), 1_000, "perf").agrees
    # Both sides off by the whole of it, in opposite directions, stay under half of the floor.
    assert 2 * AGREEMENT < FLOOR / 2


def test_a_slice_that_executes_nothing_more_is_undefined_and_not_zero(perf: Fake, tmp_path: Path) -> None:
    perf.tell(per_call=0)
    counted = measure(side(tmp_path / "base"), tmp_path, tool="perf", loops=1, probe="Idle")
    assert isinstance(counted, Undefined)
    assert counted.reason == "too-short"
    assert "only 0 more instructions" in counted.detail


@pytest.mark.parametrize("told", [{"text": "<not counted>"}, {"share": "61.00"}, {"writes": False}])
def test_a_tool_that_stops_counting_is_undefined_and_not_zero(perf: Fake, tmp_path: Path, told: dict[str, Any]) -> None:
    perf.tell(**told)
    counted = measure(side(tmp_path / "base"), tmp_path, tool="perf")
    assert counted == Undefined("error", "perf wrote no count of instructions for the worker.")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"probe": "Missing"}, "has no 'Missing'"),
        ({"probe": "Short", "estimand": "call-p50"}, "63 calls where 64 were asked for"),
        ({"probe": "Count"}, "no Slice, CallSlice, Arms or Tally"),
    ],
)
def test_what_the_probe_does_wrong_is_told(perf: Fake, tmp_path: Path, more: dict[str, Any], words: str) -> None:
    tree = side(tmp_path / "base")
    counted = measure(tree, tmp_path, tool="perf", **more)
    assert isinstance(counted, Undefined)
    assert words in counted.detail


@pytest.mark.parametrize("probe", ["Batched", "Awaited"])
@pytest.mark.parametrize("estimand", ["call-mean", "call-p50"])
def test_every_kind_of_slice_is_counted(perf: Fake, tmp_path: Path, probe: str, estimand: str) -> None:
    counted = measure(side(tmp_path / "base"), tmp_path, tool="perf", loops=500, probe=probe, estimand=estimand)
    assert isinstance(counted, InstructionCount)


def test_no_loops_are_no_count(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="count nothing"):
        measure(tmp_path, tmp_path, loops=0)


def test_a_cachegrind_file_is_read_by_function() -> None:
    text = "desc: x\ncmd: y\nevents: Ir\nfl=a.c\nfn=eval\n10 700\n11 20\nfl=b.c\nfn=alloc\n5 80\nfn=eval\n12 5\n"
    assert read_cachegrind(text + "summary: 805\n") == (805, {"eval": 725, "alloc": 80})
    assert read_cachegrind(text)[0] is None
    assert read_cachegrind("")[0] is None


def test_a_perf_file_is_read_and_an_estimate_is_no_count() -> None:
    assert read_perf("# started on\n\n805,,instructions:u,12,100.00,,\n") == (805, {})
    assert read_perf("805,,instructions:u,12,99.10,,\n") == (None, {})
    assert read_perf("<not supported>,,instructions:u,0,100.00,,\n") == (None, {})
    assert read_perf("") == (None, {})


# The real thing.

needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")


@needs_valgrind
@pytest.mark.slow
def test_an_inner_call_more_in_a_thousand_is_caught_and_neutral_edits_are_not(tmp_path: Path) -> None:
    base = side(tmp_path / "base")
    first, again = (measure(base, tmp_path) for _ in range(2))
    more = measure(side(tmp_path / "more", MORE_BY_ONE_IN_A_THOUSAND), tmp_path)
    same = measure(side(tmp_path / "same", *NEUTRAL), tmp_path)
    for each in (first, again, more, same):
        assert isinstance(each, InstructionCount)
        assert each.agrees
        assert each.per_call * each.loops >= ENOUGH
    assert again.per_call == pytest.approx(first.per_call, rel=AGREEMENT)
    assert same.per_call == pytest.approx(first.per_call, rel=FLOOR / 2)
    ratio = more.per_call / first.per_call
    print(
        f"one inner call in a thousand more: {ratio - 1:+.4%}; neutral edits: {same.per_call / first.per_call - 1:+.4%}"
    )
    assert 1 + FLOOR * 0.9 < ratio < 1 + FLOOR * 1.1
    assert sum(first.functions.values()) == pytest.approx(first.per_call, rel=0.01)


@needs_valgrind
@pytest.mark.slow
def test_other_seeds_are_counted_as_well(tmp_path: Path) -> None:
    base = side(tmp_path / "base")
    counts = [measure(base, tmp_path, seed=seed) for seed in (1, 2)]
    assert all(isinstance(each, InstructionCount) and each.agrees for each in counts)
    # Only shown: whether a slice depends on its hash seed is the slice's own affair.
    print(f"seed 2 against seed 1: {counts[1].per_call / counts[0].per_call - 1:+.4%}")


@needs_valgrind
def test_cachegrind_counts_where_no_hardware_counter_does(
    perf: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf.tell(text="<not supported>")
    found = available()
    assert found == "cachegrind"
    monkeypatch.setattr(tools, "_fixed_layout", list)
    assert available() == "cachegrind"  # a kernel that forbids a fixed layout costs exactness at most
