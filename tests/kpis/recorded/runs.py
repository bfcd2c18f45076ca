"""Hand-made recorded runs: as little as a test needs to say, everything else as a healthy recording has it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kpis.formulas.recorded.evaluate import RunParts, evaluate
from kpis.formulas.recorded.pricing import PriceTable
from kpis.prices import read_prices
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import (
    Event,
    EventKind,
    Outcome,
    Provenance,
    Recording,
    Request,
    RequestStatus,
    Thread,
    ThreadKind,
    Tokens,
    ToolCall,
    ToolOp,
    Turn,
    UserKind,
)

MINUTE = 60_000
PLACEHOLDER = {"out_total": Provenance.PLACEHOLDER}

TABLE: PriceTable = read_prices(
    b"""
[model.small]
fresh = 3
cache_read = 0.3
write_5m = 3.75
write_1h = 6
output = 15
as_of = 2026-01-31

[model.tiered]
fresh = 1
cache_read = 0.1
output = 10
above = { prompt = 1000, fresh = 2, cache_read = 0.2, output = 15 }
as_of = 2026-01-31
""",
    "test.toml",
)


def request(number: int, read: int = 0, fresh: int = 0, write: int = 0, out: int = 0, **more: Any) -> Request:
    """Request ``number`` of the main thread at minute ``number``; ``tokens`` replaces its usage."""
    tokens = more.pop("tokens", None) or Tokens(
        fresh_in=fresh, cache_read=read, cache_write_5m=write, cache_write_1h=0, out_total=out
    )
    at = more.pop("at", number * MINUTE)
    fields: dict[str, Any] = {
        "request_id": f"r{number}",
        "thread_id": "main",
        "turn": 0,
        "index": number,
        "model": "small",
        "t_first": at,
        "t_last": at,
        "file": "a.jsonl",
        "line": 10 * number + 1,
    }
    return Request(tokens=tokens, **{**fields, **more})


def call(
    number: int, of: int, op: ToolOp = ToolOp.READ, args: str | None = "a", result: str | None = "x", **more: Any
) -> ToolCall:
    """Call ``number``, made by request ``of``."""
    fields: dict[str, Any] = {
        "call_id": f"c{number}",
        "request_id": f"r{of}",
        "thread_id": "main",
        "index": number,
        "name": "Read" if op is ToolOp.READ else op.value,
        "outcome": Outcome.OK,
        "arg_digest": args,
        "result_digest": result,
        "result_bytes": 400,
        "polling": False,
        "file": "a.jsonl",
        "line": 10 * of + 2,
    }
    return ToolCall(op=op, **{**fields, **more})


def compaction(line: int, **more: Any) -> Event:
    """A compaction on ``line`` of the file."""
    fields: dict[str, Any] = {"thread_id": "main", "trigger": "auto", "line": line, "file": "a.jsonl"}
    return Event(EventKind.COMPACTION, **{**fields, **more})


def run(requests: list[Request], calls: list[ToolCall] | None = None, **more: Any) -> RecordedRun:
    """A run of one main thread, unless ``threads`` says more."""
    threads = more.pop("threads", (Thread("main", ThreadKind.MAIN),))
    recordings = more.pop("recordings", (Recording("test", file="a.jsonl"),))
    rest = {key: tuple(value) for key, value in more.items()}
    return RecordedRun("run", "test", recordings, threads, requests=tuple(requests), calls=tuple(calls or ()), **rest)


def parts(recorded: RecordedRun, table: PriceTable = TABLE) -> RunParts:
    return evaluate(recorded, table, ledger=True)


_counts = st.integers(0, 5_000)
_maybe = st.none() | _counts
_times = st.none() | st.integers(0, 10 * 60 * MINUTE)


@st.composite
def recorded_runs(draw: st.DrawFn, threads: tuple[str, ...] = ("main", "side")) -> RecordedRun:
    """Runs with gaps, copies, branches, unknown models, failures, folds and threads, in no particular health."""
    requests: list[Request] = []
    calls: list[ToolCall] = []
    for thread in threads:
        for index in range(draw(st.integers(0, 7))):
            number = f"{thread}{index}"
            began = draw(_times)
            tokens = Tokens(*(draw(_maybe) for _ in range(9)), draw(st.sampled_from([{}, PLACEHOLDER])))  # type: ignore[arg-type]
            requests.append(
                Request(
                    request_id=number,
                    thread_id=thread,
                    turn=index // 2,
                    index=index,
                    tokens=tokens,
                    model=draw(st.sampled_from(["small", "tiered", "nobody", None])),
                    status=draw(st.sampled_from([*RequestStatus, RequestStatus.OK, RequestStatus.OK])),
                    n_lines=draw(st.integers(1, 3)),
                    t_first=began,
                    t_last=None if began is None else began + draw(_counts),
                    in_conversation=draw(st.integers(0, 5)) > 0,
                    copied=draw(st.integers(0, 5)) == 0,
                    local_cache=draw(st.integers(0, 9)) == 0,
                    cost_usd=draw(st.none() | st.floats(0, 1)),
                    duration_ms=draw(_maybe),
                    file="a.jsonl",
                    line=draw(st.none() | st.just(10 * index + 1)),
                )
            )
            for at in range(draw(st.integers(0, 2))):
                start = draw(_times)
                calls.append(
                    ToolCall(
                        call_id=f"{number}.{at}",
                        request_id=draw(st.sampled_from([number, None])),
                        thread_id=thread,
                        index=len(calls),
                        name=draw(st.sampled_from(["Read", "Bash", None])),
                        op=draw(st.sampled_from(list(ToolOp))),
                        outcome=draw(st.sampled_from(list(Outcome))),
                        arg_digest=draw(st.sampled_from(["a", "b", None])),
                        result_bytes=draw(st.none() | st.integers(0, 60_000)),
                        result_digest=draw(st.sampled_from(["x", "y", None])),
                        t_start=start,
                        t_end=None if start is None else start + draw(_counts),
                        in_conversation=draw(st.integers(0, 5)) > 0,
                        target=draw(st.sampled_from(["f", "g", None])),
                        mutates=draw(st.sampled_from([True, False, None])),
                        polling=draw(st.sampled_from([True, False, None])),
                        environment_before=draw(st.sampled_from([None, None, "v1"])),
                        environment_after=draw(st.sampled_from([None, None, "v1", "v2"])),
                        copied=draw(st.integers(0, 7)) == 0,
                        line=draw(st.none() | st.integers(1, 80)),
                    )
                )
    events = [
        Event(
            draw(st.sampled_from(list(EventKind))),
            draw(st.sampled_from(threads)),
            t=draw(_times),
            pre_tokens=draw(_maybe),
            summary_bytes=draw(_maybe),
            line=draw(st.none() | st.integers(1, 80)),
            file="a.jsonl",
            implicit=draw(st.booleans()),
            duration_ms=draw(_maybe),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    turns = [
        Turn("main", index, draw(st.sampled_from(list(UserKind))), draw(_times), draw(_times))
        for index in range(draw(st.integers(0, 3)))
    ]
    kinds = [Thread(name, ThreadKind.MAIN if name == "main" else ThreadKind.SUBAGENT, "main") for name in threads]
    return run(requests, calls, threads=tuple(kinds), events=events, turns=turns)
