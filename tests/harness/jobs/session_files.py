"""Recordings as programs leave them on a disk, written by tests: sessions, a rollout, a log, spans, a trajectory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SONNET = "claude-sonnet-4-5"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC).timestamp()

Words = dict[str, Any]


class Session:
    """A session of Claude Code, line by line; each line is a second after the one before unless ``wait`` says more."""

    def __init__(self, name: str = "s-1", *, minute: float = 0, model: str = SONNET, **every: Any) -> None:
        self.name = name
        self.model = model
        self.every = {"sessionId": name, "version": "2.1.100", "cwd": "/home/someone/desk", "gitBranch": "main"} | every
        self.lines: list[bytes] = []
        self.clock = START + 60 * minute
        self._last: str | None = None

    def line(self, kind: str, *, wait: float = 1, **more: Any) -> Session:
        """Any line; it follows the one before it in the conversation."""
        self.clock += wait
        uuid = f"{self.name}-{len(self.lines)}"
        stamp = datetime.fromtimestamp(self.clock, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = {"type": kind, "uuid": uuid, "parentUuid": self._last, "timestamp": stamp, **self.every, **more}
        self.lines.append(json.dumps(told).encode() + b"\n")
        self._last = uuid
        return self

    def ask(self, text: str = "Mend the ledger.", *, wait: float = 1, **more: Any) -> Session:
        """A user's words."""
        return self.line("user", wait=wait, message={"role": "user", "content": text}, **more)

    def answer(
        self,
        identifier: str,
        *calls: tuple[str, str, Mapping[str, Any]],
        fresh: int = 10,
        read: int = 0,
        write: int = 0,
        out: int = 100,
        text: str = "As told.",
        stop: str | None = "end_turn",
        wait: float = 1,
    ) -> Session:
        """One response; ``calls`` are (id, tool, arguments). Writes live for five minutes."""
        made = [{"type": "tool_use", "id": one, "name": name, "input": given} for one, name, given in calls]
        usage = {
            "input_tokens": fresh,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": write,
            "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
            "output_tokens": out,
        }
        content = [{"type": "text", "text": text}, *made]
        message = {"id": identifier, "model": self.model, "content": content, "stop_reason": stop, "usage": usage}
        return self.line("assistant", wait=wait, requestId=f"req_{identifier}", message=message)

    def result(self, call: str, text: str = "done", *, error: bool = False, **more: Any) -> Session:
        """What a tool said."""
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}
        return self.line("user", message={"role": "user", "content": [block]}, **more)

    def fold(self, before: int) -> Session:
        """A compaction of a prompt of ``before`` tokens, and its summary."""
        told = {"trigger": "auto", "preTokens": before}
        self.line("system", subtype="compact_boundary", compactMetadata=told)
        return self.ask("What was done so far: much.", isCompactSummary=True)

    @property
    def data(self) -> bytes:
        """The file."""
        return b"".join(self.lines)

    def save(self, folder: Path, name: str | None = None) -> Path:
        """Write it below ``folder``."""
        return put(folder / (name or f"{self.name}.jsonl"), self.data)


def put(path: Path, data: bytes | str) -> Path:
    """Write ``data``, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def lines(*values: Any) -> bytes:
    """``values`` as JSON Lines."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in values)


