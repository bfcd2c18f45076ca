"""The gate on a repository that has nothing but pytest-benchmark tests: unchanged, in pairs, under the gate's judge."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from harness.cli.exits import Exit
from harness.cli.gate import exit_code
from harness.gating.deadline import Deadline
from harness.gating.options import GateOptions
from harness.jobs.gate import Gated, gate
from harness.project import load_project
from harness.report.gate_page import render_gate
from harness.report.naming import typed
from harness.subject import SubjectError
from kpis.registry import load
from kpis.terms.comparison import State
from tests.harness.cli.own import Command
from tests.harness.subject.conftest import temporary as temporary
from tests.harness.subject.conftest import work as work
from tests.harness.subject.repository import Repo

ADDING = "def added(n):\n    return _sum(n)\n\n\ndef _sum(n):\n    return sum(i * i for i in range(n))\n"
JOINING = "def joined(n):\n    return '-'.join(str(i) for i in range(n))\n"

TESTS = """\
from mine.adding import added
from mine.joining import joined


def test_added(benchmark):
    assert benchmark(added, 300) == 8955050


def test_joined(benchmark):
    assert benchmark(joined, 4) == "0-1-2-3"
"""

FILES: dict[str, str | bytes] = {
    "mine/__init__.py": "",
    "mine/adding.py": ADDING,
    "mine/joining.py": JOINING,
    "tests/test_speed.py": TESTS,
    "README.md": "one\n",
    ".gitignore": ".harness/\n__pycache__/\n",
}

Compare = Callable[..., Gated]


@pytest.fixture
def compare(work: Repo) -> Compare:
    """Gate the working tree of a repository that was committed once."""
    work.commit(FILES)

    def run(**more: object) -> Gated:
        options = GateOptions(**{"against": "HEAD", "pytest": "tests", **more})  # type: ignore[arg-type]
        return gate(load_project(work.top), load(), options, argv=("gate",))

    return run


def states(gated: Gated) -> dict[str, State]:
    return {row.kpi.partition("::")[2]: row.state for row in gated.file.rows}


def exit_of(gated: Gated) -> Exit:
    return exit_code(gated.file, strict=False)


def test_what_touches_the_same_files_is_unchanged_and_passes(work: Repo, compare: Compare) -> None:
    work.write({"README.md": "two\n"})
    gated = compare()
    assert states(gated) == {"test_added": State.UNCHANGED, "test_joined": State.UNCHANGED}
    assert exit_of(gated) is Exit.OK
    assert {row.runtime for row in gated.file.rows} == {"pytest"}
    assert any("so 2 benchmarks take up to" in note and "--budget 3m" in note for note in gated.notes)
    assert {"mine/adding.py", "tests/test_speed.py"} <= gated.file.head.touched.keys()


def test_a_renamed_test_is_named_as_gone_and_its_new_name_measures_both_sides(work: Repo, compare: Compare) -> None:
    work.write({"tests/test_speed.py": TESTS.replace("test_joined", "test_put_together")})
    gated = compare()
    assert states(gated) == {
        "test_added": State.UNCHANGED,
        "test_joined": State.REMOVED,
        "test_put_together": State.UNCHANGED,
    }
    assert gated.file.verdict.by == ("tests/test_speed.py::test_joined",)
    assert exit_of(gated) is Exit.UNCOVERED


def test_a_suite_that_is_gone_is_not_a_pass(work: Repo, compare: Compare) -> None:
    work.write({"tests/test_speed.py": "def test_plain():\n    pass\n"})
    gated = compare()
    assert states(gated) == {"test_added": State.REMOVED, "test_joined": State.REMOVED}
    assert exit_of(gated) is Exit.UNCOVERED
    assert any("No test at tests uses the fixture" in note for note in gated.notes)


def test_tests_conftest_and_configuration_are_the_heads_on_both_sides(work: Repo, compare: Compare) -> None:
    """The base has neither the fixture, nor the file pattern, nor the mark that its own tests would need now."""
    work.commit({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-m nothing"\n'})
    work.write(
        {
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef size():\n    return 3\n",
            "tests/speed_of_parts.py": "import pytest\nfrom mine.joining import joined\n\n\n@pytest.mark.parts\n"
            'def test_joined(benchmark, size):\n    assert benchmark(joined, size) == "0-1-2"\n',
            "pyproject.toml": "[tool.pytest.ini_options]\n"
            'addopts = "--benchmark-disable --strict-markers"\nmarkers = ["parts"]\npython_files = ["speed_*.py"]\n',
        }
    )
    gated = compare()
    assert states(gated) == {"test_joined": State.UNCHANGED}
    assert exit_of(gated) is Exit.OK


def test_what_only_the_head_can_do_is_new_and_what_it_does_wrongly_is_void(work: Repo, compare: Compare) -> None:
    work.write(
        {
            "mine/adding.py": ADDING.replace("n):\n    return _sum(n)", "n):\n    return _sum(n) + 1"),
            "mine/joining.py": JOINING + "\n\ndef split(text):\n    return text.split('-')\n",
            "tests/test_split.py": "def test_split(benchmark):\n    from mine.joining import split\n\n"
            "    assert benchmark(split, '0-1') == ['0', '1']\n",
        }
    )
    work.write({"tests/test_speed.py": TESTS.partition("def test_joined")[0]})
    gated = compare()
    found = {row.kpi.partition("::")[2]: row for row in gated.file.rows}
    assert found["test_split"].state is State.NEW
    assert found["test_added"].state is State.VOID
    assert "assert 8955051 == 8955050 (tests/test_speed.py, line 6)" in found["test_added"].evidence[0]
    assert exit_of(gated) is Exit.UNCOVERED, "a test is gone, too"


def expiring(monkeypatch: pytest.MonkeyPatch, asked: int) -> None:
    """Let the budget be over after so many questions to workers."""
    left = iter([False] * asked)
    monkeypatch.setattr(Deadline, "over", lambda _deadline: next(left, True))


def test_what_is_not_tried_in_time_is_inconclusive_and_says_so(
    work: Repo, compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.write({"mine/joining.py": f'"""Joins."""\n{JOINING}'})
    expiring(monkeypatch, 3)
    gated = compare(budget_s=3600.0, plan=True)
    found = {row.kpi.partition("::")[2]: row for row in gated.file.rows}
    assert found["test_joined"].state is State.INCONCLUSIVE
    assert found["test_joined"].evidence == ["the budget ended before this point was tried"]
    assert [notice.code.value for notice in found["test_joined"].warnings] == ["budget"]
    assert exit_of(gated) is Exit.UNKNOWN


def test_a_budget_that_ends_while_tests_are_collected_is_one_sentence(compare: Compare) -> None:
    with pytest.raises(SubjectError, match=r"budget of 0.001 s ended before pytest had collected .* --budget 3m$"):
        compare(budget_s=0.001)


def test_a_budget_leaves_what_changed_open(work: Repo, compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    work.write({"mine/joining.py": f'"""Joins."""\n{JOINING}'})
    monkeypatch.setattr("harness.gating.work.time_points", lambda *_words, **_more: None)
    gated = compare()
    assert states(gated) == {"test_added": State.INCONCLUSIVE, "test_joined": State.INCONCLUSIVE}
    assert exit_of(gated) is Exit.UNKNOWN
    assert [row.paths for row in gated.file.rows] == [["mine/joining.py"]] * 2


SKIPPING = """\
import pytest
import mine
from mine.adding import added


