"""The corpus of the speed comparison: the same for the same seed, and counted right by the reader that is compared."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from ci.replay_speed import MB, main, write_corpus
from harness.formats.claude_run import ClaudeCodeRun
from harness.formats.limits import Limits
from harness.formats.run_format import Source
from kpis.terms.trace import Issue, IssueCode, Request, ToolCall


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    once, again, other = (write_corpus(tmp_path / name, MB, seed) for name, seed in (("a", 7), ("b", 7), ("c", 8)))
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]
    assert once[0].read_bytes() != other[0].read_bytes()


def test_the_reader_counts_what_plain_parsing_counts(tmp_path: Path) -> None:
    files = write_corpus(tmp_path, 4 * MB, 3)
    outputs: dict[str, int] = {}
    calls: set[str] = set()
    for path in files:
        for raw in path.read_bytes().splitlines():
            message = json.loads(raw).get("message", {})
            if "usage" in message:
                outputs[message["id"]] = max(outputs.get(message["id"], 0), message["usage"]["output_tokens"])
                calls.update(block["id"] for block in message["content"] if block["type"] == "tool_use")
    reader = ClaudeCodeRun()
    runs: dict[str, list[Path]] = {}
    for path in files:
        runs.setdefault(reader.origin(path.read_bytes()[:65_536], path.name).run, []).append(path)
    found: dict[str, int | None] = {}
    called: list[str] = []
    for paths in runs.values():
        with ExitStack() as opened:
            sources = [Source(str(path), opened.enter_context(path.open("rb")), 0) for path in paths]
            for told in reader.read(sources, Limits()):
                if isinstance(told, Request):
                    found[told.request_id] = told.tokens.out_total
                elif isinstance(told, ToolCall):
                    called.append(told.call_id)
                elif isinstance(told, Issue):
                    assert told.code in (IssueCode.W_REPEATED_LINE, IssueCode.W_UNANSWERED_CALL)
    assert found == outputs
    assert sorted(called) == sorted(calls)


def test_the_table_names_each_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--megabytes", "1", "--repeat", "1", "--folder", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in lines[1:]] == [
        "plain orjson",
        "plain msgspec",
        "this reader",
        "the whole command",
    ]
    assert all("MB/s" in line or "orjson is not installed" in line for line in lines[1:])
