r"""What an instruction to a model looks like where there should be an answer: 13 phrasings and 24 disguises.

A phrasing is how an override is worded; quoted, it is only spoken of. A disguise is how one is smuggled in, as data, as
a comment, as another speaker's turn; quoting does not excuse it. Repetitions are bounded or possessive, and comments
are cut out before they are searched, so that opening a thousand of them costs no more than reading them. In these
patterns ``~`` stands for white space of any length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PHRASES", "STRUCTURES", "Sign"]


@dataclass(frozen=True, slots=True)
class Sign:
    """One pattern. It is tried when one of ``anchors`` is in the folded text, in small letters and on one line.

    ``in_comments`` looks only inside comments.
    """

    pattern: re.Pattern[str]
    anchors: tuple[str, ...]
    in_comments: bool = False


def _sign(pattern: str, *anchors: str, in_comments: bool = False, exact: bool = False) -> Sign:
    flags = re.ASCII | re.MULTILINE | (re.ASCII if exact else re.IGNORECASE)
    return Sign(re.compile(pattern.replace("~", r"\s++"), flags), anchors, in_comments)


_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|former|initial|original|system)"
_ORDERS = r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|messages?|context)"
_OLD_ORDERS = (
    rf"(?:(?:(?:all|any|the|your|my|of|these|those|every)~){{0,3}}{_EARLIER}~(?:\w{{1,20}}~)?{_ORDERS}"
    r"|(?:all|your|all~your|all~of~your)~(?:instructions|rules|guidelines))\b"
)
_ARE = r"(?:~are|['\u2019]re)"
_AGENT = r"(?:ai|llm|agent|assistant|language~model|model|bot|chatbot)"
_AGENTS = ("ai", "llm", "agent", "assistant", "model", "bot")
_JUDGE = r"(?:evaluator|grader|reviewer|judge|scorer|rater)"
_JUDGES = ("evaluator", "grader", "reviewer", "judge", "scorer", "rater")
_GUARDS = r"(?:safety|security|content|moderation|policy|compliance|ethical)"

PHRASES = (
    _sign(rf"\bignor(?:e|ing)~{_OLD_ORDERS}", "ignore ", "ignoring "),
    _sign(rf"\bdisregard(?:ing)?~{_OLD_ORDERS}", "disregard"),
    _sign(rf"\byou{_ARE}~now~an?\b", "re now a"),
    _sign(r"\bsystem\s*+:\s*+you\b", "system"),
    _sign(r"\bdan\b[\w\W]{0,80}?\bjailbreak|\bjailbreak[\w\W]{0,80}?\bdan\b", "jailbreak"),
    _sign(
        rf"\bbypass(?:ing)?~(?:(?:all|any|the|your|its|of)~){{0,3}}{_GUARDS}~"
        r"(?:filters?|guidelines?|checks?|controls?|measures?|restrictions?|rules?|polic(?:y|ies)|protocols?)\b",
        "bypass",
    ),
    _sign(r"\bact~as~an?\b", "act as a"),
    _sign(rf"\bpretend(?:ing)?~(?:to~be|(?:that~)?you{_ARE})\b", "pretend"),
    _sign(rf"\boverrid(?:e|ing)~(?:(?:all|any|the|your|my|of|these|{_EARLIER})~){{0,4}}{_ORDERS}\b", "overrid"),
    _sign(r"\b(?:my|your)~new~role~is\b", "new role is"),
    _sign(
        r"\b(?:reveal|show|print|display|output|repeat|disclose|leak|share)(?:~me|~us)?~"
        r"(?:(?:all|of|your|the|this|full|entire|hidden|secret|complete|initial|original)~){0,4}system~prompt\b",
        "system prompt",
    ),
    _sign(r"\bjailbroken\b", "jailbroken"),
    _sign(r"\bforget~everything\b", "forget everything"),
)
"""Numbered from 1 in this order."""

_KEYS = (
    r"(?:system[_-]?override|override[_-]?(?:instructions?|system|safety)|new[_-]?instructions?|hidden[_-]?instructions?"
    r"|ignore[_-]?(?:previous|prior|all|safety|rules|instructions?)(?:[_-]\w{1,30})?|bypass[_-]?\w{1,30}"
    r"|(?:assistant|agent|ai|llm|model|system)[_-]?(?:directives?|instructions?|commands?)|injected[_-]?\w{1,30}"
    r"|disable[_-]?(?:safety|filters?|guardrails?|checks?)|jailbreak)"
)
_KEY_PARTS = ("overrid", "instruction", "ignore", "bypass", "directive", "command", "inject", "disable", "jailbreak")
_DO = (
    r"(?:ignore|disregard|forget|override|bypass|skip|reveal|print|send|forward|email|post|upload|delete|remove|drop|run"
    r"|execute|call|invoke|install|download|fetch|open|grant|approve|transfer|reply|respond|answer|output|say|always"
    r"|never|you~must|you~will|do~not|stop|switch|enable|disable)"
)
_SCORING = (
    r"\b(?:score|rate|grade|mark)~(?:it|this|the~(?:output|answer|response|work|text))\b"
    r"|\bskip(?:ping)?~(?:(?:all|any|the|your|of|safety|security|quality)~){0,3}"
    r"(?:checks?|rules?|validation|evaluation|review)\b"
    r"|\b(?:score|rating|grade)(?:~of|~is|~to|:|=)?\s?(?:10/10|5/5|100\b|1\.0|10?\b)"
)

STRUCTURES = (
    _sign(rf"[\"']{_KEYS}[\"']\s*+:", *_KEY_PARTS),
    _sign(
        rf":\s*+\"[^\"]{{0,200}}?\b(?:(?:ignore|disregard|override)~{_OLD_ORDERS}|forget~everything\b)",
        "ignore ",
        "disregard ",
        "override ",
        "forget everything",
    ),
    _sign(r"\[\s*+system\s*+[:\]]\s*+\w", "[system", "[ system"),
    _sign(rf"\[\s*+(?:assistant|agent|ai|llm|admin|developer|inst(?:ruction)?s?)\s*+[:\]]\s*+{_DO}\b", "["),
    _sign(r"\bassistant[ _-]override\b", "override"),
    _sign(rf"^[ \t>*#]{{0,8}}+(?:system|assistant)\**+[ \t]*+:\**+[ \t]*+(?:please~)?{_DO}\b", "system", "assistant"),
    _sign(
        rf"\A(?:please~)?(?:ignore|disregard|forget|override|bypass)\s|{_SCORING}|\b(?:ignore|disregard)~{_OLD_ORDERS}"
        r"|\bdo~not~(?:mention|reveal|tell|report|flag)\b",
        "",
        in_comments=True,
    ),
    _sign(
        r"\A(?:(?:note|message|instructions?|attention|hey|dear)[ ,:]{0,2}(?:(?:to|for)~)?(?:(?:the|any|all)~)?)?"
        rf"(?:(?:ai|automated)~)?(?:{_AGENT}|{_JUDGE})s?\b[^\n]{{0,80}}?"
        r"\b(?:note|must|should|please|score|rate|grade|skip|ignore|approve|pass|treat|do~not|always|output|say|respond)\b",
        *_AGENTS,
        *_JUDGES,
        in_comments=True,
    ),
    _sign(
        r"\b(?:note|message|memo)~(?:to|for)~(?:(?:the|any|all|an)~)?(?:ai|llm|(?:ai~)?agent|(?:ai~)?assistant)s?\b",
        "note to ",
        "note for ",
        "message to ",
        "message for ",
        "memo to ",
        "memo for ",
    ),
    _sign(
        rf"\b(?:for|to|dear|attention)~(?:(?:the|any|all|an)~)?{_AGENT}s?~(?:\w{{1,20}}~){{0,3}}?"
        r"(?:reading|processing|parsing|summari[sz]ing|evaluating|reviewing)\b",
        " reading",
        " processing",
        " parsing",
        " summari",
        " evaluating",
        " reviewing",
    ),
    _sign(
        rf"\b{_AGENT}s?~(?:(?:that|who|which)~(?:is|are)~)?(?:reading|processing|parsing)~this\b",
        "reading this",
        "processing this",
        "parsing this",
    ),
    _sign(
        rf"\bif~you{_ARE}~(?:an?|the)~(?:(?:automated|autonomous|helpful|large)~)?"
        r"(?:ai|llm|language~model|agent|assistant|bot|chatbot)\b",
        "if you",
    ),
    _sign(rf"\b(?:ai|automated|llm)~(?:{_JUDGE}|agent|assistant)s?\s*+:\s", "ai ", "automated ", "llm "),
    _sign(r"(?<=[\w -])bot\s*+:\s*+(?:after|when|once|before|upon)\b", "bot:", "bot :"),
    _sign(r"(?<=[A-Z0-9][_-])BOT\s*+:", "-bot", "_bot", exact=True),
    _sign(r"\b(?:assistant|agent|ai)~instructions?\s*+:", "instruction"),
    _sign(r"\bbase64\b[\w\W]{0,120}?\b(?:follow|execute|obey|run|comply)\b", "base64"),
    _sign(
        rf"\byou{_ARE}~no~longer~(?:(?:an?|the|bound)~)?(?:\w{{1,20}}~){{0,3}}?(?:assistant|ai|model|chatbot)\b",
        "re no longer",
    ),
    _sign(r"\bfrom~now~on,?~you(?:~will|~must|~shall|~are~to|['\u2019]ll)\b", "from now on"),
    _sign(
        r"\bauthori[sz](?:e|es|ed|ing)~you~to~(?:bypass|ignore|skip|override|disable)\b",
        "authoriz",
        "authoris",
    ),
    _sign(
        r"\bassistant~(?:should|must|needs~to)~(?:(?:now|then|immediately)~)?(?:call|run|execute|invoke)\b",
        "assistant ",
    ),
    _sign(r"\byour~(?:real|actual|true)~instructions\b", "instructions"),
    _sign(rf"display\s*+:\s*+none[^>]{{0,80}}+>\s*+(?:{_AGENT}|system|{_JUDGE})\b", "display"),
    _sign(
        r"\bassistant\s*+:\s*+(?:delete|run|execute|send|transfer|drop|wipe|exfiltrate)\b", "assistant:", "assistant :"
    ),
)
"""Numbered from 1 in this order."""
