"""Signs of fabrication that hold a claim of the output against what was given: states, results, successes, names."""

from __future__ import annotations

import re

from kpis.rules.anchors import holds_any
from kpis.rules.material import Material, number

__all__ = [
    "boolean_contradiction",
    "empty_result_contradiction",
    "fabricated_cli_flag",
    "fabricated_section_citation",
    "false_success",
    "status_code_contradiction",
]

_NAME = r"[\"'`]?([A-Za-z_][\w.-]{1,60})[\"'`]?"
_SETTING = re.compile(
    rf"(?<![\w.-]){_NAME}[ \t]*[:=][ \t]*[\"']?(true|false|on|off|enabled|disabled|yes|no)\b", re.IGNORECASE
)
_STATE = re.compile(
    rf"(?<![\w.-]){_NAME}(?: (?:feature|flag|setting|option|mode|switch|toggle|check|parameter))?"
    r" (?:is|are|was|were) (?:currently |already |set to )?(not )?"
    r"(enabled|disabled|on|off|true|false|active|inactive)\b",
    re.IGNORECASE,
)
_ON = frozenset({"true", "on", "enabled", "yes", "active"})

_THINGS = r"(?:results?|matches|match|rows?|records?|entries|hits|items?|files?|users?|orders?|issues?|documents?|data)"
_EMPTY = re.compile(
    rf"\b(?:no|0) {_THINGS}\b|\b(?:returned|found) nothing\b|\bempty (?:result|list|set|response)"
    r"|\A\s*+\[\s*+\]\s*+\Z|:\s*+\[\s*+\]",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:found|returned|returns|shows?|lists?|there (?:are|were)|contains?|identified) (?:a total of )?"
    r"(?:[1-9][0-9]{0,8}|two|three|four|five|six|seven|eight|nine|ten|several|multiple|many|some) "
    rf"(?:\w{{1,20}} ){{0,2}}?{_THINGS}\b",
    re.IGNORECASE,
)

_UNDERTAKING = r"(?:build|job|deploy(?:ment)?|pipeline|migration|compilation|installation|install|tests?|run|suite)"
_CHECKS = r"(?:tests?|checks?|jobs?|specs?)"
_FAILURE = re.compile(
    rf"\b[1-9][0-9]{{0,6}} (?:{_CHECKS} )?(?:failed|failing|failures?|errors?|errored)\b|\bFAILED\b"
    rf"|\b{_UNDERTAKING} (?:has )?failed\b|\bexit(?:ed with)? (?:code|status):? ?[1-9]|\bfail(?:ed|ures?)[:=] ?[1-9]",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    rf"\ball (?:(?:of )?(?:the )?(?:[0-9]{{1,7}} )?{_CHECKS} )?(?:are |is )?"
    r"(?:green|passed|pass|passing|succeeded|successful)\b"
    r"|\beverything (?:passe[sd]|succeeded|works|worked|is green)|\bsafe to (?:merge|deploy|ship|release)\b"
    rf"|\b{_UNDERTAKING} (?:has |have |was |were )?"
    r"(?:passed|passes|succeeded|successful|completed successfully|green)\b"
    r"|\b(?:no|zero|without(?: any)?) (?:test )?(?:failures|errors|failing tests)\b",
    re.IGNORECASE,
)
_SUCCESS_WORDS = ("green", "pass", "succe", "works", "worked", "safe to", "no ", "zero ", "without ")
_OWNED = re.compile(
    r"\b(?:but|except|however|although)\b[^.\n]{0,80}\bfail|\b[1-9][0-9]{0,6} (?:\w{1,12} )?fail", re.IGNORECASE
)

_FLAG = re.compile(r"--[a-z](?<![\w-]--[a-z])[a-z0-9-]{1,40}")
_SECTION = re.compile(
    r"(?:\b(?:section|sec\.|article|clause|chapter)|§) ?([0-9]{1,3}(?:\.[0-9]{1,3}){0,4})", re.IGNORECASE
)
_SECTION_WORDS = ("section", "sec.", "article", "clause", "chapter", "§")
_HEADING = re.compile(r"^[ \t#]{0,8}([0-9]{1,3}(?:\.[0-9]{1,3}){0,4})[.)]?[ \t]", re.MULTILINE)

_GIVEN_STATUS = re.compile(
    r"\b(?:HTTP(?:/[0-9.]{1,3})?|status(?:[_ ]code)?|returned|responded with)[\":=]{0,2} {0,2}\"?[1-5][0-9]{2}\b",
    re.IGNORECASE,
)
_SAID_STATUS = re.compile(
    r"\b(?:returned|returns|responded with|responds with|response (?:was|is)"
    r"|status(?: code)?(?: of| is| was|:)?|HTTP|got)"
    r" (?:an? |the )?(?:HTTP |status )?(?:code )?([1-5][0-9]{2})\b"
    r"(?![.,][0-9]|%| (?:ms|rows|results|items|records|bytes))",
    re.IGNORECASE,
)


def boolean_contradiction(material: Material) -> bool:
    """Whether a switch that was given as on is said to be off, or the other way round."""
    given: dict[str, set[bool]] = {}
    for setting in _SETTING.finditer(material.given):
        given.setdefault(setting.group(1).lower(), set()).add(setting.group(2).lower() in _ON)
    return bool(given) and material.any_asserted(
        state
        for state in _STATE.finditer(material.said)
        if given.get(state.group(1).lower()) == {(state.group(3).lower() in _ON) is bool(state.group(2))}
    )


def empty_result_contradiction(material: Material) -> bool:
    """Whether results are told of where what was given has none."""
    if _EMPTY.search(material.given) is None or _FOUND.search(material.given):
        return False
    return material.any_asserted(_FOUND.finditer(material.said))


def false_success(material: Material) -> bool:
    """Whether all is said to be well where what was given shows a failure that is not owned up to."""
    if _FAILURE.search(material.given) is None or not holds_any(material.said_lower, _SUCCESS_WORDS):
        return False
    if "fail" in material.said_lower and _OWNED.search(material.said):
        return False
    return material.any_asserted(_SUCCESS.finditer(material.said))


def fabricated_cli_flag(material: Material) -> bool:
    """Whether a flag is told of that the tool, whose flags were given, does not have."""
    flags = set(_FLAG.findall(material.given)) if "--" in material.said else set()
    if len(flags) < 2 and not (flags and "usage" in material.given_lower):
        return False
    return material.any_asserted(found for found in _FLAG.finditer(material.said) if found.group() not in flags)


def fabricated_section_citation(material: Material) -> bool:
    """Whether a section is cited that the document, whose sections were given, does not have."""
    if not holds_any(material.said_lower, _SECTION_WORDS):
        return False
    numbers = {*_SECTION.findall(material.given), *_HEADING.findall(material.given)}
    there = {".".join(parts[:depth]) for parts in (n.split(".") for n in numbers) for depth in range(1, len(parts) + 1)}
    return bool(there) and material.any_asserted(
        cited for cited in _SECTION.finditer(material.said) if cited.group(1) not in there
    )


def status_code_contradiction(material: Material) -> bool:
    """Whether another HTTP status is told of than any that was given."""
    if _GIVEN_STATUS.search(material.given) is None:
        return False
    return material.any_asserted(
        told for told in _SAID_STATUS.finditer(material.said) if number(told.group(1)) not in material.figures
    )