def busy(name: str = "s-1", minute: float = 0, **every: Any) -> Session:
    """A session in which everything happens: errors, a denial, a pause, a compaction, re-reads, repeats, a loop."""
    own = name.replace("-", "")
    session = Session(name, minute=minute, **every).ask()
    session.answer(f"msg_{own}a", (f"{own}t1", "Read", {"file_path": "/desk/a.py"}), fresh=4_000, write=16_000)
    session.result(f"{own}t1", "x = 1\n" * 400)
    session.answer(f"msg_{own}b", (f"{own}t2", "Bash", {"command": "make"}), fresh=20, read=16_000, write=4_600)
    session.result(f"{own}t2", "make: *** no rule", error=True)
    session.answer(f"msg_{own}c", (f"{own}t3", "Edit", {"file_path": "/desk/a.py"}), fresh=20, read=20_600, write=80)
    session.result(f"{own}t3", "The user doesn't want to proceed with this tool use.", error=True)
    session.ask("Then look again.", wait=900)
    session.answer(f"msg_{own}d", (f"{own}t4", "Read", {"file_path": "/desk/b.py"}), fresh=20, write=21_000)
    session.result(f"{own}t4", "y = 2\n" * 100).fold(21_400)
    session.answer(f"msg_{own}e", (f"{own}t5", "Read", {"file_path": "/desk/a.py"}), fresh=900, read=2_000, write=4_000)
    session.result(f"{own}t5", "x = 1\n" * 400)
    for at in range(6):
        session.answer(f"msg_{own}l{at}", (f"{own}l{at}", "Bash", {"command": "make test"}), fresh=10, read=6_000)
        session.result(f"{own}l{at}", "make: *** still no rule", error=True)
    return session.answer(f"msg_{own}z", (f"{own}t9", "Bash", {"command": "sleep 9"}), fresh=10, read=6_000)


def subagent(parent: str, agent: str = "a1", minute: float = 0.5) -> Session:
    """The file of a sub-agent of session ``parent``: every line names the parent's session."""
    session = Session(f"{parent}-{agent}", minute=minute, sessionId=parent, isSidechain=True, agentId=agent)
    session.ask("Count the files.").answer(f"msg_{agent}a", fresh=300, write=700, out=40)
    return session.answer(f"msg_{agent}b", fresh=10, read=1_000, out=20)


def placeholder() -> Session:
    """A session whose client never wrote its outputs."""
    session = Session("s-9", version="2.1.19").ask()
    for at in range(4):
        session.answer(f"msg_9{at}", out=1, stop=None, text="A long answer. " * 200, read=100)
    return session


def rollout(thread: str = "0199aaaa-0000-7000-8000-000000000001") -> bytes:
    """A rollout of Codex with two answers, the second counter shown again, and one call."""
    told: list[Words] = []

    def add(kind: str, **payload: Any) -> None:
        told.append({"timestamp": f"2026-03-03T10:00:{len(told):02}.000Z", "type": kind, "payload": payload})

    def counter(total: int, last: int) -> None:
        def five(given: int) -> dict[str, int]:
            return {"input_tokens": given, "cached_input_tokens": given // 2, "output_tokens": given // 10,
                    "reasoning_output_tokens": given // 20, "total_tokens": given + given // 10}  # fmt: skip

        add("event_msg", type="token_count", info={"total_token_usage": five(total), "last_token_usage": five(last)})

    add("session_meta", id=thread, cwd="/home/someone/desk", cli_version="0.77.0", source="cli")
    add("turn_context", model="gpt-5.1-codex")
    add("response_item", type="message", role="user", content=[{"type": "input_text", "text": "Mend it."}])
    add("response_item", type="function_call", name="shell", arguments='{"command": ["ls"]}', call_id="call_1")
    counter(1_000, 1_000)
    add("response_item", type="function_call_output", call_id="call_1", output="a.py")
    counter(3_000, 2_000)
    counter(3_000, 2_000)
    return lines(*told)


def chat_log(*ids: str) -> bytes:
    """A log of OpenAI-style answers, one a line, the k-th after k minutes."""
    told = []
    for at, identifier in enumerate(ids or ("chatcmpl-1", "chatcmpl-2")):
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 60},
        }
        message = {"role": "assistant", "content": "Done."}
        response = {
            "id": identifier, "object": "chat.completion", "created": int(START) + 60 * at, "model": "gpt-5.1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage,
        }  # fmt: skip
        asked = {"model": "gpt-5.1", "messages": [{"role": "user", "content": "Mend it."}]}
        told.append({"request": asked, "response": response, "started": START + 60 * at})
    return lines(*told)


