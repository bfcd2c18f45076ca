"""The command: what it prints, and how it ends."""

import json
import sys

import pytest

from harness.cli.exits import Exit
from harness.cli.main import main
from tests.conftest import REPO
from tests.harness.authority.project import lay_out, record_bytes

COUNTED = """\
[tool.harness]
kpis = ["bench/*.toml"]
"""

ROW = """\
[seam."own/words"]
title = "Words are counted"

[kpi.words]
layer = "turn"
seam = "own/words"
probe = "bench.words:words"
question = "How many?"
fence = "Ours."
unit = "count"
direction = "lower"
estimand = "count"
"""

PROBE = """\
from harness import probe
from harness.measure.clock import Tally


@probe(source="synthetic")
def words():
    return Tally(sum(1 for _ in range(3)))
"""


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run ``authority`` with these words in the project; its code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words):
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_it_writes_and_then_passes(tmp_path, command):
    lay_out(tmp_path)
    code, out, _ = command("authority")
    assert (code, out) == (Exit.OK, "Written: BENCHMARK-AUTHORITY.md, docs/page.md; commit them.\n")
    code, out, _ = command("authority")
    assert (code, out) == (Exit.OK, "BENCHMARK-AUTHORITY.md and the documents stand as they are.\n")
    code, out, _ = command("authority", "--check")
    assert (code, out) == (Exit.OK, "Every published number is what its run file says.\n")


def test_a_finding_ends_with_one_and_names_its_kind(tmp_path, command):
    lay_out(tmp_path)
    command("authority")
    (tmp_path / "README.md").write_text("It takes 5 ms.\n")
    code, out, _ = command("authority", "--check")
    assert code == Exit.FAILED
    first, last = out.splitlines()
    assert first.startswith("free-number: README.md, line 1: the number '5 ms' is typed by hand;")
    assert last == "The authority fails the check: 1 to mend."


def test_stale_numbers_fail_a_strict_check_only(tmp_path, command):
    lay_out(tmp_path)
    (tmp_path / "app" / "sending.py").write_text("# changed\n")
    command("authority")
    code, out, _ = command("authority", "--check")
    assert code == Exit.OK
    assert "1 number is stale and leads no table; see `python -m harness authority --check --strict`." in out
    code, out, _ = command("authority", "--strict")
    assert code == Exit.FAILED
    assert out.startswith("stale: send_ns of ")


def test_without_a_run_file_there_is_nothing_to_hold_a_number_against(tmp_path, command):
    lay_out(tmp_path).unlink()
    assert command("authority")[0] == Exit.OK
    assert command("authority", "--check")[0] == Exit.NO_BASELINE


def test_an_unsound_run_file_keeps_everything_as_it_was(tmp_path, command):
    lay_out(tmp_path).write_bytes(b"{}")
    code, out, _ = command("authority")
    assert code == Exit.FAILED
    assert out.splitlines()[-1] == "Nothing is written: a run file is not sound."
    assert not (tmp_path / "BENCHMARK-AUTHORITY.md").exists()


def test_help_shows_the_marks(command):
    code, out, _ = command("authority", "--help")
    assert code == Exit.OK
    assert "<!-- authority:begin NAME kpis=a,b" in out


@pytest.fixture
def counted(tmp_path, command):
    """A project whose one count is committed."""
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").touch()
    for name, text in {"pyproject.toml": COUNTED, "bench/own.toml": ROW, "bench/words.py": PROBE}.items():
        (tmp_path / name).write_text(text)
    code, _, err = command("run", "--kpi", "words", "--json", str(tmp_path / "made.json"))
    assert code == Exit.OK, err
    blob = (tmp_path / "made.json").read_bytes()
    return record_bytes(tmp_path, blob, json.loads(blob)["machine"]["slug"])


def test_an_exact_number_is_reproduced_and_a_changed_one_is_not(tmp_path, counted, command):
    code, out, err = command("authority", "repro", "words")
    assert code == Exit.OK, out + err
    assert out == f"the same: words: 3, to the digit as in {counted.stem}#/readings/0.\n"
    (tmp_path / "bench" / "words.py").write_text(PROBE.replace("range(3)", "range(4)"))
    code, out, _ = command("authority", "repro", "words")
    assert code == Exit.FAILED
    assert "not reproduced: words: value is 4 now, and 3 in" in out
    assert "stale: bench/words.py changed" in out


def test_another_interpreter_is_named_and_nothing_is_measured(tmp_path, counted, command):
    from tests.harness.authority.project import forged

    forged(counted, lambda run: run["machine"]["fingerprint"].update(python="3.9.0"))
    code, out, _ = command("authority", "repro", "words")
    assert code == Exit.NO_BASELINE
    here = ".".join(map(str, sys.version_info[:3]))
    assert f"not comparable here: words: python differs: 3.9.0 on record, {here} in this run" in out


def test_what_was_never_committed_cannot_be_reproduced(counted, command):
    code, _, err = command("authority", "repro", "denies")
    assert code == Exit.NO_BASELINE
    assert "No committed run holds a number of denies as asked for." in err
    assert command("authority", "repro", "word")[0] == Exit.UNUSABLE
