"""The project's gate on itself: what fails, what is only reported, what may be accepted, and what is said."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ci.accepted import FILE, LONGEST, Accepted, AcceptedError, Count, read_accepted
from ci.against import Against, against
from ci.counted import counted
from ci.decision import Decision, decide
from ci.self_gate import self_gate
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


def decided(*rows: GateRow, accepted: tuple[Accepted, ...] = (), head: Count | None = None, **more: Any) -> Decision:
    """What is decided where the head counts ``head`` at every point that is asked about."""
    return decide(gate_file(*rows), load(), accepted, TODAY, lambda _kpi, _params: head, **more)


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
    found = decide({"schema": "harness.run/1"}, load(), (), TODAY, lambda _kpi, _params: None)
    assert found.code is Exit.UNUSABLE


def test_a_count_that_a_budget_cut_off_is_not_known() -> None:
    said = "The budget ended before it was decided"
    decision = decided(HELD, row("engine_calls", State.INCONCLUSIVE, said))
    assert decision.code is Exit.FAILED
    assert decision.lines[0].startswith(f"inconclusive: engine_calls: {said}. It is not known.")


def test_a_change_that_was_compared_with_nothing_ends_with_5_and_says_how_to_mean_it() -> None:
    decision = decided(HELD, lost="No change was compared: the base declares other dependencies.")
    assert decision.code is Exit.UNCOVERED
    assert decision.lines[0].endswith("then run: LOOPLADDER_DEPENDENCIES_MEANT=1 python ci/self_gate.py")
    assert decision.lines[-1] == "Counts: 1 held, 0 accepted. Failed."
    assert decided(MORE, lost="No change was compared: why.").code is Exit.FAILED, "a regression outweighs it"


def test_a_row_is_named_as_the_gates_page_names_it() -> None:
    # A file's keys are sorted; the catalog lists objective first.
    line = decided(HELD, row("planner_optimize_ns", State.NEW, n="1000", objective="greedy")).lines[0]
    assert "planner_optimize_ns[objective=greedy,n=1000]" in line


# What may be accepted

ENTRY = """\
[[accepted]]
kpi = "candidate_scorings"
params = { arm = "bounded" }
at_most = 120
why = "More rows."
until = 2027-03-10
"""


def entries(text: str) -> tuple[Accepted, ...]:
    return read_accepted(text, load(), TODAY)


def test_an_accepted_row_is_printed_with_its_reason_and_passes_on_its_last_day() -> None:
    decision = decided(MORE, accepted=entries(ENTRY), head=120)
    assert decision.code is Exit.OK
    assert decision.lines[0] == (
        "accepted until 2027-03-10: candidate_scorings[arm=bounded]: 90 -> 120 (lower is better). More rows."
    )
    assert decision.lines[-1] == "Counts: 0 held, 1 accepted. Passed."


def test_an_entry_without_parameters_speaks_of_every_point_and_one_with_them_of_its_own() -> None:
    other = row("candidate_scorings", State.REGRESSED, "9 -> 12", arm="full")
    everywhere = entries(ENTRY.replace('params = { arm = "bounded" }\n', ""))
    assert decided(MORE, other, accepted=everywhere, head=12).code is Exit.OK
    assert decided(MORE, other, accepted=entries(ENTRY), head=12).code is Exit.FAILED


def test_an_entry_accepts_so_much_and_no_more() -> None:
    beyond = decided(HELD, MORE, accepted=entries(ENTRY), head=121)
    assert beyond.code is Exit.FAILED
    assert f"{FILE} accepts at most 120, and the head counts 121. Mend one of them" in beyond.lines[0]
    assert "changed: seams/turn/planner.py" in beyond.lines[0]
    assert beyond.lines[-1] == "Counts: 1 held, 0 accepted. Failed."
    unknown = decided(HELD, MORE, accepted=entries(ENTRY))
    assert unknown.code is Exit.FAILED
    assert "the head counts no number" in unknown.lines[0]


RATE = '[[accepted]]\nkpi = "vdso_hit_rate"\nwhy = "W."\nuntil = 2027-03-10\nat_least = 0.3333333\n'
NEUTRAL = RATE.replace("vdso_hit_rate", "preflight_catch_rate").replace("at_least", "exactly")
HISTOGRAM = (
    RATE.replace("vdso_hit_rate", "verdict_reason_distribution")
    .replace("at_least", "exactly")
    .replace("0.3333333", '{ "DENY/POLICY_BLOCK" = 4 }')
)


@pytest.mark.parametrize(
    ("text", "head", "admitted"),
    [
        (ENTRY, 119, True),
        (ENTRY, 0, True),
        (RATE, 1 / 3, True),
        (RATE, 0.5, True),
        (RATE, 0.3333, False),
        (NEUTRAL, 1 / 3, True),
        (NEUTRAL, 0.5, False),
        (HISTOGRAM, {"DENY/POLICY_BLOCK": 4}, True),
        (HISTOGRAM, {"DENY/POLICY_BLOCK": 3}, False),
        (HISTOGRAM, {"DENY/POLICY_BLOCK": 4, "DENY/OTHER": 1}, False),
        (HISTOGRAM, {}, False),
        (HISTOGRAM, 4, False),
    ],
)
def test_the_bound_is_on_the_side_where_the_count_is_worse(text: str, head: Count, admitted: bool) -> None:
    (entry,) = entries(text)
    assert entry.admits(head) is admitted


def test_the_longest_entry_is_a_month() -> None:
    # The next change comes on top of this one; by then the entry is of no use but as a switch.
    assert timedelta(days=28) <= LONGEST <= timedelta(days=31)
    assert entries(ENTRY.replace("2027-03-10", "2027-04-09"))
    with pytest.raises(AcceptedError, match="more than 30 days away: 2027-04-09 is the last day"):
        entries(ENTRY.replace("2027-03-10", "2027-04-10"))


@pytest.mark.parametrize("found", [HELD, MORE])
def test_an_entry_whose_date_has_passed_fails_used_or_not(found: GateRow) -> None:
    decision = decided(found, accepted=entries(ENTRY.replace("03-10", "03-09")), head=1)
    assert decision.code is Exit.FAILED
    assert f"{FILE}: the entry of candidate_scorings ended on 2027-03-09. Take it out" in "\n".join(decision.lines)


def test_an_entry_that_has_ended_accepts_nothing_any_more() -> None:
    decision = decided(MORE, accepted=entries(ENTRY.replace("03-10", "03-09")), head=1)
    assert decision.lines[0].startswith("regressed: candidate_scorings[arm=bounded]")
    assert decision.lines[-1] == "Counts: 0 held, 0 accepted. Failed."


def test_an_entry_that_this_change_did_not_need_is_stale() -> None:
    decision = decided(HELD, accepted=entries(ENTRY))
    assert decision.code is Exit.OK
    assert "stale: no row of this change needed the entry of candidate_scorings" in decision.lines[0]


@pytest.mark.parametrize("state", [State.VOID, State.INCONCLUSIVE])
def test_only_a_regression_can_be_accepted(state: State) -> None:
    found = row("candidate_scorings", state, "why", arm="bounded")
    assert decided(HELD, found, accepted=entries(ENTRY), head=1).code is Exit.FAILED


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
        (ENTRY.replace("candidate_scorings", "gate_primary"), "a broken one is never accepted"),
        (ENTRY.replace("2027-03-10", "9999-12-31"), "more than 30 days away"),
        (ENTRY.replace("at_most = 120\n", ""), "at_most is missing"),
        (ENTRY.replace("120", "true"), "at_most is missing or no number"),
        (ENTRY.replace("120", "inf"), "at_most is missing or no number"),
        (ENTRY.replace("at_most", "at_least"), "at_least does not bound candidate_scorings; say how far it may go"),
        (RATE.replace("at_least", "at_most"), "at_most does not bound vdso_hit_rate"),
        (NEUTRAL.replace("exactly", "at_most"), "with exactly"),
        (HISTOGRAM.replace('{ "DENY/POLICY_BLOCK" = 4 }', "4"), "no table of what the head counts by key"),
        (HISTOGRAM.replace("4", '"4"'), "no table of what the head counts by key"),
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
    read_accepted(text, load(), datetime.now(UTC).date())
    shown = "\n".join(line[4:] for line in text.splitlines() if line.startswith("#   "))
    (entry,) = read_accepted(shown, load(), date(2027, 1, 10))
    assert entry.params == {"arm": "bounded"}
    assert (entry.bound, entry.limit) == ("at_most", 2900)


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
    assert not against(repo.top, None).lost


def test_a_change_of_dependencies_is_lost_to_the_gate_and_one_that_is_not_committed_is_refused(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit({"pyproject.toml": PROJECT})
    repo.commit({"x": "2"})
    more = PROJECT.replace("[]", '["numpy"]')
    repo.write({"pyproject.toml": more})
    for named in (None, "HEAD"):
        with pytest.raises(SubjectError, match=r"than HEAD \(dependencies: numpy .* git commit pyproject\.toml$"):
            against(repo.top, named)
    repo.commit({"pyproject.toml": more})
    found = against(repo.top, None)
    assert found.lost
    assert found.revision == "HEAD"
    assert "declares other dependencies (dependencies: numpy" in (found.why or "")
    repo.commit({"x": "3"})
    assert against(repo.top, None) == Against("HEAD^1"), "what is built on it has a base again"


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

Mine = Callable[..., Decision]


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
    return made, lambda **more: self_gate(made.top, None, TODAY, ["mine_count"], **more)


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
    entry = '[[accepted]]\nkpi = "mine_count"\nwhy = "Four."\nuntil = 2027-04-01\nat_most = 4\n'
    made.write({FILE: entry})
    decision = gated()
    assert decision.code is Exit.OK
    assert decision.lines[0].endswith("Four.")
    made.write({FILE: entry.replace("at_most = 4", "at_most = 3")})
    decision = gated()
    assert decision.code is Exit.FAILED
    assert "accepts at most 3, and the head counts 4" in decision.lines[0]
    made.write({FILE: entry.replace("mine_count", "his_count")})
    assert gated().code is Exit.UNUSABLE


def test_a_count_is_compared_whatever_the_budget(mine: tuple[Repo, Mine], monkeypatch: pytest.MonkeyPatch) -> None:
    made, gated = mine
    made.commit({"mine.py": "def count():\n    return 3 * 1\n"})
    monkeypatch.setattr("ci.self_gate.BUDGET", "1ms")
    decision = gated()
    assert decision.code is Exit.OK, decision.lines
    assert decision.lines == ["Counts: 1 held, 0 accepted. Passed."]


def test_a_commit_that_changes_dependencies_passes_only_where_that_is_meant(mine: tuple[Repo, Mine]) -> None:
    made, gated = mine
    more = (made.top / "pyproject.toml").read_text().replace("dependencies = []", 'dependencies = ["numpy"]')
    made.commit({"pyproject.toml": more, "mine.py": "def count():\n    return 9\n"})
    decision = gated()
    assert decision.code is Exit.UNCOVERED
    assert "No change was compared" in decision.lines[0]
    assert gated(meant=True).code is Exit.OK


def test_what_the_tree_counts_is_a_number_a_histogram_or_nothing(mine: tuple[Repo, Mine]) -> None:
    made, _ = mine
    assert counted(made.top, "mine_count", {}) == 3
    assert counted(made.top, "mine_count", {"arm": "full"}) is None
    assert counted(made.top, "his_count", {}) is None
    found = counted(made.top, "verdict_reason_distribution", {})
    assert isinstance(found, dict)
    assert all(isinstance(count, int) for count in found.values())


def test_a_gate_that_cannot_begin_fails(mine: tuple[Repo, Mine]) -> None:
    made, gated = mine
    made.commit({"pyproject.toml": PROJECT + 'under_test = ["his"]\n'})
    decision = gated()
    assert decision.code is Exit.UNUSABLE
    assert "before it had compared anything" in decision.lines[0]
