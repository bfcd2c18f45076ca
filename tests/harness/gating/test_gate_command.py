"""The gate on small repositories: what is unchanged, what is counted, what is timed, and how it ends."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.record.published import gate_schema
from tests.harness.cli.own import Command
from tests.schema_check import faults

SOURCE = "def work():\n    return sum(range(2000))\n\n\ndef count():\n    return 3\n"

PROBES = """\
from harness import probe
from harness.measure.clock import Tally
import mine


@probe(check=lambda result: result > 0)
def work():
    return mine.work


@probe
def count():
    return Tally(mine.count())
"""

ROWS = """\
[seam."mine/work"]
title = "The work"

[kpi.work_ns]
layer = "turn"
seam = "mine/work"
probe = "bench.probes:work"
question = "What does it cost?"
fence = "A test."
unit = "ns"
direction = "lower"
estimand = "call-mean"
gate = "timed"
target_status = "standing"

[kpi.work_count]
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


def git(root: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(root), *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "__init__.py").touch()
    (root / "bench" / "probes.py").write_text(PROBES)
    (root / "bench" / "kpis.toml").write_text(ROWS)
    (root / "mine.py").write_text(SOURCE)
    (root / "README.md").write_text("one\n")
    (root / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\nunder_test = ["mine"]\n')
    (root / ".gitignore").write_text(".harness/\n__pycache__/\n")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "one")
    return root


def gate(loopladder: Command, root: Path, *words: str) -> tuple[int, dict]:
    kpis = ("--kpi", "work_ns", "work_count")
    done = loopladder("gate", "--against", "HEAD", *kpis, "--json", "-", *words, cwd=root)
    assert "Traceback" not in done.stderr, done.stderr
    if not done.stdout:
        return done.returncode, {"error": done.stderr}
    found = json.loads(done.stdout)
    assert faults(found, gate_schema()) == [], "as it is published"
    return done.returncode, found


def states(file: dict) -> dict[str, str]:
    return {row["kpi"]: row["state"] for row in file["rows"]}


def test_a_change_that_no_slice_touches_is_unchanged(loopladder: Command, repository: Path) -> None:
    (repository / "README.md").write_text("two\n")
    code, file = gate(loopladder, repository)
    assert code == 0, file
    assert states(file) == {"work_ns": "unchanged", "work_count": "unchanged"}
    assert file["verdict"]["state"] == "pass"
    assert file["verdict"]["passed"] is True
    assert file["schema"] == "harness.gate/1"


def test_a_count_that_got_worse_fails_and_one_that_got_better_does_not(loopladder: Command, repository: Path) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("return 3", "return 4"))
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", "--json", "-", cwd=repository)
    file = json.loads(done.stdout)
    assert done.returncode == 1
    assert file["verdict"]["basis"] == "policy_gate"
    assert file["verdict"]["by"] == ["work_count"]
    assert file["rows"][0]["paths"] == ["mine.py"]
    (repository / "mine.py").write_text(SOURCE.replace("return 3", "return 2"))
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", "--json", "-", cwd=repository)
    assert done.returncode == 0
    assert states(json.loads(done.stdout)) == {"work_count": "improved"}


def test_a_count_that_hangs_on_the_hash_is_demoted_and_never_passes(loopladder: Command, repository: Path) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("return 3", 'return abs(hash("a")) % 100_003'))
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", "--json", "-", cwd=repository)
    assert done.returncode == 3
    (row,) = json.loads(done.stdout)["rows"]
    assert row["state"] == "inconclusive"
    assert [notice["code"] for notice in row["warnings"]] == ["demoted"]


@pytest.mark.parametrize(("strict", "code"), [((), 3), (("--strict",), 1)])
def test_a_probe_that_fails_on_the_head_is_void(
    strict: tuple[str, ...], code: int, loopladder: Command, repository: Path
) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("def count", "def counted"))
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", *strict, "--json", "-", cwd=repository)
    assert done.returncode == code
    file = json.loads(done.stdout)
    assert states(file) == {"work_count": "void"}
    assert "no attribute 'count'" in file["rows"][0]["evidence"][0]


def test_what_only_the_head_has_is_new_and_nothing_was_compared(loopladder: Command, repository: Path) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("def count", "def counted"))
    git(repository, "commit", "--quiet", "--all", "--message", "two")
    (repository / "mine.py").write_text(SOURCE)
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", "--json", "-", cwd=repository)
    assert done.returncode == 5
    file = json.loads(done.stdout)
    assert states(file) == {"work_count": "new"}
    assert file["verdict"]["basis"] == "no_rules"


def test_a_kpi_that_is_gone_is_removed_and_not_passed_over(loopladder: Command, repository: Path) -> None:
    text = ROWS.split("[kpi.work_count]", maxsplit=1)[0]
    (repository / "bench" / "kpis.toml").write_text(text)
    done = loopladder("gate", "--against", "HEAD", "--layer", "turn", "--json", "-", cwd=repository)
    assert done.returncode == 5, done.stderr
    file = json.loads(done.stdout)
    assert "work_count" in file["verdict"]["by"]


RUNTIME = """\
import mine


class Runtime:
    name, version = "mine", "1"

    def offer(self, seam, engine):
        return None


def make():
    return Runtime()
"""


