"""The loop end to end on a real repository: its journal's vectors, what it keeps, and that the rest leaves no trace."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from seams.contract.rsi_breaker import Profile
from seams.contract.rsi_loop import Candidate
from seams.rsi.changes import constant
from seams.rsi.errors import LoopError
from seams.rsi.journal import read
from seams.rsi.loop import ReferenceLoop, offer
from seams.rsi.trial import metric_of
from tests.seams.rsi.repository import Repo, contents, metric, running

LOOP = ReferenceLoop()


def decided(repo: Repo, *candidates: Candidate, **more: object) -> list[str | None]:
    return [row.decision for row in LOOP.run(repo.charge(**more), candidates).rows]


def test_the_vector_of_four_cycles(tmp_path: Path, temporary: Path) -> None:
    repo = Repo(tmp_path / "r", metric=".068182")
    # The third proposes the second's value again, in other words: a change without a gain.
    given = [metric(".157197"), metric(".284091"), metric("0.284091"), metric(".467803")]
    result = LOOP.run(repo.charge(), given)
    assert [row.kept for row in result.rows] == [True, True, False, True]
    assert (result.cycles, result.kept, result.kept / result.cycles) == (4, 3, 0.75)
    assert (result.final_baseline, result.final, result.rows[2].baseline) == (0.068182, 0.467803, 0.284091)
    assert all(row.suite_green and row.truth_clean for row in result.rows)
    assert not result.escalated
    assert read(repo.journal) == (result.rows, 0, ())


def test_the_vector_of_a_trip(repo_of_one: Repo) -> None:
    given = [metric("1.00"), metric(2), metric("2.0"), metric("2.00"), metric(9)]
    result = LOOP.run(repo_of_one.charge(k=2), given)
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP", "REVERT", "ESCALATE"]
    assert (result.cycles, result.kept, result.escalated) == (4, 1, True)
    assert [row.breaker_nonkeeps for row in result.rows] == [1, 0, 1, 2]


def test_kept_commits_are_better_and_reverted_ones_leave_no_trace(repo_of_one: Repo) -> None:
    repo = repo_of_one
    before, head = contents(repo.top), repo.git("rev-parse", "HEAD")
    result = LOOP.run(repo.charge(), [metric(3), metric(2, "worse"), metric(5), metric(4, "worse too")])
    commits = repo.git("rev-list", "--reverse", "main..rsi").split()
    assert commits == [row.commit for row in result.rows if row.kept]
    values = [float(repo.git("show", f"{commit}:metric")) for commit in ("main", *commits)]
    assert values == sorted(set(values)) == [1.0, 3.0, 5.0]
    assert result.tip == commits[-1] == repo.git("rev-parse", "rsi")
    for parent, commit in zip([head, *commits], commits, strict=False):
        assert repo.git("diff-tree", "-r", "--name-only", parent, commit) == "metric"
    assert repo.git("log", "-1", "--format=%an <%ae> %s", "rsi") == "loopladder rsi <rsi@loopladder.invalid> 5"
    # The user's own tree, its HEAD and its branch are where they were.
    assert (repo.git("rev-parse", "HEAD"), repo.git("symbolic-ref", "HEAD")) == (head, "refs/heads/main")
    store = {path: digest for path, digest in contents(repo.top).items() if not path.startswith(".git/")}
    assert store == {path: digest for path, digest in before.items() if not path.startswith(".git/")}
    assert repo.git("status", "--porcelain") == ""
    worse = subprocess.run(["git", "cat-file", "-e", _blob(b"2")], cwd=repo.top, capture_output=True, check=False)
    assert worse.returncode != 0


def _blob(content: bytes) -> str:
    import hashlib

    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def test_a_loop_that_keeps_nothing_leaves_the_store_as_it_was(repo_of_one: Repo) -> None:
    before = contents(repo_of_one.top)
    assert decided(repo_of_one, metric("1.00"), metric(0), metric(2, red=b"")) == ["REVERT", "REVERT", "ESCALATE"]
    assert contents(repo_of_one.top) == before
    assert repo_of_one.branches() == {"main"}


def test_the_same_candidates_make_the_same_commits(tmp_path: Path, temporary: Path) -> None:
    repo = Repo(tmp_path / "r")
    first = LOOP.run(repo.charge(), [metric(2), metric(3)])
    copy = tmp_path / "again"
    subprocess.run(["git", "clone", "--quiet", str(repo.top), str(copy)], check=True, capture_output=True)
    again = LOOP.run(repo.charge(repository=copy, journal=tmp_path / "other"), [metric(2), metric(3)])
    assert again.rows == first.rows
    assert repo.journal.read_bytes() == (tmp_path / "other").read_bytes()


def test_lower_may_be_better(repo_of_one: Repo) -> None:
    assert decided(repo_of_one, metric(2), metric("0.5"), lower_better=True) == ["REVERT", "KEEP"]


def test_an_edit_of_the_same_size_in_the_same_second_is_seen(repo_of_one: Repo) -> None:
    assert decided(repo_of_one, metric("1.1"), metric("1.2"), metric("1.3")) == ["KEEP"] * 3


def test_a_red_suite_is_reverted_and_named(repo_of_one: Repo) -> None:
    charge = repo_of_one.charge(suite=[[], ["sh", "-c", "exit 0"], ["sh", "-c", "echo broken >&2; exit 7"]])
    with pytest.raises(LoopError, match=r"red suite, before any candidate: .*exited with status 7: broken"):
        LOOP.run(charge, [metric(2)])
    charge = repo_of_one.charge(suite=[[], ["sh", "-c", "cat metric; test $(cat metric) != 2 || exit 7"]])
    (row,) = LOOP.run(charge, [metric(2)]).rows
    assert (row.measured, row.improved, row.suite_green, row.truth_clean) == (True, True, False, True)
    assert row.note is not None
    assert row.note.endswith("exited with status 7: 2")


def test_what_is_said_of_a_failure_is_cut(repo_of_one: Repo) -> None:
    (row,) = LOOP.run(repo_of_one.charge(), [running("print('x' * 300_000); raise SystemExit(3)")]).rows
    assert row.note is not None
    assert "exited with status 3" in row.note
    assert len(row.note) < 600


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit(1)", "exited with status 1"),
        ("import os; os.kill(os.getpid(), 9)", "exited with status"),
        ("print('KPI=99')", "2 lines of the measurement hold KPI="),
        ("this is no python", "exited with status 1"),
    ],
)
def test_what_cannot_be_measured_is_red_and_dirty(repo_of_one: Repo, code: str, why: str) -> None:
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert (row.measured, row.candidate_metric, row.suite_green, row.truth_clean) == (False, None, False, False)
    assert row.decision == "REVERT"
    assert why in (row.note or "")


@pytest.mark.parametrize(
    "said",
    [
        "echo KPI=nan",
        "echo KPI=inf",
        "echo KPI=",
        "echo KPI=1,5",
        "echo KPI=1_0",
        "echo KPI=0x9",
        "echo KPI=1e999",
        "true",
    ],
)
def test_a_baseline_that_is_no_number_is_refused(repo_of_one: Repo, said: str) -> None:
    with pytest.raises(LoopError, match=r"cannot be measured, before any candidate"):
        LOOP.run(repo_of_one.charge(measure=["sh", "-c", said]), [metric(2)])
    assert not repo_of_one.journal.read_bytes()


@pytest.mark.parametrize(
    ("said", "value"), [("1", 1.0), (" -1.5e-3 ", -0.0015), ("+.5", 0.5), ("7.", 7.0), ("1E2", 100.0)]
)
def test_a_number_is_as_other_programs_write_one(said: str, value: float) -> None:
    assert metric_of(f"begun\nKPI={said}\n") == value


@pytest.mark.parametrize("said", ["1_0", "\u0661", "\uff11", "1e", ".", "", "1 2", "infinity", "1d0"])
def test_what_only_python_takes_for_a_number_is_none(said: str) -> None:
    with pytest.raises(ValueError, match="no finite number"):
        metric_of(f"KPI={said}")


def test_a_program_that_is_not_there_is_refused(repo_of_one: Repo) -> None:
    with pytest.raises(LoopError, match="could not start"):
        LOOP.run(repo_of_one.charge(measure=["no-such-program-anywhere"]), [metric(2)])


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        (metric(2, README=b"another file"), "README changed besides metric"),
        (metric(2, red=None), "there is no red to remove"),
        (metric("1.0", "what is there already"), "metric did not change"),
        (running("open('metric', 'w').write('7')"), "metric changed besides run.py"),
        (running("open('run.py', 'a').write('#')"), "run.py was rewritten while it was measured"),
        (running("open('extra', 'w')"), "extra changed besides run.py"),
        (running("import os; os.remove('README.md')"), "README.md changed besides run.py"),
        (running("import os; os.mkdir('d'); open('d/.gitignore', 'w').write('*')"), "d/.gitignore changed besides"),
        (running("import os; os.chmod('README.md', 0o755)"), "README.md changed besides run.py"),
        (running("import os; os.remove('.git'); os.mkdir('.git'); open('x', 'w')"), "x changed besides run.py"),
    ],
)
def test_only_the_declared_file_may_change(repo_of_one: Repo, candidate: Candidate, why: str) -> None:
    (row,) = LOOP.run(repo_of_one.charge(), [candidate]).rows
    assert (row.truth_clean, row.decision) == (False, "REVERT")
    assert why in (row.note or "")


def test_ignored_files_are_no_change(tmp_path: Path, temporary: Path) -> None:
    repo = Repo(tmp_path / "r", files={".gitignore": "*.log\n"})
    code = "open('a.log', 'w'); open('metric').read()"
    charge = repo.charge(measure=["sh", "-c", '"$0" -S run.py && echo KPI=$(wc -c < run.py)', sys.executable])
    (row,) = LOOP.run(charge, [running(code)]).rows
    assert (row.truth_clean, row.decision) == (True, "KEEP")


@pytest.mark.parametrize(
    "lease",
    ["../outside", "/etc/passwd", "", ".", "a/../../b", ".git/config", "sub/.GIT/x", "a//b", "a\0b", "metric/", "d"],
)
def test_a_lease_outside_the_tree_is_a_verdict(repo_of_one: Repo, lease: str) -> None:
    repo_of_one.commit({"d/file": "x"})
    outside = repo_of_one.folder / "outside"
    (row,) = LOOP.run(repo_of_one.charge(), [Candidate("strays", lease, {lease: b"2"})]).rows
    assert (row.decision, row.measured, row.suite_green, row.truth_clean) == ("REVERT", False, False, False)
    assert "the path" in (row.note or "")
    assert not outside.exists()


def test_an_edit_outside_the_tree_is_a_verdict_and_nothing_is_written(repo_of_one: Repo) -> None:
    target = repo_of_one.folder / "outside"
    (row,) = LOOP.run(repo_of_one.charge(), [metric(2, **{"../../../repository/outside": b"x"})]).rows
    assert "leads out of the tree" in (row.note or "")
    assert not target.exists()


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path, temporary: Path) -> None:
    repo = Repo(tmp_path / "r")
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("precious")
    (repo.top / "link").symlink_to(victim)
    (repo.top / "file").symlink_to(victim / "file")
    repo.commit({})
    given = [Candidate("folder", "link/file", {"link/file": b"x"}), Candidate("file", "file", {"file": b"x"})]
    for row in LOOP.run(repo.charge(), given).rows:
        assert "leads through a link" in (row.note or "")
    assert (victim / "file").read_text() == "precious"


def test_documents_need_no_gain_and_code_does(repo_of_one: Repo) -> None:
    page = Candidate("a page", "README.md", {"README.md": b"another page\n"}, Profile.DOCS_ONLY)
    code = Candidate("code", "run.py", {"run.py": b"pass\n"}, Profile.DOCS_ONLY)
    rows = LOOP.run(repo_of_one.charge(), [page, code]).rows
    assert [(row.decision, row.profile) for row in rows] == [("KEEP", "docs-only"), ("REVERT", "full")]
    assert rows[0].note is None
    assert rows[1].note == "it claimed docs-only and was held to full: it did not touch documents alone"
    assert repo_of_one.git("diff-tree", "-r", "--name-only", "main", "rsi") == "README.md"


def test_a_profile_that_is_none_is_held_to_the_strictest(repo_of_one: Repo) -> None:
    given = Candidate("odd", "README.md", {"README.md": b"x"}, "docs-only")  # type: ignore[arg-type]
    (row,) = LOOP.run(repo_of_one.charge(), [given]).rows
    assert (row.decision, row.profile) == ("REVERT", "full")
    assert "it claimed docs-only and was held to full" in (row.note or "")


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        (metric(2, name="\udcff"), "cannot stand in the message of a commit"),
        (metric(2, name="\ud800 x"), "cannot stand in the message of a commit"),
        (metric(2, name="a\0b"), "cannot stand in the message of a commit"),
        (Candidate(7, "metric", {"metric": b"2"}), "cannot stand in the message of a commit"),
        ("metric", "it is str, and no Candidate"),
        (None, "it is NoneType, and no Candidate"),
        ({"lease": "metric"}, "it is dict, and no Candidate"),
        (Candidate("c", "metric", {"metric": "2"}), "the new content of 'metric' is str, and has to be bytes"),
        (Candidate("c", "metric", {"metric": b"2", "x": 7}), "the new content of 'x' is int"),
        (Candidate("c", "metric", [("metric", b"2")]), "the edits are list"),
        (Candidate("c", None, {"metric": b"2"}), "the path None is none that a file can have"),
        (Candidate("c", "metric", {"metric": b"2", 7: b"x"}), "the path 7 is none that a file can have"),
        (Candidate("c", "\ud800", {"\ud800": b"2"}), "is none that a file can have"),
        (metric(2, x=b"a file", **{"x/y": b"in it"}), "the path 'x/y' cannot be written"),
        (metric(2, **{"x" * 300: b"long"}), "File name too long"),
    ],
)
def test_what_is_no_candidate_is_a_row_and_ends_no_loop(repo_of_one: Repo, candidate: Candidate, why: str) -> None:
    result = LOOP.run(repo_of_one.charge(), [candidate, metric(3)])
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP"], result.halted
    assert why in (result.rows[0].note or "")
    assert read(repo_of_one.journal) == (result.rows, 0, ())


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("a \x1b[31mred\x07 name", "a [31mred name"),
        ("two\nlines\r\n\tand a tab", "two lines and a tab"),
        ("\u202egnihton\u2066\x9b", "gnihton"),
        ("", "candidate 1"),
        (" \n\x00"[:2], "candidate 1"),
        ("größer é 數", "größer é 數"),
    ],
)
def test_the_subject_of_a_commit_is_one_line_that_can_be_shown(repo_of_one: Repo, name: str, subject: str) -> None:
    (row,) = LOOP.run(repo_of_one.charge(), [Candidate(name, "metric", {"metric": b"2"})]).rows
    assert (row.decision, row.candidate) == ("KEEP", name)
    shown = repo_of_one.git("log", "-1", "--format=%s%n%b", "rsi").splitlines()
    assert shown[:2] == [subject, "metric: 1.0 -> 2.0"]


def test_a_file_may_go_or_come_and_keeps_its_mode(repo_of_one: Repo) -> None:
    (repo_of_one.top / "run.py").chmod(0o755)
    repo_of_one.commit({"old": "x"})
    docs = Profile.DOCS_ONLY
    given = [
        Candidate("goes", "README.md", {"README.md": None}, docs),
        Candidate("comes", "docs/new.md", {"docs/new.md": b"new"}, docs),
        Candidate("mode", "run.py", {"run.py": b"open('metric')"}, Profile.PROOF_CARRYING),
    ]
    charge = repo_of_one.charge(measure=["sh", "-c", "echo KPI=$(wc -c < run.py)"])
    assert [row.decision for row in LOOP.run(charge, given).rows] == ["KEEP"] * 3
    listed = repo_of_one.git("ls-tree", "-r", "--format=%(objectmode) %(path)", "rsi").splitlines()
    assert listed == ["100644 docs/new.md", "100644 metric", "100644 old", "100755 run.py"]


def test_an_odd_name_is_committed_as_it_is(repo_of_one: Repo) -> None:
    name = 'docs/"quoted" é\n-new.md'
    given = [Candidate(name, name, {name: b"x"}, Profile.DOCS_ONLY)]
    assert [row.decision for row in LOOP.run(repo_of_one.charge(), given).rows] == ["KEEP"]
    assert name in repo_of_one.git("ls-tree", "-r", "-z", "--name-only", "rsi").split("\0")


def test_a_name_that_looks_like_a_pattern_is_a_name(repo_of_one: Repo) -> None:
    (repo_of_one.top / "README.md").chmod(0o755)
    repo_of_one.commit({})
    given = [Candidate("star", "*.md", {"*.md": b"x"}, Profile.DOCS_ONLY)]
    assert [row.decision for row in LOOP.run(repo_of_one.charge(), given).rows] == ["KEEP"]
    assert repo_of_one.git("--literal-pathspecs", "ls-tree", "rsi", "*.md").startswith("100644")


def test_cycles_are_bounded(repo_of_one: Repo) -> None:
    def endless():
        for value in range(2, 1000):
            yield metric(value)

    assert LOOP.run(repo_of_one.charge(max_cycles=2), endless()).cycles == 2


def test_an_observer_reaches_no_decision(repo_of_one: Repo) -> None:
    class Hostile:
        def proposed(self, cycle: int) -> None:
            raise RuntimeError("no clock today")

        def decided(self, cycle: int) -> bool:
            raise OSError("the disk is full")

    result = LOOP.run(repo_of_one.charge(), [metric(2), metric(1)], Hostile())
    assert [row.decision for row in result.rows] == ["KEEP", "REVERT"]


def test_a_branch_that_cannot_be_moved_ends_it_and_the_row_has_the_commit(repo_of_one: Repo) -> None:
    (repo_of_one.top / ".git" / "refs" / "heads" / "rsi.lock").write_text("")
    result = LOOP.run(repo_of_one.charge(), [metric(2), metric(3)])
    (row,) = read(repo_of_one.journal).rows
    assert result.rows == (row,)
    assert (result.tip, result.final) == (row.baseline_ref, 1.0)
    assert "refs/heads/rsi cannot take what was kept" in (result.halted or "")
    assert (result.halted or "").endswith(f"Put it on one: git branch kept {str(row.commit)[:12]}")
    repo_of_one.git("branch", "kept", str(row.commit))
    assert repo_of_one.git("show", "kept:metric") == "2"


def test_a_branch_that_moves_under_the_loop_ends_it_and_loses_nothing(repo_of_one: Repo) -> None:
    session = LOOP.open(repo_of_one.charge())
    session.cycle(metric(2))
    mine = repo_of_one.git("rev-parse", "rsi")
    repo_of_one.git("update-ref", "refs/heads/rsi", "main")
    with pytest.raises(LoopError, match=r"moved by somebody else.*git branch kept"):
        session.cycle(metric(3))
    with pytest.raises(LoopError, match="has ended"):
        session.cycle(metric(4))
    result = session.close()
    assert (result.kept, result.tip) == (1, mine)
    assert "moved by somebody else" in (result.halted or "")
    assert [row.kept for row in read(repo_of_one.journal).rows] == [True]


def test_the_users_hooks_filters_and_variables_do_nothing(
    repo_of_one: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    hooks = repo_of_one.top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "pre-commit", "post-index-change"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    repo_of_one.commit({".gitattributes": "metric filter=trap\n"})
    repo_of_one.git("config", "core.fsmonitor", f"touch {trap}")
    repo_of_one.git("config", "filter.trap.smudge", f"touch {trap}; cat")
    repo_of_one.git("config", "filter.trap.clean", f"touch {trap}; cat")
    trap.unlink(missing_ok=True)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("PYTHONPATH", str(repo_of_one.top))
    code = "import os; assert not [key for key in os.environ if key in ('GIT_DIR', 'PYTHONPATH', 'GIT_INDEX_FILE')]"
    assert decided(repo_of_one, metric(2), running(code)) == ["KEEP", "REVERT"]
    rows = read(repo_of_one.journal).rows
    assert rows[1].measured, rows[1].note
    assert not trap.exists()


def test_the_commands_have_a_home_of_their_own(repo_of_one: Repo) -> None:
    code = "import os, tempfile; open(os.path.expanduser('~/x'), 'w'); tempfile.TemporaryFile()"
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert (row.measured, row.suite_green, row.truth_clean) == (True, True, True), row.note
    assert not (Path.home() / "x").exists()


def test_rows_are_json_with_sorted_keys(repo_of_one: Repo) -> None:
    LOOP.run(repo_of_one.charge(), [metric(2)])
    (line,) = repo_of_one.journal.read_text().splitlines()
    held = json.loads(line)
    assert list(held) == sorted(held)
    assert (held["baseline_ref"], held["ref_name"]) == (repo_of_one.git("rev-parse", "main"), "HEAD")


def test_one_constant_is_rewritten() -> None:
    text = "SIZE = 4\nOTHER_SIZE = 4\nif SIZE == 4: pass\n    LIMIT=-3  # 4\nRATIO = 4.5\n"
    assert constant(text, "SIZE", 12) == text.replace("SIZE = 4\nO", "SIZE = 12\nO")
    assert constant(text, "LIMIT", 7) == text.replace("=-3", "=7")
    for name in ("NONE", "RATIO", "SIZ", "OTHER"):
        with pytest.raises(ValueError, match="0 times"):
            constant(text, name, 1)
    with pytest.raises(ValueError, match="2 times"):
        constant("A = 1\nA = 2\n", "A", 3)


def test_it_has_no_engine() -> None:
    assert offer("mock") is None
    assert isinstance(offer("none"), ReferenceLoop)
