"""What of an evaluated run was not judged, in labelled lines: questions without an answer, and rules not asked.

Whatever the reason is, it is said once for all that it holds of. This module refuses to print.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.report.evaluation_said import in_part
from kpis.terms.evaluation_words import SkipClass

__all__ = ["unjudged"]

_Document = Mapping[str, Any]


def unjudged(document: _Document) -> list[tuple[str, str]]:
    """The questions that no rule answered, together where the reason is the same, and those answered in part.

    What a rule that was asked says of itself is not said again.
    """
    questions, unanswered = document["coverage"]["questions"], document["unanswered"]
    said = {each["skipReason"] for each in document["rule_results"] if each["ruleName"] in unanswered}
    why: dict[str, list[str]] = {}
    for asked in questions:
        reasons = [each for each in asked.get("why", "").split("; ") if each not in said]
        if asked["status"] == "unjudged" and reasons:
            why.setdefault("; ".join(reasons), []).append(asked["id"])
    told = [("not judged", f"{', '.join(names)}: {reason}") for reason, names in why.items()]
    told += [
        ("in part", in_part(asked["id"], asked["evaluated"], asked["of"], _silent(asked["id"], document)))
        for asked in questions
        if asked["status"] == "judged" and asked.get("evaluated", 0) < asked.get("of", 0)
    ]
    told += [("skipped", f"{', '.join(names)}: {reason}") for reason, names in _own_skipped(document).items()]
    never = [asked["id"] for asked in questions if asked["status"] == "not_applicable"]
    return [*told, ("not asked", ", ".join(never))] if never else told


def _silent(question: str, document: _Document) -> list[tuple[str, str]]:
    """The rules of a question that were not asked, with their reasons; those asked in vain have said theirs."""
    return [
        (each["ruleName"], each["skipReason"])
        for each in document["rule_results"]
        if each.get("question") == question
        and each.get("skipClass") == SkipClass.NOT_APPLICABLE.value
        and each["ruleName"] not in document["unanswered"]
    ]


def _own_skipped(document: _Document) -> dict[str, list[str]]:
    """The rules that somebody wrote, which belong to no question, and were not asked: names by reason."""
    why: dict[str, list[str]] = {}
    for each in document["rule_results"]:
        if (
            each.get("question") is None
            and each.get("skipClass") == SkipClass.NOT_APPLICABLE.value
            and each["ruleName"] not in document["unanswered"]
        ):
            why.setdefault(each["skipReason"], []).append(each["ruleName"])
    return why