@pytest.fixture
def with_runtime(repository: Path) -> Path:
    """The repository with a runtime of its own, which offers none of the built-in seams."""
    (repository / "runtime.py").write_text(RUNTIME)
    with (repository / "pyproject.toml").open("a") as table:
        table.write('runtime = "runtime:make"\n')
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "runtime")
    return repository


def test_built_in_kpis_that_a_runtime_does_not_offer_neither_bury_nor_block_ones_own(
    loopladder: Command, with_runtime: Path
) -> None:
    words = ("gate", "--against", "HEAD", "--layer", "turn", "--json", "gate.json")
    done = loopladder(*words, cwd=with_runtime)
    assert done.returncode == 0, done.stdout + done.stderr
    mine, found, counted = done.stdout.partition(" built-in KPIs: not offered by this runtime (list them with ")
    assert found
    assert "\nunchanged: work_count, work_ns: " in mine
    file = json.loads((with_runtime / "gate.json").read_text())
    kpis = {row["kpi"] for row in file["rows"]} - {"work_ns", "work_count"}
    assert mine.splitlines()[-1] == str(len(kpis))
    assert counted.startswith("--verbose or")
    assert len(kpis) > 5, "all of them stay in the file"
    assert not any(name in done.stdout for name in kpis)
    assert {row["state"] for row in file["rows"] if row["kpi"] in kpis} == {"new"}


def test_what_was_asked_for_by_name_and_is_not_offered_stays_void(loopladder: Command, with_runtime: Path) -> None:
    words = ("gate", "--against", "HEAD", "--kpi", "work_count", "planner_optimize_ns")
    done = loopladder(*words, cwd=with_runtime)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "void: planner_optimize_ns[objective=greedy,n=1000]: left out on both" in done.stdout


def test_what_the_head_stops_offering_is_not_passed_over(loopladder: Command, with_runtime: Path) -> None:
    probes = PROBES.replace("import mine\n", "from harness.measure.clock import Undefined\nimport mine\n").replace(
        "return Tally(mine.count())",
        'return Tally(3) if hasattr(mine, "count") else Undefined("not-offered", "It counts nothing.")',
    )
    (with_runtime / "bench" / "probes.py").write_text(probes)
    (with_runtime / "mine.py").write_text(SOURCE.replace("def count", "def counted"))
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", cwd=with_runtime)
    assert done.returncode == 5, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "removed: work_count: measured on the base and no longer on the head: It counts nothing." in said


def test_an_edited_probe_reads_as_no_regression(loopladder: Command, repository: Path) -> None:
    (repository / "bench" / "probes.py").write_text(PROBES.replace("Tally(mine.count())", "Tally(mine.count() + 7)"))
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", "--json", "-", cwd=repository)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["state"] == "unchanged"
    assert row["paths"] == ["bench/probes.py (instrument: the head's on both sides)"]


def test_the_user_s_repository_is_left_as_it_was(loopladder: Command, repository: Path) -> None:
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file() and ".git/" in str(path)}
    gate(loopladder, repository)
    after = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file() and ".git/" in str(path)}
    assert before == after


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("gate",), 2, "--against"),
        (("gate", "--against", "nowhere"), 2, "nowhere"),
        (("gate", "--against", "HEAD", "--kpi", "work_nss"), 2, "work_ns"),
        (("gate", "--against", "HEAD", "--inject", "work_ns"), 2, "POINT=1.10"),
        (("gate", "--against", "HEAD", "--inject", "work_ns=0.5"), 2, "POINT=1.10"),
    ],
)
def test_an_unusable_gate_gets_one_sentence(
    words: tuple[str, ...], code: int, says: str, loopladder: Command, repository: Path
) -> None:
    done = loopladder(*words, cwd=repository)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_dependencies_that_differ_are_refused(loopladder: Command, repository: Path) -> None:
    (repository / "requirements.txt").write_text("numpy==1.0\n")
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", cwd=repository)
    assert done.returncode == 2
    assert "requirements.txt" in done.stderr


@pytest.mark.slow
def test_an_injected_slowdown_is_found_and_marked(loopladder: Command, repository: Path) -> None:
    code, file = gate(loopladder, repository, "--inject", "work_ns=1.50")
    assert code == 1
    assert file["injected"] == {"work_ns": 1.5}
    assert states(file) == {"work_ns": "regressed", "work_count": "unchanged"}


@pytest.mark.slow
def test_a_repeated_inner_call_is_found_and_named(loopladder: Command, repository: Path) -> None:
    slower = SOURCE.replace("return sum(range(2000))", "sum(range(2000))\n    return sum(range(2000))")
    (repository / "mine.py").write_text(slower)
    code, file = gate(loopladder, repository)
    assert code == 1
    rows = {row["kpi"]: row for row in file["rows"]}
    assert rows["work_ns"]["state"] == "regressed"
    assert "work" in rows["work_ns"]["functions"][0]
    assert rows["work_ns"]["off_cpu"]["there"] is False


@pytest.mark.slow
def test_a_planted_sleep_is_off_the_cpu(loopladder: Command, repository: Path) -> None:
    (repository / "mine.py").write_text(
        "import time\n" + SOURCE.replace("    return sum", "    time.sleep(0.0003)\n    return sum", 1)
    )
    code, file = gate(loopladder, repository)
    assert code == 1
    (row,) = [row for row in file["rows"] if row["kpi"] == "work_ns" and row["leg"] == "main"]
    assert row["off_cpu"]["there"] is True