def stream() -> bytes:
    """The event stream of Claude Code: a stub of an answer, and a result that counts a side model besides."""
    usage = {"input_tokens": 4, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 0, "output_tokens": 1}
    message = {"id": "msg_s1", "model": SONNET, "role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    main = {
        "inputTokens": 4,
        "outputTokens": 60,
        "cacheReadInputTokens": 90,
        "cacheCreationInputTokens": 0,
        "costUSD": 0.01,
    }
    side = {
        "inputTokens": 700,
        "outputTokens": 9,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "costUSD": 0.002,
    }
    return lines(
        {"type": "system", "subtype": "init", "session_id": "st-1", "model": SONNET, "claude_code_version": "2.1.100"},
        {"type": "assistant", "session_id": "st-1", "parent_tool_use_id": None, "message": {**message, "usage": usage}},
        {"type": "result", "subtype": "success", "session_id": "st-1", "num_turns": 1, "duration_ms": 2_000,
         "total_cost_usd": 0.012, "usage": {**usage, "output_tokens": 60},
         "modelUsage": {SONNET: main, "claude-haiku-4-5": side}},
    )  # fmt: skip


def trajectory() -> bytes:
    """A trajectory of SWE-agent: usage for the whole run only, and no times."""
    state = json.dumps({"open_file": "n/a", "working_dir": "/desk"}) + "\n"
    step = {"action": "ls\n", "observation": "a.py", "response": "Well.", "thought": "Well.", "state": state}
    stats = {"total_cost": 9.5, "instance_cost": 1.25, "tokens_sent": 1_000, "tokens_received": 30, "api_calls": 1}
    info = {"exit_status": "submitted", "submission": "diff", "model_stats": stats}
    return json.dumps({"environment": "main", "trajectory": [step], "history": [], "info": info}).encode()


def spans() -> bytes:
    """Spans of OpenTelemetry: one answer of a model."""
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.request.model", "value": {"stringValue": "gpt-5.1"}},
        {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "120"}},
        {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "12"}},
    ]
    span = {
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "chat",
        "startTimeUnixNano": "1772440000000000000", "endTimeUnixNano": "1772440002000000000", "attributes": attributes,
    }  # fmt: skip
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def verdicts(
    case: str, passed: bool | None, *, replicate: int | None = None, prompt: int = 100, read: int = 0
) -> bytes:
    """A run in the project's own format that an evaluator has judged."""
    told = {"case_id": case, "success": passed} if replicate is None else {
        "case_id": case, "success": passed, "replicate": replicate
    }  # fmt: skip
    return lines(
        {"schema": "loopladder.trace/1", "run_id": f"{case}.{replicate}.{prompt}"},
        {"type": "request", "tokens": {"fresh_in": prompt, "cache_read": read, "out_total": 10}},
        {"type": "facts", **told},
    )


def context() -> bytes:
    """A run that was recorded for its context: two prompts block by block, a fold between them, a verdict."""
    from tests.kpis.context.lines import HEADER, action, end, fold, node, request, text_of, verdict

    first, second = request(1, [node("a", 50), node("b", 30)]), request(4, [node("a", 50), node("c", 7)])
    return text_of(HEADER, first, action(2), fold(3, 80, 57), second, verdict(5), end(6))


def authored(folder: Path) -> dict[str, Path]:
    """One recording of each shape below ``folder``, by name."""
    busy().save(folder / "agents")
    subagent("s-1").save(folder / "agents" / "s-1" / "subagents", "agent-a1.jsonl")
    return {
        "session": busy("s-7").save(folder),
        "sub-agents": folder / "agents",
        "placeholder": placeholder().save(folder),
        "rollout": put(folder / "rollout-2026-03-03T10-00-00.jsonl", rollout()),
        "log": put(folder / "log.jsonl", chat_log()),
        "trajectory": put(folder / "one.traj", trajectory()),
        "spans": put(folder / "spans.json", spans()),
        "empty": Session("s-0").ask().save(folder),
        "stream": put(folder / "stream.jsonl", stream()),
        "context": put(folder / "context.jsonl", context()),
    }
