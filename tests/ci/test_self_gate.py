"""The project's gate on itself: what fails, what is only reported, what may be accepted, and what is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ci.accepted import FILE, Accepted, AcceptedError, read_accepted
from ci.against import against
from ci.self_gate import Decision, decide, self_gate
from harness.cli.exits import Exit
from harness.record.gate import GateFile, GateRow, GateSide, encode
from harness.record.run import Machine
from harness.subject import SubjectError
from kpis.registry import load
from kpis.terms.claim import Verdict, VerdictBasis, VerdictState
from kpis.terms.comparison import State
from kpis.terms.reading import Leg
from tests.harness.subject.repository import Repo

TODAY = date(2027, 3, 10)


def row(kpi: str, state: State, *evidence: str, leg: Leg = Leg.MAIN, **params: str) -> GateRow:
    return GateRow(
        kpi=kpi,
        params=params,
        runtime="reference",
        workload=None,
        leg=leg,
        state=state,
        ratio=1.2 if leg is Leg.MAIN and state is State.REGRESSED else None,
        low=None,
        high=None,
        pairs=0,
        smallest_visible=None,
        alpha=None,
        off_cpu=None,
        functions=[],
        paths=["seams/turn/planner.py"] if state is State.REGRESSED else [],
        evidence=list(evidence),
        warnings=[],
    )


def gate_file(*rows: GateRow) -> dict[str, Any]:
    """A gate file as it is written; its verdict is not looked at."""
    side = GateSide(commit="1" * 40, dirty=False, touched={})
    return json.loads(
        encode(
            GateFile(
                id="20270310T000000Z-abcdef",
                created="2027-03-10T00:00:00Z",
                argv=[],
                base=side,
                head=side,
                verdict=Verdict(VerdictState.PASS, VerdictBasis.CLEAN),
                claims=[],
                rows=list(rows),
                injected={},
                machine=Machine(slug="m", fingerprint={}),
                environment={},
                noise={},
                seed=1,
                seconds=1.0,
            )
        )
    )


def decided(*rows: GateRow, accepted: tuple[Accepted, ...] = ()) -> Decision:
    return decide(gate_file(*rows), load(), accepted, TODAY)


HELD = row("denies", State.OK, "3 -> 3")
MORE = row("candidate_scorings", State.REGRESSED, "90 -> 120 (lower is better)", arm="bounded")
TIMED = {"objective": "greedy", "n": "1000"}


@pytest.mark.parametrize(
    ("found", "code", "says"),
    [
        (HELD, Exit.OK, None),
        (row("denies", State.UNCHANGED), Exit.OK, None),
        (row("turns_saved", State.IMPROVED, "3 -> 4", kind="all"), Exit.OK, None),
        (MORE, Exit.FAILED, "regressed: candidate_scorings[arm=bounded]: 90 -> 120 (lower is better)"),
        (row("gate_primary", State.REGRESSED, "held on head in 0 of 2"), Exit.FAILED, "gate_primary: held on head"),
        (row("vdso_hit_rate", State.REGRESSED, "0.5 -> 0.4", arm="isolated"), Exit.FAILED, "vdso_hit_rate"),
        (row("verdict_reason_distribution", State.REGRESSED, "it differs"), Exit.FAILED, "it differs"),
        (row("denies", State.INCONCLUSIVE), Exit.FAILED, "It is not known. Look with"),
        (row("denies", State.NO_BASELINE), Exit.FAILED, "It is not known. Look with"),
        (row("denies", State.VOID, "on the head: it broke"), Exit.FAILED, "void: denies: on the head: it broke"),
        (row("planner_optimize_ns", State.VOID, "it broke", **TIMED), Exit.FAILED, "void: planner_optimize_ns"),
        (row("long_gone", State.REMOVED, "declared on the base only"), Exit.UNCOVERED, "removed: long_gone"),
        (row("denies", State.NEW, "on the base: none"), Exit.OK, "new, nothing to compare with: denies"),
        (row("planner_optimize_ns", State.NEW, **TIMED), Exit.OK, "new, nothing to compare with: planner"),
        (
            row("planner_optimize_ns", State.REGRESSED, **TIMED),
            Exit.OK,
            "reported only: planner_optimize_ns[objective=greedy,n=1000] is regressed, +20.0 %",
        ),
        (row("tool_call_p50_ns", State.INCONCLUSIVE), Exit.OK, "reported only: tool_call_p50_ns is inconclusive"),
        (row("denies", State.REMOVED, "not offered"), Exit.UNCOVERED, "removed: denies: not offered. Look with"),
        (row("tokens_saved", State.REGRESSED, "9 -> 3"), Exit.OK, "reported only: tokens_saved: 9 -> 3"),
        (row("tool_call_p50_ns", State.REGRESSED, leg=Leg.INSTRUCTIONS), Exit.OK, None),
        (row("tool_call_p50_ns", State.VOID, "no counter", leg=Leg.INSTRUCTIONS), Exit.OK, None),
    ],
)
def test_each_state_of_a_row(found: GateRow, code: Exit, says: str | None) -> None:
    decision = decided(HELD, found)
    assert decision.code is code
    *lines, last = decision.lines
    assert last.endswith("Passed." if code is Exit.OK else "Failed.")
    assert (len(lines) == 0) if says is None else any(says in line for line in lines), lines


def test_a_regressed_count_names_what_changed_and_the_way_in() -> None:
    line = decided(HELD, MORE).lines[0]
    assert "changed: seams/turn/planner.py" in line
    assert line.endswith(f"If it is meant, say why in {FILE}, then run: python ci/self_gate.py")


def test_a_regression_outweighs_what_has_gone() -> None:
    assert decided(HELD, row("long_gone", State.REMOVED), MORE).code is Exit.FAILED


@pytest.mark.parametrize("rows", [(), (row("denies", State.NEW),), (row("tool_call_p50_ns", State.OK),)])
def test_where_no_count_was_compared_nothing_passes(rows: tuple[GateRow, ...]) -> None:
    decision = decided(*rows)
    assert decision.code is Exit.UNCOVERED
    assert any("No count was compared" in line for line in decision.lines)


def test_another_schema_is_refused() -> None:
    assert decide({"schema": "harness.run/1"}, load(), (), TODAY).code is Exit.UNUSABLE


# What may be accepted

ENTRY = (
    '[[accepted]]\nkpi = "candidate_scorings"\nparams = { arm = "bounded" }\nwhy = "More rows."\nuntil = 2027-03-10\n'
)


def entries(text: str) -> tuple[Accepted, ...]:
    return read_accepted(text, load())


def test_an_accepted_row_is_printed_with_its_reason_and_passes_on_its_last_day() -> None:
    decision = decided(MORE, accepted=entries(ENTRY))
    assert decision.code is Exit.OK
    assert decision.lines[0] == (
        "accepted until 2027-03-10: candidate_scorings[arm=bounded]: 90 -> 120 (lower is better). More rows."
    )
    assert decision.lines[-1] == "Counts: 0 held, 1 accepted. Passed."


def test_an_entry_without_parameters_speaks_of_every_point_and_one_with_them_of_its_own() -> None:
    other = row("candidate_scorings", State.REGRESSED, "9 -> 12", arm="full")
    everywhere = entries(ENTRY.replace('params = { arm = "bounded" }\n', ""))
    assert decided(MORE, other, accepted=everywhere).code is Exit.OK
    assert decided(MORE, other, accepted=entries(ENTRY)).code is Exit.FAILED


@pytest.mark.parametrize("found", [HELD, MORE])
def test_an_entry_whose_date_has_passed_fails_used_or_not(found: GateRow) -> None:
    decision = decided(found, accepted=entries(ENTRY.replace("03-10", "03-09")))
    assert decision.code is Exit.FAILED
    assert f"{FILE}: the entry of candidate_scorings ended on 2027-03-09. Take it out" in "\n".join(decision.lines)


def test_an_entry_that_nothing_needed_yet_is_mentioned() -> None:
    decision = decided(HELD, accepted=entries(ENTRY))
    assert decision.code is Exit.OK
    assert "no row needed the entry of candidate_scorings" in decision.lines[0]


@pytest.mark.parametrize("state", [State.VOID, State.INCONCLUSIVE])
def test_only_a_regression_can_be_accepted(state: State) -> None:
    found = row("candidate_scorings", state, "why", arm="bounded")
    assert decided(HELD, found, accepted=entries(ENTRY)).code is Exit.FAILED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[accepted]\n", "is not valid TOML"),
        ("[[acepted]]\n", "'acepted' is not known"),
        ("accepted = 3\n", "begins with [[accepted]]"),
        ("accepted = [3]\n", "begins with [[accepted]]"),
        (ENTRY.replace("candidate_scorings", "candidate_scoring"), "did you mean candidate_scorings?"),
        (ENTRY.replace('kpi = "candidate_scorings"\n', ""), "it names no kpi"),
        (ENTRY.replace('why = "More rows."\n', ""), "why says nothing"),
        (ENTRY.replace("More rows.", " "), "why says nothing"),
        (ENTRY.replace("until = 2027-03-10\n", ""), "until is no date"),
        (ENTRY.replace("2027-03-10", "2027-03-10T00:00:00"), "until is no date"),
        (ENTRY.replace("2027-03-10", '"2027-03-10"'), "until is no date"),
        (ENTRY.replace("bounded", "bound"), "has no point with arm = 'bound'"),
        (ENTRY.replace('{ arm = "bounded" }', '"bounded"'), "params is a table"),
        (ENTRY + 'reason = "x"\n', "'reason' is not known"),
        (ENTRY.replace("candidate_scorings", "tool_call_p50_ns"), "only counts are accepted"),
    ],
)
def test_an_entry_that_cannot_be_used_gets_one_sentence(text: str, says: str) -> None:
    with pytest.raises(AcceptedError) as caught:
        entries(text)
    assert says in str(caught.value)
    assert str(caught.value).startswith(FILE)
    assert str(caught.value).endswith("Mend it, then run: python ci/self_gate.py")


def test_the_committed_entries_can_be_read_and_the_comment_shows_one(repo: Path) -> None:
    text = (repo / FILE).read_text(encoding="utf-8")
    entries(text)
    shown = "\n".join(line[4:] for line in text.splitlines() if line.startswith("#   "))
    (entry,) = entries(shown)
    assert entry.params == {"arm": "bounded"}


# What it is held against

PROJECT = '[project]\nname = "mine"\nversion = "1"\ndependencies = []\n[tool.harness]\nkpis = ["bench/*.toml"]\n'


def test_the_base_is_the_first_parent_or_what_is_named(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit({"pyproject.toml": PROJECT})
    repo.commit({"x": "2"})
    repo.git("tag", "mark")
    repo.commit({"x": "3"})
    assert against(repo.top, None).revision == "HEAD^1"
    assert against(repo.top, "mark").revision == "mark"
    assert against(repo.top, None).why is against(repo.top, "mark").why is None
    with pytest.raises(SubjectError, match="no commit named 'nowhere'"):
        against(repo.top, "nowhere")


def test_where_no_change_can_be_compared_it_is_said(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit({"pyproject.toml": PROJECT})
    first = against(repo.top, None)
    assert first.revision == "HEAD"
    assert "No change was compared: HEAD has no parent here" in (first.why or "")
    repo.commit({"x": "2"})
    subprocess.run(["git", "clone", "--quiet", "--depth=1", repo.top.as_uri(), str(tmp_path / "shallow")], check=True)
    assert against(tmp_path / "shallow", None) == first
    assert "HEAD leads to HEAD itself" in (against(repo.top, "HEAD").why or "")
    repo.write({"x": "3"})
    assert against(repo.top, "HEAD").why is None, "what is not committed is a change"
    repo.commit({"pyproject.toml": PROJECT.replace("[]", '["numpy"]')})
    assert "declares other dependencies (dependencies: numpy" in (against(repo.top, None).why or "")


# The whole of it, on a repository of its own

ROWS = """\
[seam."mine/work"]
title = "The work"

