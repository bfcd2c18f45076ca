"""The workloads that ship: written by their script, shaped as promised, settled by the kernel as they claim."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.probes.turn._books import verify_told
from harness.probes.turn._door import Door
from harness.probes.turn._safety import HARMS, harm_done
from harness.probes.turn._worlds import world_of
from harness.workloads import FILES, shipped
from seams.contract.syscall import ToolCall
from seams.contract.turntax import Arm
from seams.syscall.kernel import fresh_kernel
from seams.turn.turntax import TurnTaxReplay


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The author's script in a process of its own."""
    command = [sys.executable, "-B", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_they_are_what_their_script_writes(repo: Path) -> None:
    done = run(repo / "ci" / "author_workloads.py", "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_check_finds_one_changed_byte(repo: Path, tmp_path: Path) -> None:
    for folder, names in (("ci", ("author_workloads.py", "desk_phrases.py")), ("harness/workloads", FILES.values())):
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / folder / name).write_bytes((repo / folder / name).read_bytes())
    script = tmp_path / "ci" / "author_workloads.py"
    assert run(script, "--check").returncode == 0
    file = tmp_path / "harness" / "workloads" / FILES["calls"]
    file.write_bytes(file.read_bytes().replace(b"OSL", b"OSI", 1))
    done = run(script, "--check")
    assert done.returncode == 1
    assert done.stderr.startswith("desk.calls.json is not what its script writes.")
    assert run(script, "--chekc").returncode == 2


def test_the_kernel_settles_every_call_as_it_claims() -> None:
    data = shipped("calls").workload.data
    calls = [ToolCall(call["tool"], call["args"].encode(), call["meta"]) for call in data["calls"]]
    world = world_of(data["world"])
    door = Door(world)
    replay = TurnTaxReplay().replay(calls, data["world"], Arm.ON, door)
    assert [found.value for found in replay.classes] == [call["class"] for call in data["calls"]]
    returned = [each and each.body for each in verify_told(calls, replay, door, world)]
    assert [harm_done(what, data["calls"], returned, replay.context, world.harm) for what in HARMS] == [0, 0]


def test_the_calls_hold_every_class_and_repeat_their_reads() -> None:
    work = shipped("calls").workload
    calls = work.data["calls"]
    assert (work.kind, work.source, work.data["world"]) == ("calls", "synthetic", "airline")
    assert len(calls) >= 200
    classes = Counter(call["class"] for call in calls)
    assert set(classes) == {"quarantine", "deny", "pure", "static", "dedup", "grammar", "pass"}
    assert min(classes[each] for each in ("deny", "pure", "static", "dedup", "grammar", "pass")) >= 20
    assert calls[0]["tool"] == "fetch_policy"
    assert calls[0]["class"] == "quarantine"
    assert {"from", "source", "from_cur", "_positional"} <= {key for call in calls for key in json.loads(call["args"])}


def test_the_calls_bring_poisoned_and_oversize_results() -> None:
    kernel = fresh_kernel("airline")
    admitted = Counter()
    for call in shipped("calls").workload.data["calls"]:
        result, _ = kernel.syscall(ToolCall(call["tool"], call["args"].encode(), dict(call["meta"])))
        admitted[result.meta.get("admit", "as it is")] += 1
    assert admitted["quarantined"] >= 3
    assert admitted["transformed"] >= 3


def test_the_session_is_long_varied_and_repeats_some_bodies() -> None:
    loaded = shipped("session")
    turns = loaded.workload.data["turns"]
    messages = [message for turn in turns for message in turn["messages"]]
    sizes = [message["bytes"] for message in messages]
    assert (loaded.workload.kind, loaded.workload.source, loaded.issues) == ("session", "synthetic", ())
    assert len(turns) >= 60
    assert len(messages) >= 500
    assert 40 <= min(sizes) < 80
    assert 5_000 < max(sizes) <= 6_144
    assert Counter(message["role"] for message in messages)["system"] == 1
    assert {message["role"] for message in messages} == {"system", "user", "assistant", "tool"}
    repeated = len(messages) - len({message["digest"] for message in messages})
    assert 20 <= repeated <= len(messages) // 4
    assert all(turn["messages"] for turn in turns)


def test_they_stay_small(repo: Path) -> None:
    assert sum((repo / "harness" / "workloads" / name).stat().st_size for name in FILES.values()) < 1_000_000


def test_a_kind_that_does_not_ship_is_refused() -> None:
    with pytest.raises(ValueError, match=r"No workload of the kind 'video' ships; the kinds are calls, session\."):
        shipped("video")
