r"""What an instruction to a model looks like where there should be an answer: 13 phrasings and 24 disguises.

A phrasing is how an override is worded; quoted, it is only spoken of. A disguise is how one is smuggled in, as data, as
a comment, as another speaker's turn; quoting does not excuse it. Repetitions are bounded or possessive, and comments
are cut out before they are searched, so that opening a thousand of them costs no more than reading them. In these
patterns ``~`` stands for white space of any length.
"""

from __future__ import annotations

from kpis.rules.injection_sign import calls_bot, ends_key, opens_turn, sign

__all__ = ["PHRASES", "STRUCTURES"]

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
_JUDGING = " ".join(f"{who} {who}s" for who in (*_JUDGES, "agent", "assistant"))
_GUARDS = r"(?:safety|security|content|moderation|policy|compliance|ethical)"

PHRASES = (
    sign(rf"\bignor(?:e|ing)~{_OLD_ORDERS}", "ignore ignoring", "ignore ", "ignoring "),
    sign(rf"\bdisregard(?:ing)?~{_OLD_ORDERS}", "disregard disregarding", "disregard"),
    sign(rf"\byou{_ARE}~now~an?\b", "now", "re now a"),
    sign(r"\bsystem\s*+:\s*+you\b", "system", "system:", "system :"),
    sign(r"\bdan\b[\w\W]{0,80}?\bjailbreak|\bjailbreak[\w\W]{0,80}?\bdan\b", "dan", "jailbreak"),
    sign(
        rf"\bbypass(?:ing)?~(?:(?:all|any|the|your|its|of)~){{0,3}}{_GUARDS}~"
        r"(?:filters?|guidelines?|checks?|controls?|measures?|restrictions?|rules?|polic(?:y|ies)|protocols?)\b",
        "bypass bypassing",
        "bypass",
    ),
    sign(r"\bact~as~an?\b", "act", "act as a"),
    sign(rf"\bpretend(?:ing)?~(?:to~be|(?:that~)?you{_ARE})\b", "pretend pretending", "pretend"),
    sign(
        rf"\boverrid(?:e|ing)~(?:(?:all|any|the|your|my|of|these|{_EARLIER})~){{0,4}}{_ORDERS}\b",
        "override overriding",
        "override ",
        "overriding ",
    ),
    sign(r"\b(?:my|your)~new~role~is\b", "role", "new role is"),
    sign(
        r"\b(?:reveal|show|print|display|output|repeat|disclose|leak|share)(?:~me|~us)?~"
        r"(?:(?:all|of|your|the|this|full|entire|hidden|secret|complete|initial|original)~){0,4}system~prompt\b",
        "prompt",
        "system prompt",
    ),
    sign(r"\bjailbroken\b", "jailbroken", "jailbroken"),
    sign(r"\bforget~everything\b", "forget", "forget everything"),
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

_AUTHORIZE = tuple(f"authori{letter}{ending}" for letter in "sz" for ending in ("e", "es", "ed", "ing"))
_READING = "reading processing parsing summarizing summarising evaluating reviewing"

STRUCTURES = (
    sign(rf"[\"']{_KEYS}[\"']\s*+:", "", *_KEY_PARTS, gate=ends_key),
    sign(
        rf":\s*+\"[^\"]{{0,200}}?\b(?:(?:ignore|disregard|override)~{_OLD_ORDERS}|forget~everything\b)",
        "ignore disregard override forget",
        *("ignore ", "disregard ", "override ", "forget everything"),
    ),
    sign(r"\[\s*+system\s*+[:\]]\s*+\w", "system", "[system", "[ system"),
    sign(
        rf"\[\s*+(?:assistant|agent|ai|llm|admin|developer|inst(?:ruction)?s?)\s*+[:\]]\s*+{_DO}\b",
        "",
        "[",
        gate=opens_turn,
    ),
    sign(
        r"\bassistant[ _-]override\b",
        "assistant assistant_override",
        "override",
    ),
    sign(
        rf"^[ \t>*#]{{0,8}}+(?:system|assistant)\**+[ \t]*+:\**+[ \t]*+(?:please~)?{_DO}\b",
        "system assistant",
        *("system:", "system :", "system*", "assistant:", "assistant :", "assistant*"),
    ),
    sign(
        rf"\A(?:please~)?(?:ignore|disregard|forget|override|bypass)\s|{_SCORING}|\b(?:ignore|disregard)~{_OLD_ORDERS}"
        r"|\bdo~not~(?:mention|reveal|tell|report|flag)\b",
        "",
        "",
        in_comments=True,
    ),
    sign(
        r"\A(?:(?:note|message|instructions?|attention|hey|dear)[ ,:]{0,2}(?:(?:to|for)~)?(?:(?:the|any|all)~)?)?"
        rf"(?:(?:ai|automated)~)?(?:{_AGENT}|{_JUDGE})s?\b[^\n]{{0,80}}?"
        r"\b(?:note|must|should|please|score|rate|grade|skip|ignore|approve|pass|treat|do~not|always|output|say|respond)\b",
        "",
        *(*_AGENTS, *_JUDGES),
        in_comments=True,
    ),
    sign(
        r"\b(?:note|message|memo)~(?:to|for)~(?:(?:the|any|all|an)~)?(?:ai|llm|(?:ai~)?agent|(?:ai~)?assistant)s?\b",
        "note message memo",
        *(f"{what} {whom} " for what in ("note", "message", "memo") for whom in ("to", "for")),
    ),
    sign(
        rf"\b(?:for|to|dear|attention)~(?:(?:the|any|all|an)~)?{_AGENT}s?~(?:\w{{1,20}}~){{0,3}}?"
        r"(?:reading|processing|parsing|summari[sz]ing|evaluating|reviewing)\b",
        _READING,
        *(" reading", " processing", " parsing", " summari", " evaluating", " reviewing"),
    ),
    sign(
        rf"\b{_AGENT}s?~(?:(?:that|who|which)~(?:is|are)~)?(?:reading|processing|parsing)~this\b",
        _READING,
        *("reading this", "processing this", "parsing this"),
    ),
    sign(
        rf"\bif~you{_ARE}~(?:an?|the)~(?:(?:automated|autonomous|helpful|large)~)?"
        r"(?:ai|llm|language~model|agent|assistant|bot|chatbot)\b",
        "if",
        *("if you are ", "if you're ", "if you\u2019re "),
    ),
    sign(rf"\b(?:ai|automated|llm)~(?:{_JUDGE}|agent|assistant)s?\s*+:\s", _JUDGING, "ai ", "automated ", "llm "),
    sign(r"(?<=[\w -])bot\s*+:\s*+(?:after|when|once|before|upon)\b", "", "bot:", "bot :", gate=calls_bot),
    sign(r"(?<=[A-Z0-9][_-])BOT\s*+:", "", "bot:", "bot :", gate=calls_bot, exact=True),
    sign(
        r"\b(?:assistant|agent|ai)~instructions?\s*+:",
        "instruction instructions",
        *("instruction:", "instruction :", "instructions:", "instructions :"),
    ),
    sign(r"\bbase64\b[\w\W]{0,120}?\b(?:follow|execute|obey|run|comply)\b", "base64 base6a", "base64", "base6a"),
    sign(
        rf"\byou{_ARE}~no~longer~(?:(?:an?|the|bound)~)?(?:\w{{1,20}}~){{0,3}}?(?:assistant|ai|model|chatbot)\b",
        "longer",
        "re no longer",
    ),
    sign(r"\bfrom~now~on,?~you(?:~will|~must|~shall|~are~to|['\u2019]ll)\b", "now", "from now on"),
    sign(
        r"\bauthori[sz](?:e|es|ed|ing)~you~to~(?:bypass|ignore|skip|override|disable)\b",
        " ".join(_AUTHORIZE),
        *(f"{word} you " for word in _AUTHORIZE),
    ),
    sign(
        r"\bassistant~(?:should|must|needs~to)~(?:(?:now|then|immediately)~)?(?:call|run|execute|invoke)\b",
        "assistant",
        *("assistant should ", "assistant must ", "assistant needs "),
    ),
    sign(
        r"\byour~(?:real|actual|true)~instructions\b",
        "real actual true",
        "instructions",
    ),
    sign(rf"display\s*+:\s*+none[^>]{{0,80}}+>\s*+(?:{_AGENT}|system|{_JUDGE})\b", "", "display:", "display :"),
    sign(
        r"\bassistant\s*+:\s*+(?:delete|run|execute|send|transfer|drop|wipe|exfiltrate)\b",
        "assistant",
        *("assistant:", "assistant :"),
    ),
)
"""Numbered from 1 in this order."""
