"""A recorded run as JSON Lines, made in code: the header, events by name, and the reader over them."""

from __future__ import annotations

import io
import json
from typing import Any

from harness.formats.context_events import read_context_events
from harness.formats.limits import Limits
from kpis.terms.context_run import ContextRun

HEADER: dict[str, Any] = {
    "type": "run",
    "run_id": "r1",
    "case_id": "case",
    "arm": "fold",
    "replicate": 0,
    "harness_rev": "h",
    "policy_rev": "p",
    "semantic_mode": "rationale",
    "tokenizer": {"id": "t", "basis": "metered"},
    "sessions": ["s"],
}


def header(**other: Any) -> dict[str, Any]:
    return {**HEADER, **other}


def node(text: str, tokens: int | None, kind: str = "user", **other: Any) -> dict[str, Any]:
    return {"id": text, "role": "user", "kind": kind, "tokens": tokens, **other}


def request(seq: int, nodes: list[dict[str, Any]] | None = None, **other: Any) -> dict[str, Any]:
    told = {"type": "request", "seq": seq, "request_id": f"q{seq}", "session": "s", "purpose": "main", "ok": True}
    return {**told, "nodes": nodes, "envelope_tokens": 0, **other}


def usage(uncached: int | None, read: int | None, output: int = 5, write: int | None = 0) -> dict[str, Any]:
    return {"input_uncached": uncached, "cache_read": read, "cache_write": write, "output": output}


def fold(seq: int, before: int | None, after: int | None, mode: str = "leaf", **other: Any) -> dict[str, Any]:
    told = {"type": "fold", "seq": seq, "fold_id": f"f{seq}", "mode": mode, "ok": True}
    return {**told, "tokens_before": before, "tokens_after": after, **other}


def action(seq: int, family: str = "read", args_hash: str = "a", env: str | None = "e", **other: Any) -> dict[str, Any]:
    told = {"type": "action", "seq": seq, "index": seq, "request_id": "q", "family": family, "tool": family}
    return {**told, "args_hash": args_hash, "env_before": env, "env_after": env, "ok": True, **other}


def recall(seq: int, refs: list[str], returned: int | None = 10, **other: Any) -> dict[str, Any]:
    use = {"kind": "recall", "refs": refs, "returned_tokens": returned, "cross_session": False, **other}
    return action(seq, "recall", f"r{seq}", recall=use)


def verdict(seq: int, oracle: str = "tests-pass", passed: bool | None = True, **other: Any) -> dict[str, Any]:
    told = {"type": "verdict", "seq": seq, "oracle": {"type": oracle}, "hard": True, "critical": False}
    return {**told, "applicable": True, "passed": passed, "detail": "", **other}


def end(seq: int, **other: Any) -> dict[str, Any]:
    return {"type": "end", "seq": seq, "outcome": "finished", **other}


def text_of(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def read(*events: dict[str, Any]) -> ContextRun:
    """The run of ``events``, whose header is HEADER unless the first one is a header."""
    rows = events if events and events[0]["type"] == "run" else (HEADER, *events)
    (run,) = read_context_events(io.BytesIO(text_of(*rows)), "run.jsonl", Limits())
    return run
