"""``evaluate --measure`` as it is typed: the page, the table file, the check, and the table at work."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.formats.labelled import SHIPPED
from harness.record.accuracy import OURS, named_bytes, named_table

STUB = "TODO: the retention sweep removes old traces from the store. It runs at boot and then once every day."


def test_the_page_and_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--measure", "--to", str(tmp_path / "table.toml")]) == 0
    out = capsys.readouterr().out
    counts = named_table(OURS, Path()).rows["no_pii"]
    assert f"| `no_pii` | 1 | {counts.tp} | {counts.fp} | {counts.fn} | {counts.tn} | " in out
    assert "Brier score of all" in out
    assert "| stated chance | cases | mean stated | share bad |" in out
    assert (tmp_path / "table.toml").read_bytes() == named_bytes(OURS, Path())


def test_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--measure", "--check"]) == 0
    shutil.copytree(SHIPPED, tmp_path / "corpus")
    file = tmp_path / "corpus" / "no_pii.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"bad": false', b'"bad": true', 1))
    capsys.readouterr()
    assert main(["evaluate", "--measure", str(tmp_path / "corpus"), "--check"]) == 1
    said = capsys.readouterr().err
    assert "The accuracy table loopladder is not what" in said
    assert "other counts for no_pii." in said
    assert "--to FILE" in said


def test_other_words_for_the_same_cases_are_told_from_other_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = named_bytes(OURS, Path()).replace(b"no_pii = 1\n", b"no_pii = 2\n")
    (tmp_path / "kept.toml").write_bytes(kept)
    assert main(["evaluate", "--measure", "--check", str(tmp_path / "kept.toml")]) == 1
    assert "the same counts of other cases, rules or words" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--check"], "--to and --check belong to --measure"),
        (["--to", "x"], "--to and --check belong to --measure"),
        (["cases.jsonl", "--measure"], "--measure goes with --to and --check alone"),
        (["--measure", "--table"], "--measure goes with --to and --check alone"),
        (["--measure", "--to", "-"], "--to - would write a file of that name"),
        (["--measure", "gone.jsonl"], "gone.jsonl cannot be read"),
        (["--measure", "--check", "gone.toml"], "The accuracy table gone.toml cannot be read"),
    ],
)
def test_words_that_make_no_sense(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--measure", "--to", str(tmp_path)]) == 70
    assert "cannot be written" in capsys.readouterr().err


def test_the_labelled_cases_are_never_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(SHIPPED, tmp_path / "corpus")
    file = tmp_path / "corpus" / "no_pii.jsonl"
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    kept = file.read_bytes()
    for corpus, target in ((file, file), (file.parent, file), (file, link)):
        assert main(["evaluate", "--measure", str(corpus), "--to", str(target)]) == 2
        said = capsys.readouterr().err
        assert f"--to {target} names labelled cases and would replace them. Name a new file: python -m harness" in said
        assert file.read_bytes() == kept


def test_a_table_that_cannot_be_written_whole_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table.toml").write_text("old")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        assert main(["evaluate", "--measure", "--to", str(tmp_path / "table.toml")]) == 70
    assert "the disk (or your quota) is full" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["table.toml"]
    assert (tmp_path / "table.toml").read_text() == "old"


def test_a_deployment_may_rest_on_our_table_and_does_not_unless_it_says_so(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps({"output": STUB, "eval_type": "safety"}))
    (tmp_path / "set.toml").write_text('accuracy = "loopladder"\n')
    told = {}
    for name, words in (("plain", []), ("ours", ["--config", str(tmp_path / "set.toml")])):
        main(["evaluate", str(tmp_path / "cases.jsonl"), *words])
        results = json.loads(capsysbinary.readouterr().out)["rule_results"]
        (told[name],) = (one["uncertainty"] for one in results if one["ruleName"] == "no_stub_output")
    assert told["plain"]["basis"] == "unmeasured"
    assert told["ours"]["basis"] == "published_accuracy"
    assert told["ours"]["corpus"]["labelling"] == "by-construction"
    assert told["ours"]["corpus"]["tp"] == named_table(OURS, Path()).rows["no_stub_output"].tp
