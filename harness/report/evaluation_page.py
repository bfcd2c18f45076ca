"""An evaluation for people: the verdict, what decided and on what evidence, what was not judged and why.

The stretch of text that a rule rests on is shown in its line and underlined. Whatever comes from outside is shown
inert, and a secret that a rule found is shown as well: the page is for whoever holds the text already.
"""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.text import Text

from harness.jobs.evaluate import Answer, Judgement
from harness.judge.evaluation.coverage import Asked, Status
from harness.judge.evaluation.judge import Evaluation, Judged
from harness.judge.evaluation.layers import EvaluationVerdict, by_prior, tau
from harness.judge.evaluation.uncertainty import Published, Unmeasured
from harness.report.evaluation_evidence import left_out, told, underlined
from harness.report.evaluation_said import in_part, of_each_state, prior_decides, unmeasured
from harness.report.inert import encoding_of, inert
from kpis.terms.claim import ClaimState, VerdictBasis, VerdictState
from kpis.terms.evaluation import EvidenceItem, Span
from kpis.terms.evaluation_words import RuleKind, SkipClass

__all__ = ["EvaluationPage"]

_STYLES = {VerdictState.PASS: "bold green", VerdictState.FAIL: "bold red", VerdictState.UNKNOWN: "bold yellow"}
_MOST = 5
"""Pieces of evidence that are shown of one rule; the rest are counted."""
_INDENT = 4


class EvaluationPage:
    """Where answers are shown one below the other, and counted at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = encoding_of(console.file)
        self._states: Counter[VerdictState | None] = Counter()

    def show(self, answer: Answer) -> None:
        """Print one answer; a line that could not be read says so."""
        if answer.judgement is None:
            self._line(answer.document["error"], "red")
        else:
            self._judgement(answer.judgement, answer.line.number)
        self._states[answer.state] += 1

    def end(self) -> None:
        """Print how many cases there were of each state, if there was more than one."""
        unread = self._states[None]
        states = {state: self._states[state] for state in VerdictState}
        cases = sum(states.values())
        if cases + unread > 1:
            lost = f"; {unread:,} line{'s' * (unread != 1)} could not be read" if unread else ""
            self._line(f"{cases:,} case{'s' * (cases != 1)}: {of_each_state(states)}{lost}", "bold")

    def _judgement(self, judgement: Judgement, number: int) -> None:
        found = judgement.evaluation
        verdict = found.verdict
        name = judgement.case.id or f"line {number}"
        blamed = not by_prior([item.finding for item in found.results], verdict)
        by = f" by {', '.join(verdict.by)}" if verdict.by and blamed else ""
        self._line(f"{name}: {verdict.state.value}, {verdict.basis.value}{by}", _STYLES[verdict.state])
        if verdict.risk is not None:
            self._line(_risk(verdict, judgement), indent=2)
        if not blamed:
            self._line(prior_decides(verdict.by), indent=2)
        for judged in found.results:
            if judged.finding.claim.state is ClaimState.FIRED:
                self._fired(judged, verdict, judgement.case.output)
        for judged in found.results:
            skip = judged.finding.claim.skip
            if skip is not None and skip.skip_class is not SkipClass.NOT_APPLICABLE:
                self._line(f"{judged.finding.rule.name} (asked, no answer): {skip.reason}", indent=2)
        self._unjudged(found)
        for note in judgement.case.notes:
            self._line(f"note: {note}", indent=2)
        self._console.print()

    def _fired(self, judged: Judged, verdict: EvaluationVerdict, text: str) -> None:
        rule, claim, known = judged.finding.rule, judged.finding.claim, judged.uncertainty
        is_open = isinstance(known, Unmeasured) and _leaves_open(verdict, rule.name)
        decided = rule.name in verdict.by or any(name.value in verdict.by for name in rule.classes)
        part = "open" if is_open else "decided" if decided else judged.role.value
        self._line(f"{rule.name} ({part}): {claim.note}{'' if is_open else _sure(judged)}", indent=2)
        for item in claim.evidence[:_MOST]:
            self._evidence(item, text)
        rest = left_out(claim.evidence, _MOST)
        if rest is not None:
            self._line(rest, indent=_INDENT)
        if isinstance(known, Unmeasured) and is_open:
            self._line(f"open: {unmeasured(rule.name, known.why)}", indent=2)

    def _evidence(self, item: EvidenceItem, text: str) -> None:
        if not isinstance(item, Span):
            self._line(told(item), indent=_INDENT)
            return
        for line in underlined(text, item, self._console.width - _INDENT):
            self._whole(line, indent=_INDENT)

    def _unjudged(self, found: Evaluation) -> None:
        if found.coverage is None:
            self._line("not judged: no rule ran", indent=2)
            return
        questions = found.coverage.questions
        never = [asked.question.value for asked in questions if asked.status is Status.NOT_APPLICABLE]
        if never:
            self._line(f"not asked: {', '.join(never)}", "dim", indent=2)
        for asked in questions:
            if asked.status is Status.UNJUDGED:
                self._line(f"not judged: {asked.question.value}: {asked.why}", "dim", indent=2)
            elif 0 < asked.evaluated < asked.of:
                self._line(f"judged in part: {_part(asked, found)}", "dim", indent=2)

    def _line(self, text: str, style: str = "", indent: int = 0) -> None:
        body = Text(inert(text, self._encoding), style=style)
        for number, part in enumerate(body.wrap(self._console, max(20, self._console.width - indent - 2))):
            part.rstrip()
            self._console.print(Text(" " * (indent + 2 * (number > 0))) + part, soft_wrap=True)

    def _whole(self, line: Text, indent: int) -> None:
        shown = Text(" " * indent) + line
        shown.rstrip()
        self._console.print(shown, no_wrap=True, crop=False, overflow="ignore", soft_wrap=True)


def _leaves_open(verdict: EvaluationVerdict, rule: str) -> bool:
    """Whether the verdict waits for how often the rule is right."""
    return verdict.basis is VerdictBasis.REQUIRED_EVIDENCE_MISSING and rule in verdict.by


def _part(asked: Asked, found: Evaluation) -> str:
    """A question that some of its rules answered; of those that were asked in vain it is said already why."""
    mine = (item.finding for item in found.results if item.finding.rule.question is asked.question)
    silent = [
        (each.rule.name, each.claim.skip.reason)
        for each in mine
        if each.claim.skip is not None and each.claim.skip.skip_class is SkipClass.NOT_APPLICABLE
    ]
    return in_part(asked.question.value, asked.evaluated, asked.of, silent)


def _risk(verdict: EvaluationVerdict, judgement: Judgement) -> str:
    risk = verdict.risk
    assert risk is not None
    sure = f", {verdict.confidence.value}" if verdict.confidence else ""
    line = tau(judgement.case.settings.false_pass_cost)
    return f"risk {risk.p_bad:.2f} [{risk.low:.2f}, {risk.high:.2f}] against {line:.2f}{sure}"


def _sure(judged: Judged) -> str:
    """How sure a fire is, in words."""
    match judged.uncertainty:
        case Published(worth=worth):
            return f" (right with probability {worth.point:.2f} [{worth.low:.2f}, {worth.high:.2f}])"
        case Unmeasured() if judged.finding.rule.kind is not RuleKind.MEASUREMENT:
            return " (its accuracy is unmeasured)"
        case _:
            return ""
