"""Compressed rollouts, files that cannot be read on, and bytes that are anything."""

from __future__ import annotations

import io
import json
import random
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.codex_run import CodexRun
from harness.formats.codex_stream import ZSTD, RolloutLines, unpacked_head
from harness.formats.limits import FormatError, Limits
from harness.formats.run_format import Source
from tests.harness.formats.test_codex_run import (
    CHILD,
    MAIN,
    Rollout,
    bare_bytes,
    codes,
    messages,
    read,
    reviewed,
    totals,
    two_answers,
)


def packed(data: bytes) -> bytes:
    zstandard: Any = pytest.importorskip("zstandard")
    frame: bytes = zstandard.ZstdCompressor().compress(data)
    return frame


def test_a_compressed_rollout_is_the_rollout() -> None:
    rollout = two_answers().call("c1").result("c1", "x" * 100_000)
    frame = packed(rollout.data)
    run = read(frame, names=("rollout.jsonl.zst",))
    assert totals(run) == totals(read(rollout))
    assert run.recordings[0].bytes == len(rollout.data)
    assert CodexRun().sniff(frame[:2_000], "a.jsonl.zst") >= 0.9
    assert CodexRun().origin(frame[:2_000], "a.jsonl.zst").run == MAIN
    assert totals(read(frame, rollout)) == totals(read(rollout))


def test_frames_that_follow_each_other_are_one_file() -> None:
    rollout = two_answers()
    frames = packed(b"".join(rollout.lines[:2])) + packed(b"".join(rollout.lines[2:]))
    assert totals(read(frames)) == totals(read(rollout))


def test_a_bomb_is_an_issue_and_what_came_before_it_counts() -> None:
    rollout = two_answers()
    frame = packed(rollout.data + b"\n" * 40_000_000)
    run = read(frame, limits=Limits(max_bytes=1_000_000))
    assert totals(run) == totals(read(rollout))
    assert messages(run, "E_LIMIT")[0].startswith("The file unpacks to more than 1,000,000 bytes")
    assert run.recordings[0].bytes < 1_100_000


def test_a_bomb_without_lines() -> None:
    run = read(packed(two_answers().data + b"x" * 40_000_000), limits=Limits(max_bytes=1_000_000, max_line=100_000))
    assert totals(run)["requests"] == 2
    assert "E_LIMIT" in codes(run)
    assert run.recordings[0].bytes < 1_300_000


def test_the_head_of_a_bomb_is_bounded() -> None:
    assert len(unpacked_head(packed(b"\n" * 40_000_000))) == 1 << 16


def test_a_damaged_frame_is_an_issue() -> None:
    rng = random.Random(1)
    rollout = two_answers()
    rollout.say("".join(chr(rng.randrange(33, 127)) for _ in range(300_000))).answer(2_000)
    frame = bytearray(packed(rollout.data))
    middle = len(frame) // 2
    frame[middle : middle + 64] = bytes(64)
    run = read(bytes(frame))
    assert codes(run) & {"E_UNREADABLE", "E_TORN_LINE", "E_BAD_LINE"}
    assert read(ZSTD + b"nothing").issues[0].code.value == "E_UNREADABLE"


def test_a_missing_decoder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(FormatError, match=r"pip install 'loopladder\[codex\]'"):
        read(ZSTD + b"whatever", names=("a.jsonl.zst",))
    run = read(ZSTD + b"whatever", two_answers().data)
    assert totals(run)["requests"] == 2
    assert "loopladder[codex]" in messages(run, "E_UNREADABLE")[0]
    assert CodexRun().sniff(ZSTD + b"whatever", f"rollout-2026-01-05T10-00-00-{MAIN}.jsonl.zst") >= 0.5
    assert CodexRun().origin(ZSTD + b"whatever", f"rollout-2026-01-05T10-00-00-{MAIN}.jsonl.zst").run == MAIN


