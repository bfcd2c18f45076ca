"""The files of a corpus: what is read, and what is refused by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.formats.labelled import read_corpus
from harness.formats.limits import FormatError

HEAD = '{"schema": "harness.corpus/1", "rule": "no_pii", "labelling": "human-verified", "about": "ours"}\n'
CASE = '{"id": "a", "bad": true, "case": {"output": "x"}}\n'


def test_one_file_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(HEAD + "\n" + CASE)
    (tmp_path / "two.jsonl").write_text(HEAD.replace("no_pii", "a_rule") + CASE.replace('"a"', '"b", "family": "f"'))
    alone = read_corpus(tmp_path / "one.jsonl")
    both = read_corpus(tmp_path)
    assert [cases.rule for cases in both.rules] == ["a_rule", "no_pii"]
    assert both.rules[1] == alone.rules[0]
    assert both.sha256 != alone.sha256
    (case,) = alone.rules[0].cases
    assert (case.id, case.bad, case.family, case.case.output) == ("a", True, "a", "x")
    assert both.rules[0].cases[0].family == "f"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no labelled case"),
        (HEAD, "holds no labelled case"),
        (HEAD.replace("corpus/1", "corpus/2") + CASE, "line 1: the first line.schema is 'harness.corpus/2'"),
        ('{"rule": "no_pii"}\n' + CASE, "line 1: the first line has no schema"),
        (HEAD.replace('"labelling"', '"by"') + CASE, "line 1: the first line has the unknown key by"),
        ('{"schema": "harness.corpus/1", "rule": "no_pii"}\n' + CASE, "line 1: the first line has no labelling"),
        (HEAD + "{\n", "line 2: the line is no JSON"),
        (HEAD + "[]\n", "line 2: the line is a list"),
        (HEAD + CASE + CASE, "line 3: the id 'a' was there before"),
        (HEAD + CASE.replace("true", "null"), "line 2: the line does not say whether the case is bad"),
        (HEAD + CASE.replace("true", '"yes"'), "line 2: the line.bad is a text"),
        (HEAD + CASE.replace('"output"', '"said"'), "line 2: The case has no output"),
        (HEAD + CASE.replace('"bad"', '"good"'), "line 2: the line has the unknown key good"),
        (HEAD + CASE.replace('"bad"', '"bad": false, "bad"'), "line 2: the line has the key bad twice in one object"),
        (HEAD + CASE.replace('"x"', '"x", "cost": NaN'), "line 2: the line is no JSON (NaN is no number)"),
        (HEAD + CASE.replace('"x"', f'"x", "cost": {"9" * 5000}'), "line 2: the line holds a whole number of more"),
    ],
)
def test_what_is_no_corpus(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(text)
    with pytest.raises(FormatError) as refused:
        read_corpus(file)
    assert said in str(refused.value)
    assert str(file) in str(refused.value)
    assert "python -m harness evaluate --measure" in str(refused.value)


def test_a_line_in_another_encoding_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    wide = ('{"id": "\u0122", "case": ' + "[" * 5000 + "]" * 5000 + "}").encode("utf-16-le")
    (tmp_path / "one.jsonl").write_bytes(HEAD.encode() + wide)
    with pytest.raises(FormatError, match=r"line 2: the line is no UTF-8 \(it looks like UTF-16\)"):
        read_corpus(tmp_path)


def test_a_rule_has_one_file_and_a_folder_has_files(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"holds no \.jsonl file"):
        read_corpus(tmp_path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_corpus(tmp_path / "gone.jsonl")
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(HEAD + CASE)
    with pytest.raises(FormatError, match="is the second file for no_pii"):
        read_corpus(tmp_path)
