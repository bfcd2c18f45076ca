"""Signs of fabrication that hold a claim of the output against what was given: states, results, successes, names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kpis.rules.material import Material, number

__all__ = [
    "boolean_contradiction",
    "empty_result_contradiction",
    "fabricated_cli_flag",
    "fabricated_section_citation",
    "false_success",
    "status_code_contradiction",
]

_SETTING = re.compile(
    r"(?<![\w.-])([A-Za-z_][\w.-]{1,60})[\"']?[ \t]*[:=][ \t]*[\"']?(true|false|on|off|enabled|disabled|yes|no)\b",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"(?<![\w.-])[\"'`]?([A-Za-z_][\w.-]{1,60})[\"'`]?(?: (?:feature|flag|setting|option|mode|switch|toggle|check|parameter))?"
    r" (?:is|are|was|were) (?:currently |already |set to )?(not )?(enabled|disabled|on|off|true|false|active|inactive)\b",
    re.IGNORECASE,
)
_ON = frozenset({"true", "on", "enabled", "yes", "active"})

_EMPTY = re.compile(
    r"\b(?:no (?:results?|matches|match|rows?|records?|entries|hits|items|files?|data)\b|0 (?:results?|matches|rows?|records?|hits|items)\b"
    r"|returned nothing|found nothing|empty (?:result|list|set|response))|\A\s*\[\s*\]\s*\Z|:\s*\[\s*\]",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:found|returned|returns|shows?|lists?|there (?:are|were)|contains?|identified) (?:a total of )?"
    r"(?:[1-9][0-9]{0,8}|two|three|four|five|six|seven|eight|nine|ten|several|multiple|many|some) (?:\w{1,20} ){0,2}?"
    r"(?:results?|matches|rows?|records?|entries|hits|items|files?|users?|orders?|issues?|documents?)\b",
    re.IGNORECASE,
)

_FAILURE = re.compile(
    r"\b[1-9][0-9]{0,6} (?:tests? |checks? |jobs? |specs? )?(?:failed|failing|failures?|errors?|errored)\b|\bFAILED\b"
    r"|\b(?:build|job|deploy(?:ment)?|pipeline|migration|compilation|install(?:ation)?) (?:has )?failed\b"
    r"|\bexit(?:ed with)? (?:code|status):? ?[1-9]|\bfail(?:ed|ures?)[:=] ?[1-9]",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    r"\ball (?:(?:of )?(?:the )?(?:[0-9]{1,7} )?(?:tests?|checks?|jobs?|specs?) )?(?:are |is )?(?:now )?(?:green|passed|pass|passing|succeeded|successful)\b"
    r"|\beverything (?:passe[sd]|succeeded|works|worked|is green)|\bsafe to (?:merge|deploy|ship|release)\b"
    r"|\b(?:build|job|deploy(?:ment)?|pipeline|migration|tests?|compilation|run|suite) (?:has |have |was |were )?(?:passed|passes|succeeded|successful|completed successfully|green)\b"
    r"|\b(?:no|zero|without(?: any)?) (?:test )?(?:failures|errors|failing tests)\b",
    re.IGNORECASE,
)
_OWNED = re.compile(
    r"\b(?:but|except|however|although)\b[^.\n]{0,80}\bfail|\b[1-9][0-9]{0,6} (?:\w{1,12} )?fail", re.IGNORECASE
)

_FLAG = re.compile(r"--[a-z](?<![\w-]--[a-z])[a-z0-9-]{1,40}")
_SECTION = re.compile(
    r"(?:\b(?:section|sec\.|article|clause|chapter)|§) ?([0-9]{1,3}(?:\.[0-9]{1,3}){0,4})", re.IGNORECASE
)
_HEADING = re.compile(r"^[ \t#]{0,8}([0-9]{1,3}(?:\.[0-9]{1,3}){0,4})[.)]?[ \t]", re.MULTILINE)

_GIVEN_STATUS = re.compile(
    r"\b(?:HTTP/[0-9.]{1,3}\"?|HTTP|status(?:[_ ]code)?\"?[:=]?|returned|responded with) {0,2}\"?([1-5][0-9]{2})\b",
    re.IGNORECASE,
)
_SAID_STATUS = re.compile(
    r"\b(?:returned|returns|responded with|responds with|response (?:was|is)|status(?: code)?(?: of| is| was|:)?|HTTP|got) (?:an? |the )?(?:HTTP |status )?(?:code )?([1-5][0-9]{2})\b(?![.,][0-9]|%| (?:ms|rows|results|items|records|bytes))",
    re.IGNORECASE,
)


def _asserted(material: Material, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    return (found for found in pattern.finditer(material.said) if material.asserted(*found.span()))


def boolean_contradiction(material: Material) -> bool:
    """Whether a switch that was given as on is said to be off, or the other way round."""
    states = list(_asserted(material, _STATE))
    if not states:
        return False
    given: dict[str, set[bool]] = {}
    for setting in _SETTING.finditer(material.given):
        given.setdefault(setting.group(1).lower(), set()).add(setting.group(2).lower() in _ON)
    for state in states:
        on = (state.group(3).lower() in _ON) is not bool(state.group(2))
        if given.get(state.group(1).lower()) == {not on}:
            return True
    return False


def empty_result_contradiction(material: Material) -> bool:
    """Whether results are told of where what was given has none."""
    if _EMPTY.search(material.given) is None or _FOUND.search(material.given):
        return False
    return any(True for _ in _asserted(material, _FOUND))


def false_success(material: Material) -> bool:
    """Whether all is said to be well where what was given shows a failure that is not owned up to."""
    success = any(True for _ in _asserted(material, _SUCCESS))
    return success and _FAILURE.search(material.given) is not None and _OWNED.search(material.said) is None


def fabricated_cli_flag(material: Material) -> bool:
    """Whether a flag is told of that the tool, whose flags were given, does not have."""
    flags = set(_FLAG.findall(material.given)) if "--" in material.said else set()
    if len(flags) < 2 and not (flags and "usage" in material.given_lower):
        return False
    return any(found.group() not in flags for found in _asserted(material, _FLAG))


def fabricated_section_citation(material: Material) -> bool:
    """Whether a section is cited that the document, whose sections were given, does not have."""
    cited = [found.group(1) for found in _asserted(material, _SECTION)]
    if not cited:
        return False
    numbers = {*_SECTION.findall(material.given), *_HEADING.findall(material.given)}
    there = {".".join(parts[:depth]) for parts in (n.split(".") for n in numbers) for depth in range(1, len(parts) + 1)}
    return bool(there) and any(section not in there for section in cited)


def status_code_contradiction(material: Material) -> bool:
    """Whether another HTTP status is told of than any that was given."""
    said = [found.group(1) for found in _asserted(material, _SAID_STATUS)]
    if not said or _GIVEN_STATUS.search(material.given) is None:
        return False
    return any(number(code) not in material.figures for code in said)
