"""Trajectories of mini-swe-agent: ``.traj.json``, versions 1 and 1.1, and the bare list of messages before them.

Deduplication: none is needed, a message is one answer of a model; an id that comes twice is merged. Usage is the
provider's own, cached tokens inside the prompt. The cost of the run is recorded apart from that of its requests, so the
two are held against each other. A command is a fenced block, where an answer holds exactly one (any other number the
agent refuses), or a tool call; its result is the message that follows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from harness.formats.json_files import FileLog, each_file, only_of
from harness.formats.limits import Limits
from harness.formats.mini_swe_commands import FENCES, commands_of, ending_of
from harness.formats.openai_answer import answer_of
from harness.formats.openai_usage import UsageLog
from harness.formats.plain_calls import CallLog, text_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import (
    as_amount,
    as_count,
    as_dict,
    as_list,
    as_ms,
    as_str,
    file_run,
    has_keys,
)  # fmt: skip
from kpis.terms.trace import (
    Issue,
    IssueCode,
    Request,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    ToolCall,
    TraceEvent,
    Turn,
    UserKind,
)

__all__ = ["MiniSweRun"]

_MAIN = "main"


class MiniSweRun:
    """One file is one run of the agent on one task."""

    name: ClassVar[str] = "mini-swe-agent"

    def sniff(self, head: bytes, filename: str) -> float:
        """Sure of files that name their version; nearly so of a list of messages with commands in it."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        named = filename.endswith(".traj.json")
        if start == b"{":
            if b'"trajectory_format": "mini-swe-agent' in head or has_keys(head, "mini_version", "model_stats"):
                return 0.98
            if has_keys(head, "model_stats", "api_calls") and not has_keys(head, "tokens_sent"):
                return 0.85
            return 0.6 if named and has_keys(head, "messages", "role", "content") else 0.0
        if start == b"[" and has_keys(head, "role", "content") and not has_keys(head, "traj"):
            fenced = any(fence.encode() in head for fence in FENCES) or b"<returncode>" in head
            return 0.7 * fenced + 0.2 * named
        return 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """A run of its own: the instance is a task, which other runs attempt too."""
        created = re.search(rb'"created": ?(\d{9,11})\b', head)
        return Origin(file_run(filename), started=as_ms(int(created[1])) if created else None)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Requests, commands and the run's facts, file by file."""
        yield from each_file(sources, limits, self.name, lambda file, items: _Trajectory(file).read(items))


