"""The pages of recorded runs: eighty columns, what is a bound is marked as one, and nothing of a recording is live."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from harness.jobs.replay import Asked, replay
from harness.record.replay import Replayed
from harness.report.page import console_on
from harness.report.replay_lines import amount, big
from harness.report.replay_page import render_replay
from kpis.formulas.recorded.carried import BY
from kpis.prices import shipped_prices
from tests.harness.jobs.session_files import (
    SONNET,
    Session,
    authored,
    busy,
    chat_log,
    lines,
    placeholder,
    put,
    trajectory,
    verdicts,
)

TABLE = shipped_prices()


def read(folder: Path, by: str | None = None) -> Replayed:
    return replay([str(folder)], Asked(TABLE, ledger=True, by=by), processes=1)


def page(folder: Path, by: str | None = None, *, verbose: bool = False, width: int = 80) -> str:
    stream = io.StringIO()
    render_replay(read(folder, by), console_on(stream, width), TABLE.name, by=by, verbose=verbose)
    return stream.getvalue()


def line(said: str, label: str) -> str:
    """The line of a label, with those that go on from it."""
    found: list[str] = []
    for each in said.splitlines():
        if each.split(" ")[0] == label or (found and each.startswith(" ")):
            found.append(each)
        elif found:
            break
    return " ".join(" ".join(found).split())


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("shape", [*range(10), None])
def test_no_line_is_longer_than_eighty_columns(
    shape: int | None, verbose: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shapes = authored(tmp_path)
    named = Path() if shape is None else list(shapes.values())[shape].relative_to(tmp_path)
    for by in (None, *BY):
        said = page(named, by, verbose=verbose)
        assert max(map(len, said.splitlines())) <= 80, by


def test_what_happened_stands_on_one_screen(tmp_path: Path) -> None:
    busy().save(tmp_path)
    said = page(tmp_path)
    assert said.splitlines()[0] == "run s-1  claude-code 2.1.100  12 requests  12 tool calls (7 errors, 58.3 %)"
    assert line(said, "tokens").startswith("tokens prompt 131.3 k (median 6,010, peak 21.02 k) cache hit 61.4 %")
    assert "output 1,200 [observed]" in said
    assert line(said, "cache") == (
        "cache 3 breaks, 43.72 k tokens lost: 1 pause past the lifetime (20.7 k), 1 compaction (19.02 k), "
        "1 unexplained (4,000)"
    )
    assert "1 denied" in line(said, "work")
    assert "1 unanswered" in line(said, "work")
    assert "1 file read again after a compaction" in line(said, "work")
    assert "compaction calls: not in the log (about $" in line(said, "money")
    assert "user idle 15 min 00 s" in line(said, "time")
    assert line(said, "trust").startswith("trust OK")


def test_outputs_that_a_client_never_wrote_are_a_bound(tmp_path: Path) -> None:
    placeholder().save(tmp_path)
    said = page(tmp_path)
    assert "output >= 4" in said
    assert "[observed]" not in said
    assert line(said, "money").startswith("money >= $")
    assert line(said, "trust").startswith("trust OUTPUT NOT RECORDED: output and cost are lower bounds.")


def test_an_unknown_is_never_zero(tmp_path: Path) -> None:
    put(tmp_path / "one.traj", trajectory())
    said = page(tmp_path)
    assert "cache hit unknown" in said
    assert line(said, "money") == "money no total: 1 of 1 requests have no price: (no model named) $1.25 reported"
    assert line(said, "cache") == "cache unknown: no request says what it read from cache"
    assert line(said, "time") == "time unknown: the recording has no times"
    assert "tokens OK: 1 request is of a model without a price, so the cost has no total." in line(said, "trust")


def test_work_that_cannot_be_compared_is_unknown_and_not_none(tmp_path: Path) -> None:
    usage = {"fresh_in": 50, "cache_read": 0, "out_total": 4}
    rows = [{"schema": "loopladder.trace/1", "run_id": "r"}]
    for at in range(5):
        rows.append({"type": "request", "request_id": f"q{at}", "model": SONNET, "tokens": usage if at else {}})
        rows.append(
            {"type": "tool_call", "call_id": f"c{at}", "request_id": f"q{at}", "name": "Read", "outcome": "error"}
        )
    put(tmp_path / "a.jsonl", lines(*rows))
    work = line(page(tmp_path), "work")
    assert "repeats unknown: 5 of 5 calls have no recorded arguments" in work
    assert "loops unknown" in work
    assert "0 calls" not in work
    assert ">= 216 tokens on requests that only failed" in work


def test_what_an_evaluator_said(tmp_path: Path) -> None:
    for at in range(3):
        put(tmp_path / f"{at}.jsonl", verdicts(f"c{at}", passed=at > 0))
    assert line(page(tmp_path), "verdict") == "verdict 2 of 3 judged runs passed"


def test_of_many_runs_the_largest_are_named_and_the_others_counted(tmp_path: Path) -> None:
    for at in range(20):
        put(tmp_path / f"{at}.jsonl", chat_log(*(f"chatcmpl-{at}-{k}" for k in range(at + 1))))
    said = page(tmp_path)
    assert said.count("openai-log") == 15
    assert "and 5 more with smaller prompts; --verbose names all" in said
    assert "all 20 runs  210 requests" in said
    assert page(tmp_path, verbose=True).count("openai-log") == 20


def test_rows_of_an_attribution_add_up_in_words(tmp_path: Path) -> None:
    authored(tmp_path)
    said = page(tmp_path, "tool")
    assert "(system prompt, tool...  " in said
    assert "All rows add up to 268.4 k prompt and 2,797 output tokens, $0.4679." in " ".join(said.split())
    assert "4 requests do not say the whole prompt, whose tokens are in no row; the known cost is." in " ".join(
        said.split()
    )
    assert "3 requests have no price and no cost here." in " ".join(said.split())


def test_names_in_wide_characters_keep_their_columns(tmp_path: Path) -> None:
    name = "/desk/" + "\N{CJK UNIFIED IDEOGRAPH-6F22}" * 60 + ".py"
    Session().ask().answer("msg_1", ("t1", "Read", {"file_path": name})).result("t1").answer("msg_2").save(tmp_path)
    from rich.cells import cell_len

    said = page(tmp_path, "file")
    assert "...\N{CJK UNIFIED IDEOGRAPH-6F22}" in said
    assert max(map(cell_len, said.splitlines())) <= 80


EVIL = "\x1b[31mred\x1b]0;owned\x07\x9b2J\u202efdp\r\nrun forged  0 requests"


def hostile(folder: Path) -> None:
    """Recordings whose names of tools, models, files and branches are made to harm."""
    session = Session(EVIL, model=EVIL, version=EVIL, gitBranch=EVIL, cwd=EVIL, agentId=EVIL).ask(EVIL)
    session.answer(EVIL, (EVIL, EVIL, {"file_path": EVIL}), ("t2", "Read", {"file_path": EVIL}), stop=EVIL)
    session.result("t2", EVIL, error=True).answer("msg_2", read=9).line(EVIL).line("system", subtype=EVIL)
    session.save(folder, "a.jsonl")
    put(folder / "b\x1b[31m.jsonl", busy("s-2").data + b"garbage\x1b[31m\n")
    answer = {"id": EVIL, "object": "chat.completion", "model": EVIL, "choices": [], "usage": {"prompt_tokens": EVIL}}
    put(folder / "c.jsonl", lines({"request": {"model": EVIL, "messages": []}, "response": answer}))
    told = {"type": "facts", "case_id": EVIL, "success": True, "outcome": EVIL}
    put(folder / "d.jsonl", lines({"schema": "loopladder.trace/1", "run_id": EVIL, "source_version": EVIL}, told))


@pytest.mark.parametrize("by", [None, *BY])
def test_nothing_of_a_recording_reaches_a_terminal_live(by: str | None, tmp_path: Path) -> None:
    hostile(tmp_path)
    said = page(tmp_path, by, verbose=True)
    assert all(each.isprintable() for each in said.splitlines())
    assert not [each for each in said.splitlines() if each.startswith("run forged")]
    for path in sorted(tmp_path.iterdir()):
        assert all(each.isprintable() for each in page(path, by, verbose=True).splitlines())


def test_numbers_are_written_so_that_none_rounds_to_another_kind() -> None:
    assert [big(n) for n in (0, 7, 9_999, 10_000, 98_710, 23_970_000, 1.5, 2e9, 3e12)] == [
        "0", "7", "9,999", "10 k", "98.71 k", "23.97 M", "1.5", "2 G", "3 T",
    ]  # fmt: skip
    assert [amount(n) for n in (0, 0.00004, 0.3761, 1, 15.089, 1234.5, -2)] == [
        "$0.00", "<$0.0001", "$0.3761", "$1.00", "$15.09", "$1,234.50", "-$2.00",
    ]  # fmt: skip


def test_the_page_of_nothing_is_nothing(tmp_path: Path) -> None:
    assert page(tmp_path) == ""


def test_a_console_that_lacks_characters(tmp_path: Path) -> None:
    session = Session().ask().answer("msg_1", ("t1", "Read", {"file_path": "/desk/\u00fc.py"})).result("t1")
    session.answer("msg_2", read=9).save(tmp_path)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    render_replay(read(tmp_path, "file"), console_on(stream, 80), TABLE.name, by="file")
    stream.flush()
    assert b"/desk/\\xfc.py" in stream.buffer.getvalue()


def untold(*tokens: dict[str, int]) -> bytes:
    """A run of our own format whose requests say these tokens."""
    head = {"schema": "loopladder.trace/1", "run_id": f"r.{len(tokens)}"}
    rows = ({"type": "request", "model": "claude-sonnet-4-5", "tokens": each} for each in tokens)
    return lines(head, *rows)


def test_of_prompts_that_are_known_in_part_the_peak_is_a_bound_and_there_is_no_median(tmp_path: Path) -> None:
    whole = {"fresh_in": 700, "cache_read": 0, "out_total": 4}
    put(tmp_path / "a.jsonl", untold(whole, whole, {"out_total": 5}))
    told = line(page(tmp_path), "tokens")
    assert told.startswith("tokens prompt >= 1,400 (peak >= 700)")


def test_a_prompt_that_nobody_says_is_no_prompt_of_nothing(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", untold({"out_total": 5}))
    assert "prompt unknown (no request says its prompt)" in line(page(tmp_path), "tokens")
    put(tmp_path / "b.jsonl", untold({"fresh_in": 7, "cache_read": 0, "out_total": 4}, {"out_total": 5}))
    rows = {each.split()[0]: each.split()[2:4] for each in page(tmp_path).splitlines() if each.startswith("r.")}
    assert rows == {"r.1": ["1", "-"], "r.2": ["2", "7"]}


def test_trust_says_why_a_cost_is_a_bound(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", untold({"fresh_in": 7, "cache_read": 0, "cache_write_other": 90, "out_total": 4}))
    said = page(tmp_path)
    assert ">= $" in line(said, "money")
    told = "trust tokens OK: the cost is a lower bound, since how long cache writes live is not recorded."
    assert line(said, "trust") == told
    put(tmp_path / "a.jsonl", untold({"unattributed": 900, "out_total": 4}))
    assert "since what of the prompts was cached is not recorded." in line(page(tmp_path), "trust")


@pytest.mark.parametrize("by", BY)
def test_a_table_heads_every_column_and_ends_no_line_on_a_blank(by: str, tmp_path: Path) -> None:
    authored(tmp_path)
    said = page(tmp_path, by).splitlines()
    (head,) = [each for each in said if each.startswith("by ")]
    word = "calls" if by in ("tool", "file") else "requests"
    assert head.split()[2:] == [word, "initial", "carried", "output", "cost", "share"]
    assert [each for each in said if each != each.rstrip()] == []
    table = said[said.index(head) : said.index(next(each for each in said if "All rows add up" in each))]
    assert {len(each) for each in table if each.startswith(" ") or by != "agent"} == {79}  # an agent has its own line


def test_no_name_of_a_format_is_cut(tmp_path: Path) -> None:
    authored(tmp_path)
    said = page(tmp_path).split()
    assert [run.source_format for run in read(tmp_path).runs if run.source_format not in said] == []


def test_a_long_name_of_a_model_is_cut_in_a_sentence(tmp_path: Path) -> None:
    Session(model="m" * 99).ask().answer("msg_1").save(tmp_path)
    assert f"have no price: {'m' * 37}..." in line(page(tmp_path), "money").replace("has no", "have no")
