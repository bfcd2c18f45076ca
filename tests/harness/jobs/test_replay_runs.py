"""Many runs together: one process or several, what two runs share, and what no change of the files may change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.jobs.replay import Asked, replay, runs_of
from harness.record.replay import Replayed, encode
from kpis.formulas.recorded.carried import BY
from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.trust import Trust
from kpis.prices import shipped_prices
from kpis.terms.trace import IssueCode
from tests.harness.formats.test_inspect_run import log, model, sample, usage
from tests.harness.jobs.session_files import Session, authored, busy, lines, put, rollout, subagent, verdicts

TABLE = shipped_prices()


def read(*paths: Path, by: str | None = None, processes: int = 1, ledger: bool = True) -> Replayed:
    return replay([str(path) for path in paths], Asked(TABLE, ledger=ledger, by=by), processes=processes)


def total(result: Replayed, name: str) -> float | int | None:
    return metrics(result.parts)[name].value


def sums(*paths: Path) -> dict[str, object]:
    """Every metric of all runs."""
    return {name: (each.value, each.low, each.high) for name, each in metrics(read(*paths).parts).items()}


def test_several_processes_say_what_one_says_byte_for_byte(tmp_path: Path) -> None:
    authored(tmp_path)
    resumed(tmp_path, busy("s-7"))
    one, two = (encode(read(tmp_path, by="tool", processes=n), TABLE.name, "tool") for n in (1, 3))
    assert one == two
    assert encode(read(tmp_path, by="tool"), TABLE.name, "tool") == one


def resumed(folder: Path, before: Session, minute: float = 60) -> Path:
    """A session that begins as a copy of another, under its own id, and goes on."""
    own = before.data.replace(f'"sessionId": "{before.name}"'.encode(), b'"sessionId": "s-8"')
    later = Session("s-8", minute=minute).answer("msg_8x", fresh=50, out=7).data
    return put(folder / "0-first-by-name.jsonl", own + later)


def test_a_resumed_session_copies_its_history_and_it_counts_once(tmp_path: Path) -> None:
    session = busy("s-7")
    session.save(tmp_path)
    alone = total(read(tmp_path), "exposed_tokens")
    resumed(tmp_path, session)
    result = read(tmp_path)
    assert total(result, "exposed_tokens") == alone + 50
    owner, copy = result.runs
    assert (owner.copied, copy.copied) == (0, 12)
    assert metrics(copy.parts)["recorded_requests"].value == 1
    (note,) = [issue for issue in copy.issues if issue.code is IssueCode.W_COPIED_HISTORY]
    assert note.message == "12 requests are an earlier run's, shown again; the earlier run counts them."


def test_the_owner_of_a_shared_request_is_the_run_that_began_first(tmp_path: Path) -> None:
    early = Session("early").ask().answer("msg_1").answer("msg_2")
    late = Session("late", minute=9).ask().answer("msg_2").answer("msg_3")
    late.save(tmp_path, "a.jsonl")
    early.save(tmp_path, "b.jsonl")
    assert [(run.run_id, run.copied) for run in read(tmp_path).runs] == [("early", 0), ("late", 1)]


def test_ids_that_a_reader_made_up_are_the_same_in_no_other_run(tmp_path: Path) -> None:
    for at in range(3):
        put(tmp_path / f"{at}.jsonl", verdicts(f"case-{at}", passed=True))
    result = read(tmp_path)
    assert total(result, "recorded_requests") == 3
    assert [run.copied for run in result.runs] == [0, 0, 0]


def test_the_runs_themselves_are_marked_as_the_sums_are(tmp_path: Path) -> None:
    session = busy("s-7")
    session.save(tmp_path)
    resumed(tmp_path, session)
    marked = [sum(request.copied for request in run.requests) for run in runs_of([str(tmp_path)])]
    assert marked == [run.copied for run in read(tmp_path).runs]


@pytest.mark.parametrize("by", BY)
def test_what_is_attributed_adds_up_to_what_was_read(by: str, tmp_path: Path) -> None:
    authored(tmp_path)
    result = read(tmp_path, by=by)
    carried = result.carried
    assert carried is not None
    rows = carried.rows.values()
    assert sum(row.initial + row.carried for row in rows) == carried.prompt
    # Four say part of their prompts or nothing (a trajectory, a span, two of a context): in no row, and counted.
    assert (total(result, "exposed_tokens") - carried.prompt, carried.unknown) == (1_000 + 120, 4)
    assert sum(row.output for row in rows) == carried.output
    assert sum(row.initial_cost + row.carried_cost + row.output_cost for row in rows) == carried.cost
    if by == "tool":
        assert {"Read", "Bash"} <= carried.rows.keys()
    assert sum(run.carried.prompt for run in result.runs if run.carried is not None) == carried.prompt


def test_steps_tell_how_far_it_is(tmp_path: Path) -> None:
    authored(tmp_path)
    steps = []
    replay(
        [str(tmp_path)], Asked(TABLE), processes=1, on_step=lambda group, done, of: steps.append((group.key, done, of))
    )
    assert len(steps) == 10
    assert [done for _, done, _ in steps] == sorted(done for _, done, _ in steps)
    assert {of for *_, of in steps} == {sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())}


Change = Callable[[Path, bytes], object]


def split(path: Path, data: bytes) -> None:
    half = data.index(b"\n", len(data) // 2) + 1
    put(path, data[:half])
    put(path.with_name("rest.jsonl"), data[half:])


CHANGES: dict[str, Change] = {
    "the file again": lambda path, data: put(path.with_name("again.jsonl"), data),
    "its lines twice": lambda path, data: put(path, data + data),
    "split in two": split,
    "another name": lambda path, _: path.rename(path.with_name("zz.log")),
    "byte order mark and CRLF": lambda path, data: put(path, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")),
    "empty lines": lambda path, data: put(path, b"\n" + data.replace(b"\n", b"\n\n")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_totals_do_not_depend_on_how_a_session_lies_on_the_disk(change: str, tmp_path: Path) -> None:
    path = busy().save(tmp_path)
    before = sums(tmp_path)
    CHANGES[change](path, path.read_bytes())
    after = sums(tmp_path)
    for name in ("line_sum_tokens", "line_sum_ratio"):  # what a sum over lines would say is about the lines
        before.pop(name), after.pop(name)
    assert after == before


def test_garbage_is_told_and_takes_no_token_away(tmp_path: Path) -> None:
    path = busy().save(tmp_path)
    before = read(tmp_path)
    first, _, rest = path.read_bytes().partition(b"\n")
    put(path, first + b"\ngarbage\n" + rest + b"{]\n\xff\xfe\n")
    after = read(tmp_path)
    assert after.parts.tokens == before.parts.tokens
    assert after.parts.cost == before.parts.cost
    (told,) = [issue for issue in after.runs[0].issues if issue.code is IssueCode.E_BAD_LINE]
    assert told.message.startswith("3 lines (2, ")


def test_two_sessions_in_one_file_cost_what_they_cost_apart(tmp_path: Path) -> None:
    one, other = busy("s-1"), busy("s-2", minute=300)
    one.save(tmp_path / "apart")
    other.save(tmp_path / "apart")
    put(tmp_path / "joined" / "s-1.jsonl", one.data + other.data)
    apart, joined = sums(tmp_path / "apart"), sums(tmp_path / "joined")
    for name in ("exposed_tokens", "output_tokens", "cost_computed_usd", "tool_calls", "tool_errors", "compactions"):
        assert joined[name] == apart[name], name


@given(st.permutations(range(4)))
@settings(max_examples=12)
def test_the_order_of_names_changes_nothing(order: list[int]) -> None:
    data = [busy().data, subagent("s-1", "a1").data, subagent("s-1", "a2", 3).data, rollout()]
    with TemporaryDirectory() as folder:
        for name, at in enumerate(order):
            put(Path(folder) / f"{name}.jsonl", data[at])
        found = {name: each.value for name, each in metrics(read(Path(folder)).parts).items()}
    assert found == expected(data)


def expected(data: list[bytes], kept: dict[str, object] = {}) -> dict[str, object]:  # noqa: B006 - read once
    if not kept:
        with TemporaryDirectory() as folder:
            for at, each in enumerate(data):
                put(Path(folder) / f"{at}.jsonl", each)
            kept.update({name: each.value for name, each in metrics(read(Path(folder)).parts).items()})
    return kept


def test_a_file_that_ends_in_nul_bytes(tmp_path: Path) -> None:
    put(
        tmp_path / "a.jsonl",
        lines({"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}}) + b"\0" * 5_000,
    )
    (run,) = read(tmp_path).runs
    assert IssueCode.E_TORN_LINE in {issue.code for issue in run.issues}


def test_a_file_that_belongs_to_no_run_and_could_not_be_read_takes_trust_from_the_sum(tmp_path: Path) -> None:
    busy().save(tmp_path)
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and no more")
    result = read(tmp_path)
    assert result.runs[0].parts.trust.level is Trust.OK
    assert result.parts.trust.level is Trust.LOWER_BOUND
    assert list(result.parts.trust.reasons()) == ["1 file could not be read at all."]


def test_totals_of_a_recording_pass_from_one_process_to_another_and_into_the_file(tmp_path: Path) -> None:
    for at in range(2):
        told = log(sample(model(1, usage(90 + at, 10))), total=100)
        told["eval"]["eval_id"] = f"eval-{at}"
        put(tmp_path / f"{at}.json", json.dumps(told))
    one, two = (encode(read(tmp_path, processes=n), TABLE.name) for n in (1, 2))
    assert one == two
    (model_usage,) = [each for facts in json.loads(one)["runs"][0]["facts"] for each in facts["by_model"]]
    assert model_usage["tokens"]["fresh_in"] == 100
    assert "provenance" not in model_usage["tokens"]
