"""One conversation of an ATIF run: the steps of a trajectory and its continuations as turns, requests and calls.

A step of the agent is a request, unless it says that no model was asked. A result belongs to the call that it names;
where a step has as many results as calls and they name none, to the call at its place. Copied steps are passed over.
This module refuses to read commands out of an agent's text: a call is what the trajectory calls one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.formats.atif_files import Chain, Document, is_copied, references_of
from harness.formats.atif_usage import AtifUsage, Counts, counts_of, final_of, sum_of
from harness.formats.plain_calls import CallLog, text_of
from harness.formats.pseudonym import safe_name
from harness.formats.whole_json import as_amount, as_count, as_dict, as_list, as_ms, as_str
from kpis.terms.trace import Event, EventKind, Issue, Outcome, Request, ToolCall, TraceEvent, Turn, UserKind

__all__ = ["Conversation"]


class Conversation:
    """Reads one chain. ``copied`` counts its agent's copied steps.

    ``final`` are its last totals, ``counts`` what the steps up to there record, ``after`` what the later ones do.
    ``metered``: at least one step records usage. ``made`` are its calls by their recorded ids.
    ``summarised``: its context was replaced, or work was handed over, by somebody whose requests may not be here.
    """

    def __init__(self, chain: Chain, thread_id: str, calls: CallLog) -> None:
        self.chain = chain
        self.thread_id = thread_id
        self.calls = calls
        self.copied = 0
        self.made: dict[str, ToolCall] = {}
        self._fresh = [(document, *each) for document in chain.documents for each in self._new(document)]
        last = max((at for at, each in enumerate(chain.documents) if each.final), default=None)
        self.final = Counts() if last is None else final_of(chain.documents[last].final)
        covered = {id(each) for each in chain.documents[: None if last is None else last + 1]}
        told = [(id(document) in covered, counts_of(step)) for document, _, step in self._fresh]
        within = [each for inside, each in told if inside and each is not None]
        self.counts = sum_of(within)
        self.after = sum_of([each for inside, each in told if not inside and each is not None])
        self.metered = bool(within)
        recorded = sum(each.cached for each in within if each.cached is not None)
        self.usage = AtifUsage(chain.first.file.name, self.final.cached == recorded)
        compacted = any(_compaction(step) for _, _, step in self._fresh)
        cut = chain.first.index > 0 or len(chain.documents) > 1
        self.summarised = cut or compacted or next(references_of(chain), None) is not None

    def _new(self, document: Document) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The steps of ``document`` that no earlier document of the chain shows."""
        earlier = {mark for each in self.chain.documents[: self.chain.documents.index(document)] for mark in each.marks}
        head = True
        for line, (step, mark) in enumerate(zip(document.steps, document.marks, strict=True), 1):
            head = head and (is_copied(step) or mark in earlier)
            if is_copied(step) or head:
                self.copied += step.get("source") == "agent"
            else:
                yield line, step

    def events(self) -> Iterator[TraceEvent | Issue]:
        """Turns, requests and events; the calls are in the log."""
        turn, index = -1, 0
        times: dict[int, list[int]] = {}
        kinds: list[UserKind] = []
        for document, line, step in self._fresh:
            source, t = step.get("source"), as_ms(step.get("timestamp"))
            document.file.seen(t)
            if source == "user" or turn < 0:
                turn += 1
                kinds.append(UserKind.HUMAN if source == "user" else UserKind.SYSTEM)
            if t is not None:
                times.setdefault(turn, []).append(t)
            request_id: str | None = None
            if source == "agent" and as_count(step.get("llm_call_count")) != 0:
                request = self._request(document, line, step, turn, index, t)
                request_id = request.request_id
                index += 1
                yield request
            elif source not in ("agent", "user", "system"):
                document.file.unknown_kind(source)
            if _compaction(step):
                yield Event(EventKind.COMPACTION, self.thread_id, t, line=line, file=document.file.name)
            self._calls(document, line, step, turn, request_id, t)
        for at, kind in enumerate(kinds):
            when = times.get(at, [])
            yield Turn(self.thread_id, at, kind, min(when, default=None), max(when, default=None))
        yield from self.usage.issues()

    def _request(
        self, document: Document, line: int, step: Mapping[str, Any], turn: int, index: int, t: int | None
    ) -> Request:
        if (as_count(step.get("llm_call_count")) or 0) > 1:
            self.usage.note("several", line)
        model = as_str(step.get("model_name")) or as_str(document.agent.get("model_name"))
        return Request(
            f"{self.thread_id}#{self.chain.documents.index(document)}.{line}",
            self.thread_id,
            turn,
            index,
            self.usage.tokens(step, line),
            model=None if model is None else safe_name(model),
            t_first=t,
            t_last=t,
            visible_chars=len(text_of(step.get("message")) or ""),
            cost_usd=as_amount(as_dict(step.get("metrics")).get("cost_usd")),
            file=document.file.name,
            line=line,
        )

    def _calls(
        self, document: Document, line: int, step: Mapping[str, Any], turn: int, request_id: str | None, t: int | None
    ) -> None:
        made: list[ToolCall] = []
        for each in map(as_dict, as_list(step.get("tool_calls"))):
            call = self.calls.opened(
                self.thread_id, as_str(each.get("function_name")), each.get("arguments"), line=line,
                given=each.get("tool_call_id"), request_id=request_id, turn=turn, t=t,
            )  # fmt: skip
            call.file = document.file.name
            made.append(call)
            if given := as_str(each.get("tool_call_id")):
                self.made[given] = call
        results = [as_dict(each) for each in as_list(as_dict(step.get("observation")).get("results"))]
        nameless = [each for each in results if as_str(each.get("source_call_id")) is None]
        for at, result in enumerate(results):
            given = as_str(result.get("source_call_id"))
            if given is not None:
                answered = self.calls.waiting(self.thread_id, given)
                if answered is None:
                    self.calls.orphan(self.thread_id, given, result.get("content"), line=line)
                    continue
            elif len(nameless) == len(results) == len(made):
                answered = made[at]
            else:
                continue  # what a terminal shows after several commands is no one call's result
            self.calls.answered(answered, result.get("content"), _outcome(result))


def _outcome(result: Mapping[str, Any]) -> Outcome:
    failed = result.get("is_error") is True or as_dict(result.get("extra")).get("is_error") is True
    return Outcome.ERROR if failed else Outcome.OK


def _compaction(step: Mapping[str, Any]) -> bool:
    """Whether the agent's context was replaced here: by the step's word, or in old versions by who was called."""
    if step.get("source") != "system":
        return False
    if as_dict(as_dict(step.get("extra")).get("context_management")).get("type") == "compaction":
        return True
    for result in map(as_dict, as_list(as_dict(step.get("observation")).get("results"))):
        told = result.get("subagent_trajectory_ref")
        for each in map(as_dict, as_list(told) or [told]):
            if "summarization" in f"{each.get('trajectory_path')} {each.get('session_id')}":
                return True
    return False