[kpi.mine_count]
layer = "turn"
seam = "mine/work"
probe = "bench.probes:count"
question = "How many?"
fence = "A test."
unit = "count"
direction = "lower"
estimand = "count"
gate = "exact"
target_status = "standing"
"""
PROBES = "from harness import probe\nfrom harness.measure.clock import Tally\nimport mine\n\n\n"
COUNT = "@probe\ndef count():\n    return Tally(mine.count())\n"

Mine = Callable[[], Decision]


@pytest.fixture
def mine(tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Repo, Mine]:
    monkeypatch.setenv("PYTHONPATH", str(repo))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    made = Repo(tmp_path / "repo")
    made.commit(
        {
            "pyproject.toml": PROJECT + 'under_test = ["mine"]\n',
            "bench/kpis.toml": ROWS,
            "bench/__init__.py": "",
            "bench/probes.py": PROBES + COUNT,
            "mine.py": "def count():\n    return 3\n",
            ".gitignore": ".harness/\n",
        }
    )
    return made, lambda: self_gate(made.top, None, TODAY, ["mine_count"])


def test_a_repository_is_gated_commit_by_commit(mine: tuple[Repo, Mine], capfd: pytest.CaptureFixture[str]) -> None:
    made, gated = mine
    decision = gated()
    assert decision.code is Exit.OK, decision.lines
    out = capfd.readouterr().out
    assert "No change was compared" in out
    assert "ok: mine_count: 3 -> 3" in out, "counted, although no file differs"
    made.commit({"mine.py": "def count():\n    return 4\n"})
    decision = gated()
    assert decision.code is Exit.FAILED
    assert "mine_count: 3 -> 4" in decision.lines[0]
    assert "No change was compared" not in capfd.readouterr().out
    entry = '[[accepted]]\nkpi = "mine_count"\nwhy = "Four."\nuntil = 2027-04-01\n'
    made.write({FILE: entry})
    assert gated().lines[0].endswith("Four.")
    made.write({FILE: entry.replace("mine_count", "his_count")})
    assert gated().code is Exit.UNUSABLE


def test_a_gate_that_cannot_begin_fails(mine: tuple[Repo, Mine]) -> None:
    made, gated = mine
    made.commit({"pyproject.toml": PROJECT + 'under_test = ["his"]\n'})
    decision = gated()
    assert decision.code is Exit.UNUSABLE
    assert "before it had compared anything" in decision.lines[0]


# The gate as a script


@pytest.mark.parametrize(
    ("code", "ends", "annotation"),
    [(0, 0, None), (3, 0, "::warning"), (1, 1, "::error"), (5, 5, "::error"), (2, 2, "::error")],
)
def test_the_script_writes_a_summary_and_annotations_and_nothing_else(
    code: int, ends: int, annotation: str | None, repo: Path, tmp_path: Path
) -> None:
    fake = tmp_path / "fake"
    fake.write_text(f'#!/bin/sh\necho "a page for $*"\necho "a note" >&2\nexit {code}\n')
    fake.chmod(0o755)
    shutil.copy(repo / "ci" / "gate", tmp_path / "gate")
    (tmp_path / "summary").write_text("before\n")
    # No token: what a workflow of a fork has.
    environment = {
        "PATH": os.environ["PATH"],
        "LOOPLADDER": str(fake),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    command = [str(tmp_path / "gate"), "origin/main", "--budget", "5m"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == ends
    page = "a page for gate --against origin/main --json .harness/gate.json --budget 5m\na note\n"
    assert (tmp_path / "summary").read_text() == f"before\n```\n{page}```\n"
    said = done.stdout.removeprefix(page)
    assert said == "" if annotation is None else said.startswith(f"{annotation} title=loopladder::")
    assert len(said.splitlines()) <= 1, "one annotation"


@pytest.mark.parametrize("workflow", ["pull-request.yml", "nightly.yml"])
def test_a_workflow_asks_for_no_more_than_reading(workflow: str, repo: Path) -> None:
    text = (repo / "ci" / "workflows" / workflow).read_text(encoding="utf-8")
    assert "permissions:\n  contents: read\njobs:" in text
    assert "write" not in text
    assert "secrets." not in text
    assert "pull_request_target" not in text
    assert "GITHUB_STEP_SUMMARY" in text
