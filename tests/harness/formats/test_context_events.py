"""The JSON Lines of runs recorded for their context: what is read, what is left out, and that nothing else happens."""

from __future__ import annotations

import io
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.context_events import looks_like, read_context_events
from harness.formats.limits import FormatError, Limits
from kpis.formulas.context.evaluate import evaluate
from kpis.terms.context_run import ContextRun
from kpis.terms.context_words import Family, FoldMode
from kpis.terms.trace import IssueCode
from tests.kpis.context.lines import HEADER, action, end, fold, header, node, read, recall, request, text_of, verdict

WHOLE = (HEADER, request(1, [node("a", 5)]), action(2), fold(3, 9, 4), recall(4, ["cp"]), verdict(5), end(6))


def read_bytes(data: bytes, limits: Limits | None = None) -> list[ContextRun]:
    return read_context_events(io.BytesIO(data), "run.jsonl", limits or Limits())


def codes(run: ContextRun) -> list[IssueCode]:
    return [issue.code for issue in run.issues]


def test_a_whole_run() -> None:
    run = read(*WHOLE)
    assert codes(run) == []
    assert (run.header.run_id, run.header.seed, run.header.sessions) == ("r1", None, ("s",))
    assert [action.family for action in run.actions] == [Family.READ, Family.RECALL]
    assert (run.folds[0].mode, run.folds[0].checkpoint_id) == (FoldMode.LEAF, None)
    assert run.requests[0].prompt == 5


def test_what_is_not_said_is_none_and_not_zero() -> None:
    bare = {"type": "request", "seq": 1, "request_id": "q", "session": "s", "purpose": "main", "ok": True}
    (only,) = read(bare, end(2)).requests
    assert (only.nodes, only.prompt_tokens, only.usage, only.prompt) == (None, None, None, None)


def test_the_prompt_is_known_only_where_all_of_it_is() -> None:
    cases = [
        (request(1, [node("a", 5)], prompt_tokens=7), 7),
        (request(1, [node("a", 5)], envelope_tokens=2), 7),
        (request(1, [node("a", 5)], envelope_tokens=None), None),
        (request(1, [node("a", None)]), None),
    ]
    for event, prompt in cases:
        assert read(event, end(2)).requests[0].prompt == prompt


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({**fold(1, 9, 4), "tokens_before": -9}, "`tokens_before` is -9"),
        ({**fold(1, 9, 4), "mode": "sideways"}, "sideways"),
        ({**fold(1, 9, 4), "ok": "yes"}, "bool"),
        ({**fold(1, 9, 4), "tokens_after": 4.5}, "int"),
        ({"type": "fold", "seq": 1}, "missing"),
        ({**end(1), "score": 1.5}, "between 0 and 1"),
        (request(1, [{"id": "a", "role": "user", "kind": "user", "tokens": True}]), "int"),
        (recall(1, None), "array"),
    ],
)
def test_a_line_that_is_not_sound_is_left_out_with_its_reason(line, why: str) -> None:
    run = read(line, end(9))
    (issue,) = (each for each in run.issues if each.code is IssueCode.E_BAD_LINE)
    assert (issue.line, issue.file) == (2, "run.jsonl")
    assert why in issue.message
    assert not (run.folds or run.requests or run.actions)


def test_an_unknown_field_is_told_once_and_read_past() -> None:
    run = read({**action(1), "colour": "red"}, {**action(2), "colour": "red"}, end(3))
    assert len(run.actions) == 2
    assert codes(run) == [IssueCode.W_SCHEMA_DRIFT]
    assert "colour" in run.issues[0].message


def test_an_unknown_kind_and_a_line_without_one() -> None:
    run = read({"type": "weather", "seq": 1}, {"seq": 2}, end(3))
    assert codes(run) == [IssueCode.W_UNKNOWN_KIND, IssueCode.W_UNKNOWN_KIND]


def test_events_out_of_order_are_sorted_and_said() -> None:
    run = read(action(5), action(2), end(9))
    assert [each.seq for each in run.actions] == [2, 5]
    assert codes(run) == [IssueCode.W_SCHEMA_DRIFT]


def test_a_run_without_end_is_not_settled_and_has_one_end_only() -> None:
    assert codes(read(action(1))) == [IssueCode.W_UNSETTLED]
    run = read(end(1, turns=1), end(2, turns=2))
    assert run.end is not None
    assert (run.end.turns, codes(run)) == (1, [IssueCode.E_BAD_LINE])


def test_a_file_of_two_runs() -> None:
    first, second = read_bytes(text_of(*WHOLE, header(run_id="r2"), action(1), end(2)))
    assert (first.header.run_id, second.header.run_id) == ("r1", "r2")
    assert (len(first.actions), len(second.actions)) == (2, 1)


def test_torn_long_and_bad_lines_are_findings_of_the_file() -> None:
    (run,) = read_bytes(text_of(HEADER, action(1), end(2)) + b'not json\n[1]\n{"type": "fold", "se')
    assert codes(run) == [IssueCode.E_BAD_LINE, IssueCode.E_TORN_LINE]
    long = {**action(1), "detail": "x" * 500}
    (run,) = read_bytes(text_of(HEADER, long, end(2)), Limits(max_line=450))
    assert codes(run) == [IssueCode.E_LONG_LINE]


def test_lines_before_the_header_are_findings_of_the_first_run() -> None:
    (run,) = read_bytes(text_of(action(1), *WHOLE))
    assert "before the header" in run.issues[0].message
    assert len(run.actions) == 2


def test_a_file_in_another_shape_names_some_lines_and_counts_the_rest() -> None:
    run = read(*[{"type": "weather", "seq": at} for at in range(200)])
    assert len(run.issues) == 51
    assert "more findings" in run.issues[-1].message


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"hello\n", text_of(action(1)), text_of({**HEADER, "replicate": -1}), b"[" * 5000, b"\0\0\0"],
)
def test_without_a_header_nothing_can_be_read(data: bytes) -> None:
    with pytest.raises(FormatError, match=r"run\.jsonl has no header"):
        read_bytes(data)


def test_what_is_too_deep_is_refused() -> None:
    deep = json.dumps(HEADER)[:-1].encode() + b', "x": ' + b"[" * 200 + b"]" * 200 + b"}\n"
    with pytest.raises(FormatError, match="deeper"):
        read_bytes(deep)


def test_it_is_known_by_its_header() -> None:
    assert looks_like(text_of(*WHOLE))
    for other in (b"", b"{", text_of({"type": "run"}), text_of(action(1)), b'{"type": "user", "uuid": "x"}\n'):
        assert not looks_like(other)


def outcome(data: bytes) -> None:
    """Read and evaluate: only FormatError may leave."""
    try:
        runs = read_bytes(data)
    except FormatError:
        return
    for run in runs:
        metrics = evaluate(run)
        json.dumps([each.value for each in metrics.values()], allow_nan=False)


@pytest.mark.parametrize("seed", range(150))
def test_damaged_files_let_only_a_format_error_out(seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(text_of(*WHOLE, *WHOLE))
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data))
        piece = chance.choice([b"", b"\n", b"null", b"-1", b"1e308", b"99999999999999999999999", b"[]", b'"', b"\xff"])
        data[at : at + chance.randint(0, 8)] = piece
    outcome(bytes(data))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_any_value_in_any_field_is_read_or_named(data: st.DataObject) -> None:
    rows = [dict(row) for row in WHOLE]
    row = data.draw(st.sampled_from(rows))
    row[data.draw(st.sampled_from(sorted(row)))] = data.draw(json_values)
    outcome(text_of(*rows))
