"""Trajectories of SWE-agent: ``.traj`` files, whose usage is one total for the whole run.

``tokens_sent`` is the sum of all prompts without its cached part, so it is ``unattributed`` in one row of scope RUN:
it is the prompt of the run, and nothing of it is claimed to be fresh. A total of zeros is a placeholder. ``total_cost``
adds up over instances, ``instance_cost`` is this run's. A step is one answer of the model and its action; ``history``
is not read, because it holds demonstrations and shortened observations and is not what the model was sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, ClassVar

from harness.formats.json_files import FileLog, each_file, only_of
from harness.formats.limits import Limits
from harness.formats.plain_calls import CallLog, arguments_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import as_amount, as_count, as_dict, as_list, as_str, file_run, has_keys
from kpis.terms.trace import (
    Issue,
    IssueCode,
    Outcome,
    Request,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    Tokens,
    TraceEvent,
    Turn,
    UsageScope,
    UserKind,
)

__all__ = ["SweAgentRun"]

_MAIN = "main"
_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-\d+")
_TIMED_OUT = re.compile(r"EXECUTION TIMED OUT|The command '.{0,2000}?' (?:timed out|was cancelled)", re.DOTALL)
_REFUSED = "Your proposed edit has introduced new syntax error(s)"

_ARGUMENTS = MappingProxyType(
    {
        "open": "path",
        "create": "path",
        "edit": None,
        "insert": None,
        "goto": None,
        "scroll_up": None,
        "scroll_down": None,
        "search_file": "pattern",
        "search_dir": "pattern",
        "find_file": "pattern",
        "submit": None,
        "str_replace_editor": None,
    }
)
"""The agent's own commands, and what their first word is; anything else is a line for the shell."""


class SweAgentRun:
    """One file is one run of the agent on one instance."""

    name: ClassVar[str] = "swe-agent"

    def sniff(self, head: bytes, filename: str) -> float:
        """Sure where the first step stands in ``head``."""
        if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{" or not has_keys(head, "trajectory", "action"):
            return 0.0
        if has_keys(head, "observation", "thought", "state") or has_keys(head, "observation", "response", "query"):
            return 0.97
        return 0.75 if filename.endswith(".traj") else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:  # noqa: ARG002 no file of this format says when it began
        """A run of its own: an instance is a task, which other runs attempt too."""
        return Origin(file_run(filename))

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Steps, actions, the run's usage and its facts, file by file."""
        yield from each_file(sources, limits, self.name, lambda file, items: _run(only_of(items, file), file))


def _run(root: dict[str, Any], file: FileLog) -> Iterator[TraceEvent | Issue]:
    info = as_dict(root.get("info"))
    stats = as_dict(info.get("model_stats"))
    told = as_dict(arguments_of(root.get("replay_config")))
    model = as_str(as_dict(as_dict(told.get("agent")).get("model")).get("name"))
    model = None if model is None else safe_name(model)
    file.version = as_str(info.get("swe_agent_version"))
    calls = CallLog(file.name)
    yield Thread(_MAIN, ThreadKind.MAIN)
    yield Turn(_MAIN, 0, UserKind.HUMAN)
    steps = [as_dict(each) for each in as_list(root.get("trajectory"))]
    opened: str | None = None
    for at, step in enumerate(steps):
        yield Request(
            f"#{at + 1}",
            _MAIN,
            0,
            at,
            Tokens(),
            model=model,
            visible_chars=len(as_str(step.get("response")) or as_str(step.get("thought")) or ""),
            file=file.name,
            line=at + 1,
        )
        _step(step, at + 1, opened, calls)
        opened = as_str(as_dict(arguments_of(step.get("state"))).get("open_file"))
    yield from calls.finished()
    usage = _usage(stats)
    cost = as_amount(stats.get("instance_cost")) if usage is not None or stats.get("instance_cost") else None
    if usage is None:
        said = "The run's totals are absent or zeros, so its tokens are unknown."
        file.issue(Severity.WARNING, IssueCode.W_NO_USAGE, said)
    else:
        said = (
            "Usage is recorded once for the whole run, and its prompts without their cached part: they count as prompt,"
            " and nothing of them as fresh."
        )
        file.issue(Severity.NOTE, IssueCode.W_USAGE_MEANING, said)
        yield Request(
            "#run", _MAIN, 0, len(steps), usage, model=model, scope=UsageScope.RUN, cost_usd=cost, file=file.name
        )  # fmt: skip
    outcome = as_str(info.get("exit_status"))
    yield RunFacts(
        cost_usd=cost,
        requests=as_count(stats.get("api_calls")) or None,
        outcome=None if outcome is None else safe_name(outcome),
        case_id=_case(told, file.name),
        file=file.name,
    )


def _usage(stats: dict[str, Any]) -> Tokens | None:
    """The run's total; None where it is absent, or zeros that stand in its place."""
    sent, received = as_count(stats.get("tokens_sent")), as_count(stats.get("tokens_received"))
    return Tokens(unattributed=sent, out_total=received) if sent or received else None


def _case(told: dict[str, Any], name: str) -> str | None:
    """The instance: as the run's settings name it, else by the file's name where that looks like one."""
    given = as_str(as_dict(told.get("problem_statement")).get("id"))
    stem = PurePosixPath(name.replace("\\", "/")).name.removesuffix(".traj")
    if given is None and _INSTANCE.fullmatch(stem) is None:
        return None
    return safe_id(given or stem)


def _step(step: dict[str, Any], line: int, opened: str | None, calls: CallLog) -> None:
    """The action of one step and what was observed. ``opened`` is the file that was open before it."""
    action = (as_str(step.get("action")) or "").strip()
    if not action or action.startswith("exit_"):  # an answer without an action, and the agent's own way out
        return
    words = action.split(maxsplit=3)
    name, told = "bash", {"command": action}
    if words[0] in _ARGUMENTS:
        name = words[0]
        key = _ARGUMENTS[name]
        if name == "str_replace_editor" and len(words) > 2:
            told = {"command": words[1], "path": words[2]}
        elif key is not None and len(words) > 1:
            told = {key: words[1].strip("\"'")}
        else:
            told = {} if opened is None or opened == "n/a" else {"path": opened}
    call = calls.opened(
        _MAIN, name, {"command": action}, line=line, request_id=f"#{line}", turn=0, described=told
    )  # fmt: skip
    seen = step.get("observation")
    if not isinstance(seen, str):
        return
    outcome = Outcome.TIMEOUT if _TIMED_OUT.match(seen) else Outcome.OK
    if seen.startswith(_REFUSED):
        outcome, call.error_class = Outcome.ERROR, "edit_refused"
    calls.answered(call, seen, outcome, seconds=as_amount(step.get("execution_time")))
