"""``run --hook``: the user's own hook command in the place of ours."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.harness.cli.own import Command

KPIS = ("gate_primary", "spawned_hook_baseline_p50_ns")
SOUND = shlex.join([sys.executable, "-P", "-s", "-B", "-m", "harness.cli.hook"])


def run(loopladder: Command, hook: str, *words: str) -> tuple[int, dict[str, dict], dict]:
    done = loopladder("run", "--kpi", *KPIS, "--quick", "--hook", hook, "--json", "-", *words)
    told = json.loads(done.stdout)
    return done.returncode, {each["kpi"]: each for each in told["readings"]}, told


def test_the_command_is_measured_and_stands_in_the_reading(loopladder: Command) -> None:
    code, found, told = run(loopladder, SOUND)
    assert code == 0
    for kpi in KPIS:
        assert found[kpi]["params"] == {"hook": SOUND}
        assert found[kpi]["value"] is not None
    assert told["argv"][told["argv"].index("--hook") + 1] == SOUND
    assert told["selection"]["params"] == {"hook": [SOUND]}


@pytest.mark.parametrize(
    ("hook", "reason", "said"),
    [
        ("no-such-program-anywhere --fast", "not-installed", "no program no-such-program-anywhere"),
        (shlex.join([sys.executable, "-c", "print('yes')"]), "work-not-done", "no line of JSON"),
        (shlex.join([sys.executable, "-c", "raise SystemExit(4)"]), "work-not-done", "ended with code 4"),
        (
            shlex.join([sys.executable, "-c", """print('{"kind": "ALLOW", "reason": "NONE"}')"""]),
            "work-not-done",
            "otherwise than the same code in process",
        ),
    ],
)
def test_a_hook_that_misbehaves_gives_a_reason_and_no_number(
    loopladder: Command, hook: str, reason: str, said: str
) -> None:
    code, found, _ = run(loopladder, hook)
    assert code == 3
    spawned, gate = found["spawned_hook_baseline_p50_ns"], found["gate_primary"]
    assert (spawned["value"], spawned["undefined"]["reason"]) == (None, reason)
    assert said in spawned["undefined"]["detail"]
    assert (gate["value"], gate["undefined"]["reason"]) == (None, "input-undefined")


@pytest.mark.parametrize("hook", ["'unbalanced", "", "   "])
def test_what_is_no_command_is_refused(loopladder: Command, hook: str) -> None:
    done = loopladder("run", "--kpi", *KPIS, "--hook", hook)
    assert done.returncode == 2
    assert "--hook" in done.stderr
    assert "--help" in done.stderr


def test_a_selection_that_starts_no_hook_is_refused(loopladder: Command, tmp_path: Path) -> None:
    done = loopladder("run", "--kpi", "denies", "--hook", "true")
    assert done.returncode == 2
    assert "--kpi spawned_hook_baseline_p50_ns" in done.stderr
    assert not (tmp_path / ".harness" / "runs").exists()


def test_another_hook_is_another_plan_and_says_nothing_about_ours(loopladder: Command) -> None:
    plain = loopladder("run", "--kpi", KPIS[1], "--dry-run").stdout
    hooked = loopladder("run", "--kpi", KPIS[1], "--dry-run", "--hook", "my-hook").stdout
    assert "my-hook" not in plain
    assert "my-hook" in hooked
    assert run(loopladder, "no-such-program-anywhere")[0] == 3
    listed = loopladder("list", "--layer", "syscall").stdout
    row = next(line for line in listed.splitlines() if line.lstrip().startswith(KPIS[1]))
    assert "no-such-program" not in row
