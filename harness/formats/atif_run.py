"""Trajectories in ATIF, the interchange format of Harbor and terminal-bench: ``trajectory.json``, versions 1.x.

A trajectory, its continuations and the sub-agents that are at hand are one run. Totals are cumulative, so only those of
the last continuation are read; what they hold beyond all steps is one row, so that the run's sums are its totals.
Deduplication: copied steps, files that another file repeats. This module refuses nothing but what has no steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from harness.formats.atif_files import Chain, Known, chains_of, documents_of, references_of
from harness.formats.atif_thread import Conversation
from harness.formats.atif_usage import Counts, hidden_tokens, sum_of
from harness.formats.limits import Limits
from harness.formats.plain_calls import CallLog
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import as_ms, as_str, digest_of, file_run, has_keys
from kpis.terms.trace import (
    Issue,
    IssueCode,
    ModelUsage,
    Request,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    TraceEvent,
    UsageScope,
)

__all__ = ["AtifRun"]

_VERSION = re.compile(rb'"schema_version":\s*"ATIF-v1\.')
_SESSION = re.compile(rb'"session_id":\s*"((?:[^"\\]|\\.){1,200})"')
_TIME = re.compile(rb'"timestamp":\s*"([^"]{10,40})"')
_HELPER = re.compile(r"-summarization-\d+-\w+$")
_CONTINUED = re.compile(r"\.cont-\d+(?=\.[^/]*$|$)")


class AtifRun:
    """The reader."""

    name: ClassVar[str] = "atif"

    def sniff(self, head: bytes, filename: str) -> float:
        """Sure of a file that names its version; a trajectory without one is known by its keys."""
        if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
            return 0.0
        if _VERSION.search(head) is not None:
            return 0.98
        named = 0.1 * filename.endswith("trajectory.json")
        return 0.6 + named if has_keys(head, "steps", "step_id", "source", "agent") else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The session, without the ending that a summariser's has; else the file, without a continuation's number."""
        found, when = _SESSION.search(head[: head.find(b'"steps"') if b'"steps"' in head else None]), _TIME.search(head)
        started = as_ms(when[1].decode("utf-8", "replace")) if when is not None else None
        if found is None:
            return Origin(file_run(_CONTINUED.sub("", filename)), started=started)
        return Origin(safe_id(_HELPER.sub("", found[1].decode("utf-8", "replace"))), started=started)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Threads, requests, calls and totals of the trajectories of one run."""
        files, documents = documents_of(sources, limits)
        for each in documents:
            version = as_str(each.root.get("schema_version"))
            each.file.version = each.file.version or (None if version is None else safe_name(version))
            session = each.session or each.own
            each.file.session = each.file.session or (None if session is None else safe_id(session))
            each.file.log.lines = max(each.file.log.lines, len(each.steps))
        yield from _Run(chains_of(documents)).events()
        for file in files:
            yield from file.finished(self.name)


class _Run:
    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains
        self.known = Known(chains)
        self.logs: dict[str, CallLog] = {}
        self.read: dict[int, Conversation] = {}
        self.spent: dict[int, Counts] = {}
        self.missing: dict[int, int] = {}
        self.above: dict[int, tuple[Chain, str | None]] = {}
        taken: set[str] = set()
        holding = {id(document): chain for chain in chains for document in chain.documents}
        for chain in chains:
            file = chain.first.file.name
            log = self.logs.setdefault(file, CallLog(file))
            self.read[id(chain)] = Conversation(chain, _thread_id(chain, taken), log)
        for chain in chains:
            inside = chain.first.inside
            if inside is not None and id(inside) in holding:
                self.above[id(chain)] = holding[id(inside)], None
        for chain in chains:
            self._refer(chain)

    def _refer(self, chain: Chain) -> None:
        for each in references_of(chain):
            found = self.known.meant(each, chain)
            if found is None:
                self.missing[id(chain)] = self.missing.get(id(chain), 0) + 1
            elif not self._descends(chain, found):  # a loop of references has no beginning
                known = self.above.get(id(found))
                if known is None or (known[0] is chain and known[1] is None):
                    self.above[id(found)] = chain, each.call

    def _descends(self, chain: Chain, other: Chain) -> bool:
        """Whether ``chain`` is ``other``, or was called by it or by one that it called."""
        here: Chain | None = chain
        while here is not None:
            if here is other:
                return True
            here = self.above.get(id(here), (None, None))[0]
        return False

    def events(self) -> Iterator[TraceEvent | Issue]:
        for chain in self._called_first():
            conversation = self.read[id(chain)]
            main = id(chain) not in self.above
            yield from conversation.events()
            yield from self._hidden(chain, conversation, main)
            if main:
                yield _facts(chain, conversation.final)
            yield from self._notes(chain, main)
        for chain in self.chains:
            yield self._thread(chain)
        for log in self.logs.values():
            yield from log.finished()

    def _thread(self, chain: Chain) -> Thread:
        conversation = self.read[id(chain)]
        agent = as_str(chain.first.agent.get("name"))
        named = None if agent is None else safe_name(agent)
        if id(chain) not in self.above:
            return Thread(conversation.thread_id, ThreadKind.MAIN, agent=named)
        caller = self.read[id(self.above[id(chain)][0])]
        call = caller.made.get(self.above[id(chain)][1] or "")
        if call is not None:
            call.spawned_thread = conversation.thread_id
        return Thread(
            conversation.thread_id,
            ThreadKind.SUBAGENT,
            caller.thread_id,
            None if call is None else call.call_id,
            conversation.copied,
            named,
        )

    def _called_first(self) -> list[Chain]:
        """Sub-agents before those who called them, since their usage is part of the callers' totals."""
        depth: dict[int, int] = {}
        for chain in self.chains:
            depth[id(chain)], here = 0, self.above.get(id(chain))
            while here is not None:
                depth[id(chain)] += 1
                here = self.above.get(id(here[0]))
        return sorted(self.chains, key=lambda each: -depth[id(each)])

    def _hidden(self, chain: Chain, conversation: Conversation, main: bool) -> Iterator[TraceEvent | Issue]:
        """What the totals of a conversation hold beyond its steps and its sub-agents."""
        called = [each for each in self.chains if self.above.get(id(each), (None, None))[0] is chain]
        below = [self.spent[id(each)] for each in called]
        final, shown = conversation.final, sum_of([conversation.counts, *below])
        left = final.minus(shown)
        if not left.possible:  # some count their sub-agents in, some do not
            left = final.minus(conversation.counts)
        more = [left] if left.possible and not left.empty else []
        self.spent[id(chain)] = sum_of([shown, conversation.after, *more])
        file = chain.documents[-1].file.name
        if not left.possible:
            steps = conversation.counts
            said = (
                f"The totals say {final.prompt or 0:,} prompt and {final.completion or 0:,} completion tokens, the"
                f" steps have {steps.prompt or 0:,} and {steps.completion or 0:,}. The steps were taken."
            )
            yield Issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, said, file=file)
        elif more:
            thread_id = conversation.thread_id
            if main and conversation.summarised and conversation.metered:
                thread_id = f"{thread_id}:summariser"
                yield Thread(thread_id, ThreadKind.SUMMARISER, conversation.thread_id)
            yield Request(
                f"{conversation.thread_id}#hidden",
                thread_id,
                0,
                sum(len(each.steps) for each in chain.documents),
                hidden_tokens(left),
                scope=UsageScope.RUN if main else UsageScope.THREAD,
                cost_usd=left.cost if left.cost is not None and left.cost >= 0 else None,
                file=file,
            )
            said = (
                f"{left.prompt or 0:,} prompt and {left.completion or 0:,} completion tokens are in the totals and in"
                " no step; they are shown as one row."
            )
            yield Issue(Severity.NOTE, IssueCode.W_USAGE_MEANING, said, file=file)

    def _notes(self, chain: Chain, main: bool) -> Iterator[Issue]:
        file = chain.first.file.name
        count = self.missing.get(id(chain), 0)
        if count:
            some = f"{count:,} sub-agents' trajectories are" if count > 1 else "1 sub-agent's trajectory is"
            said = f"{some} referred to and not among the files; only the totals hold their usage."
            yield Issue(Severity.NOTE, IssueCode.W_PHANTOM_PARENT, said, file=file)
        if main and chain.first.index > 0:
            said = "The trajectory continues one that is not among the files; its totals hold the usage of both."
            yield Issue(Severity.NOTE, IssueCode.W_PHANTOM_PARENT, said, file=file)
        if chain.documents[-1].root.get("continued_trajectory_ref") is not None:
            said = "The trajectory goes on in a file that is not here, so its totals are not the run's."
            yield Issue(Severity.WARNING, IssueCode.W_UNSETTLED, said, file=file)


def _thread_id(chain: Chain, taken: set[str]) -> str:
    first = chain.first
    made = safe_id(first.own or first.session or "main")
    if made in taken:
        made = f"{made}:{digest_of(''.join(first.marks).encode())}"
    while made in taken:
        made += "+"
    taken.add(made)
    return made


def _facts(chain: Chain, final: Counts) -> RunFacts:
    """The totals of the last continuation."""
    model = as_str(chain.first.agent.get("model_name"))
    usage = ModelUsage(safe_name(model or "unknown"), hidden_tokens(final), cost_usd=final.cost)
    return RunFacts(
        by_model=() if final == Counts() else (usage,), cost_usd=final.cost, file=chain.documents[-1].file.name
    )