class _Trajectory:
    def __init__(self, file: FileLog) -> None:
        self.file = file
        self.usage = UsageLog(file.name)
        self.calls = CallLog(file.name)
        self.requests: dict[str, Request] = {}
        self.open: list[ToolCall] = []
        self.model: str | None = None

    def read(self, items: list[tuple[int, Any]]) -> Iterator[TraceEvent | Issue]:
        first = as_dict(items[0][1]) if items else {}
        whole = "messages" in first or "info" in first
        root = only_of(items, self.file) if whole else {}
        messages = as_list(root.get("messages")) if whole else [item for _, item in items]
        info = as_dict(root.get("info"))
        self.file.version = as_str(root.get("trajectory_format")) or as_str(info.get("mini_version"))
        self.model = as_str(as_dict(as_dict(info.get("config")).get("model")).get("model_name"))
        outcome = as_str(info.get("exit_status"))
        for at, message in enumerate(messages, 1):
            self._message(as_dict(message), at)
        yield Thread(_MAIN, ThreadKind.MAIN)
        times = [each.t_first for each in self.requests.values() if each.t_first is not None]
        yield Turn(_MAIN, 0, UserKind.HUMAN, min(times, default=None), max(times, default=None))
        yield from self.requests.values()
        yield from self.calls.finished()
        yield from self.usage.issues()
        if info:
            stats = as_dict(info.get("model_stats"))
            instance = as_str(root.get("instance_id"))
            facts = RunFacts(
                cost_usd=as_amount(stats.get("instance_cost")),
                requests=as_count(stats.get("api_calls")),
                outcome=None if outcome is None else safe_name(outcome),
                case_id=None if instance is None else safe_id(instance),
                file=self.file.name,
            )
            yield facts
            self._check(facts)

    def _message(self, message: dict[str, Any], line: int) -> None:
        extra = as_dict(message.get("extra"))
        role = message.get("role")
        if role is None and "output" in message:  # an answer of the Responses API, kept as it came, or a result for one
            role = "tool" if message.get("type") == "function_call_output" else "assistant"
        if role == "assistant":
            self._answer(message, extra, line)
        elif role in ("user", "tool", "exit"):
            self._result(message, extra, line)
        elif role != "system":
            self.file.unknown_kind(role)

    def _answer(self, message: dict[str, Any], extra: dict[str, Any], line: int) -> None:
        response = as_dict(extra.get("response")) or (message if "usage" in message else {})
        usage = as_dict(response.get("usage"))
        identifier = as_str(response.get("id"))
        request_id = safe_id(identifier) if identifier else f"#{line}"
        tokens = self.usage.tokens(usage, line)
        known = self.requests.get(request_id)
        if known is not None:
            known.n_lines += 1
            return
        t = as_ms(extra.get("timestamp")) or as_ms(response.get("created")) or as_ms(response.get("created_at"))
        self.file.seen(t)
        text = text_of(message.get("content")) or ""
        answer = answer_of(response)
        model = as_str(response.get("model")) or self.model
        provider = as_str(response.get("provider"))
        cost = as_amount(extra.get("cost"))
        self.requests[request_id] = Request(
            request_id,
            _MAIN,
            0,
            len(self.requests),
            tokens,
            model=None if model is None else safe_name(model),
            stop_reason=None if answer.stop is None else safe_name(answer.stop),
            t_first=t,
            t_last=t,
            provider=None if provider is None else safe_name(provider),
            visible_chars=len(text) if answer.chars is None else answer.chars,
            cost_usd=as_amount(usage.get("cost")) if cost is None else cost,
            file=self.file.name,
            line=line,
        )
        self.open = [
            self.calls.opened(
                _MAIN, made.name, made.arguments, given=made.given, request_id=request_id, turn=0, t=t, line=line
            )
            for made in commands_of(message, answer, extra, text)
        ]

    def _result(self, message: dict[str, Any], extra: dict[str, Any], line: int) -> None:
        """What follows an answer: the result of its command, or of the call that it names."""
        content = message.get("output") if "output" in message else message.get("content")
        given = as_str(message.get("tool_call_id")) or as_str(message.get("call_id"))
        t = as_ms(extra.get("timestamp"))
        self.file.seen(t)
        call = self.calls.waiting(_MAIN, given) if given is not None else next(iter(self.open), None)
        if call is None:
            if given is not None:
                self.calls.orphan(_MAIN, given, content, line=line, t=t)
            return
        self.open = [each for each in self.open if each is not call]
        outcome, code = ending_of(text_of(content) or "", extra.get("returncode"))
        self.calls.answered(call, content, outcome, t=t, exit_code=code)

    def _check(self, facts: RunFacts) -> None:
        """Hold the run's own totals against its requests."""
        requests = list(self.requests.values())
        costs = [each.cost_usd for each in requests if each.cost_usd is not None]
        summed, reported = math.fsum(costs), facts.cost_usd
        told = reported is not None and len(costs) == len(requests) > 0
        if told and not math.isclose(summed, reported or 0, rel_tol=1e-6, abs_tol=1e-12):
            said = f"The run reports a cost of ${reported:.6f}, its {len(requests)} requests ${summed:.6f} together."
            self.file.issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, said)
        if facts.requests and facts.requests != len(requests):
            said = f"The run reports {facts.requests:,} model calls and records {len(requests):,}."
            self.file.issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, said)