@pytest.mark.skipif({when}, reason="not on this system")
def test_added(benchmark):
    assert benchmark(added, 300) == 8955050
"""


def skipping(when: str) -> dict[str, str | bytes]:
    return {"tests/test_speed.py": SKIPPING.format(when=when)}


def test_a_test_that_is_skipped_on_both_sides_is_owed_nothing(work: Repo, compare: Compare) -> None:
    work.commit(skipping("True") | {"tests/test_more.py": TESTS.replace("test_added", "test_again")})
    gated = compare()
    (row,) = (row for row in gated.file.rows if row.kpi == "tests/test_speed.py::test_added")
    assert row.state is State.NEW
    assert row.evidence == ["left out on both sides: The test is skipped (not on this system)."]
    assert [notice.code.value for notice in row.warnings] == ["left-out"]
    assert exit_of(gated) is Exit.OK, "the others were compared"
    out = io.StringIO()
    render_gate(gated.file, Console(file=out, width=80))
    said = " ".join(out.getvalue().split())
    assert "skipped: tests/test_speed.py::test_added: The test is skipped (not on this system)." in said
    assert "void" not in said


def test_a_skip_that_only_the_head_has_hides_nothing(work: Repo, compare: Compare) -> None:
    """The head's tests measure both sides, so that its mark is seen on both."""
    more = {"tests/test_more.py": TESTS.replace("test_added", "test_again")}
    work.commit(skipping("False") | more)
    work.write(skipping("True"))
    gated = compare()
    (row,) = (row for row in gated.file.rows if row.kpi == "tests/test_speed.py::test_added")
    assert row.state is State.REMOVED
    assert row.evidence[0].startswith("the head skips it, and tests/test_speed.py is not what it is on the base")
    assert exit_of(gated) is Exit.UNCOVERED
    work.commit({})
    work.write(
        {"tests/conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef out():\n    pytest.skip('no')\n"}
    )
    gated = compare()
    assert all(row.state is State.REMOVED for row in gated.file.rows if row.kpi.startswith("tests/test_more"))
    assert exit_of(gated) is Exit.UNCOVERED


