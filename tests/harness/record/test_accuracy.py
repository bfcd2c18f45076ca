"""The file of an accuracy table: the one that ships, and what no table may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.formats.limits import FormatError
from harness.judge.evaluation.accuracy import Counts, Labelling
from harness.record.accuracy import OURS, REFERENCE, decode, encode, named_bytes, named_table, shipped

HEAD = 'schema = "harness.accuracy/1"\nversion = "v"\nrelease = "1"\nlabelling = "same-model"\n'
ROW = "[rule]\nno_pii = { tp = 1, fp = 2, fn = 3, tn = 4 }\n"


def test_the_reference_ships() -> None:
    table = named_table(REFERENCE, Path())
    assert REFERENCE in shipped()
    assert (table.version, table.release, table.labelling) == ("4951762e456d", "0.10.0", Labelling.SAME_MODEL)
    assert table.of("no_pii", 1) == Counts(34, 5, 11, 43)
    assert sum(counts.fp == 0 for counts in table.rows.values()) == 12, "of fifteen families"
    assert sum(counts.n for counts in table.rows.values()) == 681


PUBLISHED = """
min_output_length 29 13 0 0 16
non_empty_output 29 10 0 2 17
sentence_count 30 16 0 0 14
expected_coverage 29 14 0 0 15
keyword_overlap 30 10 0 0 20
topic_consistency 31 11 0 1 19
no_pii 93 34 5 11 43
no_blocklist_words 32 14 1 1 16
no_injection_patterns 90 41 0 1 48
no_stub_output 89 30 5 12 42
no_hallucination_markers 90 34 0 12 44
no_silent_tool_failure 30 13 0 1 16
cost_under_threshold 26 10 0 0 16
verbosity_ratio 25 9 0 0 16
no_tool_loop 28 12 0 0 16
"""


def test_every_row_of_the_reference_is_as_it_published() -> None:
    rows = named_table(REFERENCE, Path()).rows
    told = [f"{rule} {row.n} {row.tp} {row.fp} {row.fn} {row.tn}" for rule, row in rows.items()]
    assert told == PUBLISHED.split("\n")[1:-1]


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(HEAD.replace("same-model", "human-verified") + ROW)
    table = named_table("mine.toml", tmp_path)
    assert (table.name, table.labelling) == ("mine", Labelling.HUMAN_VERIFIED)
    assert table.of("no_pii", 1) == Counts(1, 2, 3, 4)
    assert table.of("no_tool_loop", 1) is None
    other = decode((HEAD + ROW).encode(), "mine")
    assert other.sha256 != table.sha256


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "is no TOML"),
        ("", "is of schema None, not harness.accuracy/1"),
        (HEAD, r"has no table \[rule\]"),
        (HEAD + "x = 1\n" + ROW, "has the unknown key x"),
        (HEAD.replace('"v"', "3") + ROW, "has no version, a text"),
        (HEAD.replace("same-model", "guesswork") + ROW, "does not say who labelled its cases"),
        (HEAD + "corpus = 3\n" + ROW, "gives no text for corpus"),
        (HEAD + ROW + "[rule_version]\nno_pii = true\n", "gives rule_version something other than whole numbers"),
        (HEAD + ROW.replace("tn = 4", "tn = 4, xx = 1"), "does not give tp, fp, fn, tn, and only these, for no_pii"),
        (HEAD + ROW.replace("tn = 4", "tn = -4"), "gives -4 for tn of no_pii"),
        (HEAD + ROW.replace("tn = 4", "tn = 4.0"), "gives 4.0 for tn of no_pii"),
        (HEAD + ROW.replace("tn = 4", "tn = true"), "gives True for tn of no_pii"),
        (HEAD + ROW.replace("tn = 4", f"tn = {2**53 + 1}"), "gives 9007199254740993 for tn of no_pii"),
        (HEAD + ROW.replace("no_pii", "no_pi"), r"names no_pi, which is no built-in rule \(did you mean no_pii\?\)"),
        (HEAD + "[rule_version]\nno_loop = 1\n" + ROW, "names no_loop, which is no built-in rule"),
        (HEAD + ROW.replace("tn = 4", "tn = 0x" + "f" * 5000), "gives rule.no_pii.tn no finite number"),
        (HEAD + ROW.replace("tn = 4", "tn = 1979-05-27"), "gives rule.no_pii.tn a date, which JSON does not have"),
        (HEAD.replace('"v"', "9" * 5000) + ROW, "holds a whole number of more digits than are read"),
        (HEAD.replace('"v"', "[" * 3000 + "]" * 3000) + ROW, "nests too deep and was not read"),
    ],
)
def test_what_is_no_table(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=f"The accuracy table mine {said}.*accuracy = 'reference-0.10.0'"):
        decode(text.encode(), "mine")


def test_what_is_written_is_read() -> None:
    rows = {"no_pii": Counts(tp=1, fp=2, fn=3, tn=4), "no_tool_loop": Counts(tp=5, fp=0, fn=0, tn=6)}
    body = encode(rows, {"no_pii": 1, "no_tool_loop": 7}, "0123456789abcdef", "ours 1", Labelling.BY_CONSTRUCTION)
    table = decode(body, "mine")
    assert table.rows == rows
    assert (table.version, table.release, table.labelling) == ("0123456789ab", "ours 1", Labelling.BY_CONSTRUCTION)
    assert table.versions == {"no_pii": 1, "no_tool_loop": 7}
    assert table.of("no_tool_loop", 7) == rows["no_tool_loop"]
    assert table.of("no_tool_loop", 1) is None


def test_our_own_newest_table_has_a_short_name() -> None:
    ours = named_table(OURS, Path())
    assert ours.name == max(name for name in shipped() if name.startswith("loopladder-"))
    assert ours == named_table(ours.name, Path())
    assert named_bytes(OURS, Path()) == named_bytes(ours.name, Path())


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"reference-0.1.0 cannot be read \(did you mean reference-0.10.0\?\)"):
        named_table("reference-0.1.0", tmp_path)
    with pytest.raises(FormatError, match=r"table a\\x00 is no name of a file"):
        named_table("a\0", tmp_path)
    with pytest.raises(FormatError, match="no regular file"):
        named_table(".", tmp_path)
