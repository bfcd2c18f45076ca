"""An evaluation for people: the verdict, what decided and on what evidence, what was not judged and why.

The stretch of text that a rule rests on is shown in its line and underlined. Whatever comes from outside is shown
inert, and a secret that a rule found is shown as well: the page is for whoever holds the text already.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from harness.jobs.evaluate import Answer, Judgement
from harness.judge.evaluation.coverage import Status
from harness.judge.evaluation.judge import Judged
from harness.judge.evaluation.layers import EvaluationVerdict, tau
from harness.judge.evaluation.uncertainty import Published, Unmeasured
from harness.report.inert import encoding_of, inert
from kpis.terms.claim import ClaimState, VerdictState
from kpis.terms.evaluation import Citation, Count, EvidenceItem, Pattern, Span, ToolCallAt
from kpis.terms.evaluation_words import RuleKind

__all__ = ["EvaluationPage"]

_STYLES = {VerdictState.PASS: "bold green", VerdictState.FAIL: "bold red", VerdictState.UNKNOWN: "bold yellow"}
_LEAST = 8
"""UTF-16 units of text on either side of a stretch that are shown however narrow the terminal is."""
_LONGEST = 64
_MOST = 5
"""Pieces of evidence that are shown of one rule; the rest are counted."""
_MARK = "-"
_INDENT = 4


class EvaluationPage:
    """Where answers are shown one below the other."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = encoding_of(console.file)

    def show(self, answer: Answer) -> None:
        """Print one answer; a line that could not be read says so."""
        if answer.judgement is None:
            self._line(answer.document["error"], "red")
        else:
            self._judgement(answer.judgement, answer.line.number)

    def _judgement(self, judgement: Judgement, number: int) -> None:
        found = judgement.evaluation
        verdict = found.verdict
        name = judgement.case.id or f"line {number}"
        by = f" by {', '.join(verdict.by)}" if verdict.by else ""
        self._line(f"{name}: {verdict.state.value}, {verdict.basis.value}{by}", _STYLES[verdict.state])
        if verdict.risk is not None:
            self._line(_risk(verdict, judgement), indent=2)
        for judged in found.results:
            if judged.finding.claim.state is ClaimState.FIRED:
                self._fired(judged, verdict, judgement.case.output)
        for judged in found.results:
            skip = judged.finding.claim.skip
            if judged.finding.rule.name in verdict.by and skip is not None:
                self._line(f"{judged.finding.rule.name} (asked, no answer): {skip.reason}", indent=2)
        self._unjudged(judgement)
        self._console.print()

    def _fired(self, judged: Judged, verdict: EvaluationVerdict, text: str) -> None:
        rule, claim = judged.finding.rule, judged.finding.claim
        decided = rule.name in verdict.by or any(name.value in verdict.by for name in rule.classes)
        part = "decided" if decided else judged.role.value
        self._line(f"{rule.name} ({part}): {claim.note}{_sure(judged)}", indent=2)
        for item in claim.evidence[:_MOST]:
            for line in _shown(item, text, self._console.width - _INDENT):
                self._whole(line, indent=_INDENT)
        if len(claim.evidence) > _MOST:
            self._line(f"and {len(claim.evidence) - _MOST} more", indent=_INDENT)

    def _unjudged(self, judgement: Judgement) -> None:
        coverage = judgement.evaluation.coverage
        if coverage is None:
            self._line("not judged: no rule ran", indent=2)
            return
        never = [asked.question.value for asked in coverage.questions if asked.status is Status.NOT_APPLICABLE]
        if never:
            self._line(f"not asked: {', '.join(never)}", "dim", indent=2)
        for asked in coverage.questions:
            if asked.status is Status.UNJUDGED:
                self._line(f"not judged: {asked.question.value}: {asked.why}", "dim", indent=2)
            elif 0 < asked.evaluated < asked.of:
                self._line(
                    f"judged in part: {asked.question.value}: {asked.evaluated} of {asked.of} rules", "dim", indent=2
                )

    def _line(self, text: str, style: str = "", indent: int = 0) -> None:
        body = Text(inert(text, self._encoding), style=style)
        for number, part in enumerate(body.wrap(self._console, max(20, self._console.width - indent - 2))):
            part.rstrip()
            self._console.print(Text(" " * (indent + 2 * (number > 0))) + part, soft_wrap=True)

    def _whole(self, line: Text, indent: int) -> None:
        shown = Text(" " * indent) + line
        shown.rstrip()
        self._console.print(shown, no_wrap=True, crop=False, overflow="ignore", soft_wrap=True)


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


def _shown(item: EvidenceItem, text: str, room: int) -> Iterator[Text]:
    match item:
        case Span():
            yield from _underlined(text, item, room)
        case Pattern():
            yield Text(inert(f"{item.name}: {item.count}"))
        case ToolCallAt():
            yield Text(inert(f"call {item.index}, {item.tool_name}: {item.label}"))
        case Citation():
            yield Text(inert(f"{item.url}: {item.status}"))
        case Count():
            held = "" if item.threshold is None else f" against {item.threshold:g}"
            source = "" if item.source is None else f" ({item.source.value})"
            yield Text(inert(f"{item.stat} {item.value:g} {item.unit}{held}{source}"))


def _underlined(text: str, span: Span, room: int) -> Iterator[Text]:
    """The stretch in its line, and the marks below it. Places count UTF-16 units, marks the columns of a terminal."""
    units = text.encode("utf-16-le", "surrogatepass")

    def part(start: int, end: int) -> str:
        return inert(units[2 * max(0, start) : 2 * end].decode("utf-16-le", "replace"))

    whole = part(span.start, span.end)
    cut = whole if len(whole) <= _LONGEST else whole[: _LONGEST - 3] + "..."
    around = max(_LEAST, (room - Text(cut).cell_len) // 2)
    before, after = part(span.start - around, span.start), part(span.end, span.end + around)
    while Text(before).cell_len > around:  # a character may take two columns
        before = before[1:]
    while Text(after).cell_len > around:
        after = after[:-1]
    line = Text(before)
    line.append(cut, style="underline")
    line.append(after)
    yield line
    yield Text(" " * Text(before).cell_len + _MARK * max(1, Text(cut).cell_len) + f" {inert(span.label)}")
