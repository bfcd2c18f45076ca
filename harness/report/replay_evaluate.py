"""Evaluated runs for people: the verdict of each, what decided and where it stands, what was not judged and why.

Of many runs those that passed are counted and the others shown, the ones that failed all, those whose verdict is open
as far as a screen or two takes. Whatever a recording says is shown inert; places are never broken over two lines.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.cells import cell_len
from rich.console import Console

from harness.record.replay import Replayed, RunResult
from harness.report.evaluation_said import of_each_state, prior_decides, unmeasured
from harness.report.inert import inert
from harness.report.lines import put_line, put_text
from harness.report.replay_place import name_and_piece
from harness.report.replay_unjudged import unjudged
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.evaluation_words import RuleKind, SkipClass
from kpis.terms.trace import Severity

__all__ = ["render_evaluated"]

_FEW = 3
"""Runs up to which each is shown, whatever its verdict."""

_OPEN = 15
"""Runs with an open verdict that are shown; the rest are counted."""

_MOST = 5
"""Places shown of one rule, and losses of all runs; the rest are counted."""

_LABEL = 14
_FAIL, _UNKNOWN = VerdictState.FAIL.value, VerdictState.UNKNOWN.value
_STYLES = {VerdictState.PASS.value: "bold green", _FAIL: "bold red", _UNKNOWN: "bold yellow"}
_SIGNS = (RuleKind.DETECTION.value, RuleKind.INFERENCE.value)
_IN_VAIN = (SkipClass.DEFEATED.value, SkipClass.CONFIG_INVALID.value)
"""Of a rule that was asked and gave no answer, as those that a recording does not carry enough for."""

_Document = Mapping[str, Any]


def render_evaluated(result: Replayed, console: Console, *, verbose: bool = False) -> None:
    """Print the verdicts of ``result``, a tally at the end; every run and every place where ``verbose``."""
    judged = [(run, json.loads(run.evaluation)) for run in result.runs if run.evaluation is not None]
    states = Counter(document["verdict"]["state"] for _, document in judged)
    many = len(judged) > _FEW and not verbose
    left = _OPEN if many else len(judged)
    said = [unjudged(document) for _, document in judged]
    alike = [each for each in said[0] if all(each in others for others in said)] if len(said) > 1 else []
    for (run, document), lines in zip(judged, said, strict=True):
        state = document["verdict"]["state"]
        left -= state == _UNKNOWN
        if not many or state == _FAIL or (state == _UNKNOWN and left >= 0):
            _run(console, run, document, verbose=verbose)
            for label, text in lines:
                if (label, text) not in alike:
                    _say(console, label, text, "dim")
            put_line(console, "")
    if len(judged) > 1:
        _tally(console, states, hidden=max(0, -left))
        for label, text in alike:
            _say(console, label, text, "dim")
    _lost(console, result, verbose=verbose)


def _tally(console: Console, states: Counter[str], hidden: int) -> None:
    counts = {state: states[state.value] for state in VerdictState}
    put_text(console, f"{states.total():,} runs: {of_each_state(counts)}", "bold")
    if hidden:
        some = "run with an open verdict is" if hidden == 1 else "runs with an open verdict are"
        put_text(console, f"{hidden:,} more {some} not shown; --verbose names all.")


def _lost(console: Console, result: Replayed, *, verbose: bool) -> None:
    """What could not be read, since a verdict knows nothing of it."""
    every = [*result.issues, *(issue for run in result.runs for issue in run.issues)]
    said = [issue.message for issue in every if issue.severity is Severity.ERROR]
    shown = said if verbose else said[:_MOST]
    for message in shown:
        put_text(console, message, "red")
    if len(shown) < len(said):
        put_text(console, f"and {len(said) - len(shown):,} more that could not be read; --verbose names all.")


def _run(console: Console, run: RunResult, document: _Document, *, verbose: bool) -> None:
    verdict, results = document["verdict"], document["rule_results"]
    calls = run.parts.verdicts.calls
    put_line(console, f"run {run.run_id[:36]}  {run.source_format}  {calls:,} tool call{'s' * (calls != 1)}", "bold")
    blamed = not _by_prior(document)
    by = f" by {', '.join(verdict['by'])}" if verdict["by"] and blamed else ""
    _say(console, "verdict", f"{verdict['state']}, {verdict['basis']}{by}", _STYLES[verdict["state"]])
    if verdict["risk"] is not None:
        risk, sure = verdict["risk"], verdict["confidence"]
        sure = f", {sure}" if sure else ""
        _say(console, "risk", f"{risk['pBad']:.2f} [{risk['lo']:.2f}, {risk['hi']:.2f}]{sure}")
    if not blamed:
        _say(console, "", prior_decides(verdict["by"]))
    for each in results:
        if _fired(each):
            _say(console, _part(each, verdict), f"{each['ruleName']}: {each['message']}{_sure(each, verdict)}")
            _places(console, run, each, verbose=verbose)
    for each in results:
        if each["ruleName"] in document["unanswered"] or each.get("skipClass") in _IN_VAIN:
            _say(console, "no answer", f"{each['ruleName']}: {each['message']}")
            _places(console, run, each, verbose=verbose)


def _fired(result: _Document) -> bool:
    return not result["passed"] and not result.get("skipped")


def _by_prior(document: _Document) -> bool:
    """Whether the risk alone failed the run, without a detector that fired."""
    fired = [each for each in document["rule_results"] if _fired(each)]
    over = document["verdict"]["basis"] == VerdictBasis.RISK_OVER_LOSS.value
    return over and not any(each["kind"] in _SIGNS for each in fired)


def _leaves_open(result: _Document, verdict: _Document) -> bool:
    """Whether the verdict waits for how often the rule is right."""
    missing = verdict["basis"] == VerdictBasis.REQUIRED_EVIDENCE_MISSING.value
    return missing and result["ruleName"] in verdict["by"] and result["uncertainty"]["basis"] == "unmeasured"


def _part(result: _Document, verdict: _Document) -> str:
    """What the rule did in the verdict."""
    if _leaves_open(result, verdict):
        return "open"
    decided = result["ruleName"] in verdict["by"] or not set(result["classes"]).isdisjoint(verdict["by"])
    return "decided" if decided else str(result["role"])


def _sure(result: _Document, verdict: _Document) -> str:
    """How sure a fire is, in words."""
    known = result.get("uncertainty", {})
    if _leaves_open(result, verdict):
        return f"; {unmeasured(result['ruleName'], known['why'])}"
    if "ppv" in known:
        return f" (right with probability {known['ppv']['point']:.2f})"
    return " (its accuracy is unmeasured)" if known.get("basis") == "unmeasured" else ""


def _places(console: Console, run: RunResult, result: _Document, *, verbose: bool) -> None:
    calls = [item for item in result.get("evidence", ()) if item["type"] == "toolCall"]
    for item in calls if verbose else calls[:_MOST]:
        name, piece = name_and_piece(item["file"], item["line"], run.source_format)
        what = f"{item['toolName']}, {item['label']}"
        where = f"{name}, {piece}" if piece else name
        if _LABEL + cell_len(inert(f"{where}  {what}")) <= console.width:
            put_line(console, f"{'':<{_LABEL}}{where}  {what}")
        else:  # what an editor opens stays whole, to be copied
            put_line(console, f"{'':<{_LABEL}}{name}")
            put_text(console, f"{piece}  {what}" if piece else what, lead=" " * (_LABEL + 2), indent=_LABEL + 2)
    if len(calls) > _MOST and not verbose:
        put_line(console, f"{'':<{_LABEL}}and {len(calls) - _MOST} more; --verbose names up to 25")


def _say(console: Console, label: str, text: str, style: str = "") -> None:
    put_text(console, text, style, lead=f"  {label:<{_LABEL - 2}}", indent=_LABEL)