class Breaking(io.BytesIO):
    """A file that cannot be read to its end."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() > 0:
            raise OSError(5, "broken")
        return super().read(size)


def test_a_file_that_breaks_off_is_an_issue() -> None:
    data = two_answers().data
    blob = Breaking(data + b"\n" * (1 << 19))
    lines = RolloutLines(Source("f", blob, len(data)), Limits())
    assert len(list(lines)) == 4
    assert [issue.code.value for issue in lines.issues()] == ["E_UNREADABLE"]


def whole() -> list[bytes]:
    """Lines of every kind that the reader knows."""
    parent, review = reviewed()
    fork = Rollout(CHILD, minute=9, forked_from_id=MAIN).copy_of(parent)
    fork.line("compacted", message="x").event("context_compacted").event("thread_rolled_back", num_turns=2)
    fork.item("ghost_snapshot", ghost_commit={"id": "a"}).event("exec_command_end", call_id="r700", duration="1.5s")
    fork.item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c8").event("turn_aborted")
    fork.result("c8", {"content": [{"text": "x"}], "success": True}).result("c9", None)
    return [*parent.lines, *review.lines, *fork.lines, *bare_bytes().splitlines(keepends=True)]


WHOLE = whole()


def survives(data: bytes) -> None:
    """Nothing but FormatError leaves the reader."""
    reader = CodexRun()
    assert 0 <= reader.sniff(data, "rollout-a.jsonl") <= 1
    assert reader.origin(data, "a").run
    try:
        run = read(data, data[: len(data) // 2])
    except FormatError:
        return
    assert len(run.recordings) == 2
    repr(run)


@given(st.binary(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_bytes(data: bytes) -> None:
    survives(data)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["response_item", "event_msg", "token_count", "function_call", "message", MAIN, "user"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
@settings(max_examples=250, deadline=None)
def test_lines_with_any_value_in_any_field(data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(WHOLE), min_size=1, max_size=12))
    spoilt = []
    for line in lines:
        told = json.loads(line)
        holder = told
        for _ in range(data.draw(st.integers(0, 3))):
            nested = [value for value in holder.values() if isinstance(value, dict) and value]
            if not nested:
                break
            holder = data.draw(st.sampled_from(nested))
        holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(VALUES)
        spoilt.append(json.dumps(told).encode() + b"\n")
    survives(b"".join(spoilt))


@given(st.randoms(use_true_random=False), st.integers(1, 30))
@settings(max_examples=150, deadline=None)
def test_files_with_changed_bytes(rng: random.Random, changes: int) -> None:
    data = bytearray(b"".join(rng.sample(WHOLE, 20)))
    for _ in range(changes):
        at = rng.randrange(len(data))
        data[at : at + rng.randrange(3)] = bytes(rng.choices(b'{}[]",:\\u0d8\xff\0\n-9e', k=rng.randrange(3)))
    survives(bytes(data))


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_repetition_cuts_and_rubbish_never_change_totals(rng: random.Random) -> None:
    parent, review = reviewed()
    fork = Rollout(CHILD.replace("0002", "0009"), minute=9, forked_from_id=MAIN).copy_of(parent)
    fork.ask("on").answer(rng.randrange(1, 9_000)).again()
    right = totals(read(parent, review, fork))
    files: list[tuple[str, bytes]] = []
    for at, (thread, rollout) in enumerate(((MAIN, parent), (CHILD, review), (CHILD.replace("0002", "0009"), fork))):
        cut = rng.randrange(1, len(rollout.lines))
        pieces = [rollout.data]
        if rng.random() < 0.5:
            pieces = [b"".join(rollout.lines[:cut]), b"".join(rollout.lines[cut:])]
        if rng.random() < 0.3:
            pieces.append(rng.choice(pieces))
        if rng.random() < 0.5:
            pieces[0] += rng.choice((b"{", b"\0" * 9, b"rubbish\n", b'{"type": "novel", "payload": {}}\n'))
        files += [(f"{at}{n}/rollout-2026-01-05-{thread}.jsonl", piece) for n, piece in enumerate(pieces)]
    rng.shuffle(files)
    assert totals(read(*(data for _, data in files), names=tuple(name for name, _ in files))) == right