def test_where_all_are_skipped_nothing_was_compared(work: Repo, compare: Compare) -> None:
    work.commit(skipping("True"))
    gated = compare()
    assert states(gated) == {"test_added": State.NEW}
    assert exit_of(gated) is Exit.UNCOVERED
    out = io.StringIO()
    render_gate(gated.file, Console(file=out, width=80))
    assert "unknown: no_rules, nothing was compared" in out.getvalue()


@pytest.mark.parametrize(
    ("when", "state", "code", "said"),
    [
        ('not hasattr(mine, "ready")', State.NEW, Exit.UNCOVERED, "on the base: The test is skipped"),
        ('hasattr(mine, "ready")', State.REMOVED, Exit.UNCOVERED, "measured on the base and no longer on the head: "),
    ],
)
def test_a_test_that_one_side_skips(
    when: str, state: State, code: Exit, said: str, work: Repo, compare: Compare
) -> None:
    work.commit(skipping(when))
    work.write({"mine/__init__.py": "ready = True\n"})
    gated = compare()
    (row,) = gated.file.rows
    assert row.state is state
    assert row.evidence[0].startswith(said)
    assert row.evidence[0].endswith("(not on this system).")
    assert exit_of(gated) is code
    removed = state is State.REMOVED
    assert gated.file.verdict.by == (("tests/test_speed.py::test_added",) if removed else ())


def test_without_pytest_there_is_one_sentence_with_the_command(work: Repo, compare: Compare, tmp_path: Path) -> None:
    """A package of that name that cannot be imported stands in for one that is not installed."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    hook = "import sys\n\n\nclass Absent:\n    def find_spec(self, name, *_):\n        if name == 'pytest':\n"
    hook += "            raise ModuleNotFoundError(\"No module named 'pytest'\", name='pytest')\n\n\n"
    (blocked / "sitecustomize.py").write_text(f"{hook}sys.meta_path.insert(0, Absent())\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(blocked))
        notes: list[str] = []
        options = GateOptions(against="HEAD", pytest="tests")
        with pytest.raises(SubjectError) as caught:
            gate(load_project(work.top), load(), options, argv=("gate",), on_note=notes.append)
    assert notes == []
    assert caught.value.args[0].startswith(f"There is no pytest beside loopladder, in {typed(sys.executable)}. Type: ")
    assert caught.value.args[0].endswith(f"{typed(sys.executable)} -m pip install pytest")


def test_tests_that_cannot_be_collected_are_refused(work: Repo, compare: Compare) -> None:
    work.write({"tests/test_more.py": "import mine.nowhere\n"})
    with pytest.raises(SubjectError, match=r"(?s)test_more.py.*mine.nowhere.*pytest --collect-only tests"):
        compare()


def test_a_base_that_cannot_be_collected_leaves_open_what_is_gone(work: Repo, compare: Compare) -> None:
    work.commit({"tests/test_more.py": "import mine.nowhere\n"})
    work.write({"tests/test_more.py": "\n", "tests/test_speed.py": TESTS.partition("def test_joined")[0]})
    gated = compare()
    assert {row.kpi: row.state for row in gated.file.rows} == {
        "tests": State.INCONCLUSIVE,
        "tests/test_speed.py::test_added": State.UNCHANGED,
    }
    assert gated.file.verdict.by == ("tests",)
    assert exit_of(gated) is Exit.UNKNOWN, "a benchmark has gone, and nobody could name it"
    assert any("base's own tests cannot be collected" in note and "mine.nowhere" in note for note in gated.notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pytest", "tests", "--kpi", "denies"], "Leave them out: "),
        (["--pytest", "testing"], "There are no tests at testing"),
        (["--pytest", "tests/test_speed.py::test_absent"], "pytest --collect-only tests/test_speed.py::test_absent"),
    ],
)
def test_what_cannot_be_asked(words: list[str], said: str, work: Repo, compare: Compare, loopladder: Command) -> None:
    done = loopladder("gate", "--against", "HEAD", *words, cwd=work.top)
    assert done.returncode == Exit.UNUSABLE, done.stderr
    assert said in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_call_that_is_made_twice_is_named_and_nothing_else(work: Repo, compare: Compare) -> None:
    work.write({"mine/adding.py": ADDING.replace("return _sum(n)", "_sum(n)\n    return _sum(n)")})
    gated = compare()
    rows = {row.kpi.partition("::")[2]: row for row in gated.file.rows if row.leg.value == "main"}
    slower = rows["test_added"]
    assert slower.state is State.REGRESSED
    assert slower.ratio is not None
    assert 1.5 < slower.ratio < 2.7
    assert slower.functions[0].startswith("mine/adding.py:1 added (edited")
    assert rows["test_joined"].state in (State.OK, State.INCONCLUSIVE)
    assert gated.file.verdict.by == ("tests/test_speed.py::test_added",)
    assert exit_of(gated) is Exit.FAILED
