"""Detectors on labelled cases: the corpus that ships, the table that it gives, and a label that was turned."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.formats.labelled import SHIPPED, read_corpus
from harness.formats.limits import FormatError
from harness.jobs.measure_accuracy import DETECTORS, differing, measure
from harness.judge.evaluation.accuracy import Labelling
from harness.record.accuracy import OURS, named_bytes, named_table, shipped
from kpis.rules.catalogue import BUILT_IN
from kpis.terms.evaluation_words import RuleKind

HEAD = '{"schema": "harness.corpus/1", "rule": "no_pii", "labelling": "human-verified"}\n'


def test_every_rule_that_can_be_wrong_has_cases_enough_of_either_label() -> None:
    corpus = read_corpus(SHIPPED)
    by_rule = {cases.rule: cases.cases for cases in corpus.rules}
    assert set(by_rule) == set(DETECTORS)
    exact = {RuleKind.MEASUREMENT, RuleKind.POLICY}
    assert all(rule.facts.kind in exact for rule in BUILT_IN if rule.facts.name not in DETECTORS)
    for rule, cases in by_rule.items():
        assert len(cases) >= 60, rule
        assert 2 * sum(one.bad for one in cases) == len(cases), rule
        texts = [json.dumps((one.case.output, one.case.input, repr(one.case.tool_calls))) for one in cases]
        assert len(set(texts)) == len(texts), rule
        for bad in (True, False):
            assert len({one.family for one in cases if one.bad is bad}) >= 8, rule
    assert {cases.labelling for cases in corpus.rules} == {Labelling.BY_CONSTRUCTION.value}


def test_the_table_that_ships_is_what_the_corpus_gives() -> None:
    measured = measure(SHIPPED, OURS)
    assert named_bytes(OURS, Path()) == measured.body
    table = named_table(OURS, Path())
    assert table.name in shipped()
    assert table.name.startswith("loopladder-")
    assert table.rows == measured.table.rows
    assert all(table.of(name, rule.facts.version) is not None for name, rule in DETECTORS.items())
    assert table.labelling is Labelling.BY_CONSTRUCTION


def test_the_corpus_is_hard_in_both_directions() -> None:
    """Detectors without an error on their authors' cases would say something about the cases."""
    counts = [one.counts for one in measure(SHIPPED, OURS).rules]
    assert sum(one.fn for one in counts) > 0
    assert sum(one.fp for one in counts) > 0


def test_a_label_that_is_turned_changes_the_table(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED, tmp_path / "corpus")
    file = tmp_path / "corpus" / "no_tool_loop.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"bad": true', b'"bad": false', 1))
    before, after = measure(SHIPPED, OURS), measure(tmp_path / "corpus", OURS)
    assert differing(after.table, before.table) == ["no_tool_loop"]
    assert after.table.version != before.table.version
    (then,) = (one.counts for one in before.rules if one.rule == "no_tool_loop")
    (now,) = (one.counts for one in after.rules if one.rule == "no_tool_loop")
    assert (now.tp + now.fn, now.fp + now.tn) == (then.tp + then.fn - 1, then.fp + then.tn + 1)


def test_a_corpus_of_ones_own_is_counted(tmp_path: Path) -> None:
    said = [("512-44-9871", True), ("nothing", True), ("nobody", False), ("part 512-44-9872", False), ("none", False)]
    lines = [json.dumps({"id": str(at), "bad": bad, "case": {"output": text}}) for at, (text, bad) in enumerate(said)]
    (tmp_path / "mine.jsonl").write_text(HEAD + "\n".join(lines))
    (one,) = measure(tmp_path / "mine.jsonl", "mine").rules
    assert (one.counts.tp, one.counts.fn, one.counts.fp, one.counts.tn) == (1, 1, 1, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD.replace("no_pii", "no_pi"), r"no_pi is no detector \(did you mean no_pii\?\)"),
        (HEAD.replace("no_pii", "sentence_count"), "sentence_count is no detector"),
        (HEAD.replace("human-verified", "guesswork"), "is labelled guesswork; all files have to say the same one of"),
        (HEAD.replace("no_pii", "x" * 3000), r"x{77}\.\.\. is no detector"),
        (HEAD.replace("human-verified", "x" * 3000), r"is labelled x{77}\.\.\.; all files"),
        (HEAD.replace('"rule"', '"zz": 1, "rule"'), "line 1: the first line has the unknown key zz"),
        (HEAD.replace("no_pii", "no_tool_loop"), "no_tool_loop gives no answer to a: no tool calls were sent"),
    ],
)
def test_a_corpus_that_does_not_fit(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(text + '{"id": "a", "bad": true, "case": {"output": "x"}}\n')
    with pytest.raises(FormatError, match=said):
        measure(tmp_path / "mine.jsonl", "mine")
