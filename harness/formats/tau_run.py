"""Results of tau-bench (a list of simulations) and of tau2 (an object that holds them).

One file is one run: each simulation is a thread of its own with facts of its own, so that trials can be counted per
task. In tau2 the user is a model too and calls tools: what it asks and calls is a side thread of the simulation.
Deduplication: a simulation that stands twice, by its id, counts once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from harness.formats.json_files import FileLog, each_file, only_of
from harness.formats.limits import Limits
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.tau_conversation import Conversation, Heard
from harness.formats.whole_json import (
    as_amount,
    as_dict,
    as_float,
    as_int,
    as_list,
    as_ms,
    as_str,
    file_run,
    has_keys,
)
from kpis.terms.trace import (
    Issue,
    IssueCode,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    TraceEvent,
    Turn,
    UserKind,
)

__all__ = ["SOLVED", "TauRun"]

SOLVED = 1 - 1e-6
"""A reward from here on is a success: the benchmark's own tolerance around 1."""

_STAMP = re.compile(rb'"(?:timestamp|start_time)": ?"([^"]{10,40})"')


class TauRun:
    """One file is one run of the benchmark."""

    name: ClassVar[str] = "tau-bench"

    def sniff(self, head: bytes, filename: str) -> float:  # noqa: ARG002 the content decides alone
        """Sure by the keys that the benchmark alone writes together."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if start == b"[" and has_keys(head, "task_id", "reward"):
            return 0.97 if has_keys(head, "traj") or has_keys(head, "info", "trial") else 0.8
        if start == b"{":
            if has_keys(head, "environment_info", "agent_info") or has_keys(head, "simulations", "tasks"):
                return 0.97
            return 0.9 if has_keys(head, "task_id", "termination_reason", "reward_info") else 0.0
        return 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """A run of its own, begun when the results say."""
        stamp = _STAMP.search(head)
        return Origin(file_run(filename), started=as_ms(stamp[1].decode("ascii", "replace")) if stamp else None)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """The simulations of each file, one after another."""
        yield from each_file(sources, limits, self.name, lambda file, items: _Results(file).read(items))


class _Results:
    def __init__(self, file: FileLog) -> None:
        self.file = file
        self.heard = Heard(file)
        self.names: dict[str, int] = {}
        self.known: set[str] = set()

    def read(self, items: list[tuple[int, Any]]) -> Iterator[TraceEvent | Issue]:
        simulations = [item for _, item in items]
        if items and "simulations" in as_dict(items[0][1]):
            root = only_of(items, self.file)
            info = as_dict(root.get("info"))
            self.heard.agent, self.heard.user = (_model(info.get(key)) for key in ("agent_info", "user_info"))
            self.file.version = as_str(info.get("git_commit"))
            self.file.seen(as_ms(root.get("timestamp")))
            simulations = as_list(root.get("simulations"))
        for at, each in enumerate(simulations, 1):
            simulation = as_dict(each)
            if not _messages(simulation) and "reward" not in simulation and "reward_info" not in simulation:
                self.file.unknown_kind("simulation-without-messages")
                continue
            identifier = as_str(simulation.get("id"))
            if identifier is not None and identifier in self.known:
                said = f"Simulation {at:,} stands in the file a second time and counts once."
                self.file.issue(Severity.NOTE, IssueCode.W_REPEATED_LINE, said, at)
                continue
            self.known.add(identifier or "")
            yield from self._simulation(simulation, at)
        yield from self.heard.calls.finished()
        yield from self.heard.usage.issues()

    def _thread(self, simulation: dict[str, Any]) -> str:
        """A name for the simulation that its place in the file does not change, unless it has no other."""
        task, trial = simulation.get("task_id"), as_int(simulation.get("trial"))
        name = safe_id(f"task-{task}.{trial}" if isinstance(task, (int, str)) else "task-none")
        self.names[name] = self.names.get(name, 0) + 1
        return name if self.names[name] == 1 else f"{name}#{self.names[name]}"

    def _simulation(self, simulation: dict[str, Any], line: int) -> Iterator[TraceEvent | Issue]:
        thread = self._thread(simulation)
        one = Conversation(self.heard, thread, line)
        for message in _messages(simulation):
            one.message(as_dict(message))
        yield Thread(thread, ThreadKind.MAIN, agent="agent")
        if one.has_user:
            yield Thread(one.side, ThreadKind.SIDE_MODEL, parent_thread_id=thread, agent="user")
            yield Turn(one.side, 0, UserKind.SYSTEM)
        yield from one.turns
        yield from one.requests
        yield self._facts(simulation, one, line)

    def _facts(self, simulation: dict[str, Any], one: Conversation, line: int) -> RunFacts:
        told = as_dict(simulation.get("reward_info"))
        reward = as_float(simulation.get("reward", told.get("reward")))
        costs = [as_amount(simulation.get(key)) for key in ("agent_cost", "user_cost")]
        seconds = as_amount(simulation.get("duration"))
        ended = as_str(simulation.get("termination_reason"))
        task = simulation.get("task_id")
        self.file.seen(as_ms(simulation.get("start_time")), as_ms(simulation.get("end_time")))
        for reported, thread, who in zip(costs, (one.thread, one.side), ("agent", "user"), strict=True):
            spent = [each.cost_usd for each in one.requests if each.thread_id == thread]
            known = [each for each in spent if each is not None]
            if reported is None or not known or len(known) < len(spent):
                continue
            if not math.isclose(math.fsum(known), reported, rel_tol=1e-6, abs_tol=1e-9):
                said = f"The {who} cost ${reported:.6f} by the simulation and ${math.fsum(known):.6f} by its messages."
                self.file.issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, said, line)
        return RunFacts(
            cost_usd=None if None in costs else math.fsum(each for each in costs if each is not None),
            duration_ms=None if seconds is None else round(seconds * 1_000),
            outcome=None if ended is None else safe_name(ended.rpartition(".")[2].lower()),
            success=None if reward is None else reward >= SOLVED,
            score=reward,
            case_id=safe_id(str(task)) if isinstance(task, (int, str)) else None,
            replicate=as_int(simulation.get("trial")),
            file=self.file.name,
        )


def _model(info: Any) -> str | None:
    return as_str(as_dict(info).get("llm"))


def _messages(simulation: dict[str, Any]) -> list[Any]:
    return as_list(simulation.get("messages", simulation.get("traj")))
