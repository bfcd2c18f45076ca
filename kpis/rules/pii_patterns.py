"""What personal data and credentials look like: nineteen patterns, in their order.

Every repetition is bounded or possessive, so that no text makes the engine go back over it. A pattern is tried only
where something it cannot do without is in the text. Patterns begin with a class or a literal and look behind
themselves, which lets the engine run over everything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kpis.rules import pii_checks as checks
from kpis.rules.anchors import holds_any
from kpis.rules.outline import Part

__all__ = ["PII", "Look"]


@dataclass(frozen=True, slots=True)
class Look:
    """One pattern.

    It is tried when the text holds ``part``, when one of ``anchors``, in small letters, is in it, and when ``gate``,
    which is quicker, finds something. ``check`` must hold for a match to be one; a match for which ``placeholder``
    holds is nobody's. Both are asked about the part ``group``, and the whole match is reported.
    """

    label: str
    pattern: re.Pattern[str]
    anchors: tuple[str, ...] = ()
    gate: re.Pattern[str] | None = None
    check: Callable[[str], bool] | None = None
    placeholder: Callable[[str], bool] | None = None
    group: int = 0
    part: Part | None = None

    def matches(self, text: str, lower: str) -> Iterable[re.Match[str]]:
        """Every match in ``text`` that the check bears out; ``lower`` is the text in small letters."""
        if self.anchors and not holds_any(lower, self.anchors):
            return ()
        if self.gate is not None and self.gate.search(text) is None:
            return ()
        found = self.pattern.finditer(text)
        check = self.check
        return found if check is None else (match for match in found if check(match.group(self.group)))


def _look(
    label: str,
    pattern: str,
    *anchors: str,
    gate: str | None = None,
    check: Callable[[str], bool] | None = None,
    placeholder: Callable[[str], bool] | None = None,
    group: int = 0,
    part: Part | None = None,
) -> Look:
    quick = None if gate is None else re.compile(gate, re.ASCII)
    return Look(label, re.compile(pattern, re.ASCII), anchors, quick, check, placeholder, group, part)


_DATE = r"(?:[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[/.-][0-9]{1,2}[/.-](?:[0-9]{4}|[0-9]{2}))(?![0-9])"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_LOCAL = r"[A-Za-z0-9._%+-]"
_WORD = r"[a-z]{3,8}"
_DASH = r"\-\u2010\u2012\u2013\u2212"
"""Dashes that stand between the digits of a number, as the inside of a class; one that is not broken is folded."""

PII = (
    _look(
        "SSN",
        rf"[0-9](?<![\w-][0-9])[0-9]{{2}}[{_DASH}][0-9]{{2}}[{_DASH}][0-9]{{4}}(?![\w-])",
        gate=rf"[{_DASH}][0-9]{{2}}[{_DASH}][0-9]{{4}}",
        check=checks.ssn,
        part=Part.LONG_NUMBER,
    ),
    _look(
        "Credit Card",
        rf"[0-9](?<!\w[0-9])[0-9]{{3}}(?:[ {_DASH}]?[0-9]{{4}}){{3}}(?!\w)",
        check=checks.card,
        placeholder=checks.documentation_card,
        part=Part.LONG_NUMBER,
    ),
    _look(
        "Phone",
        rf"(?<![\w.+-])(?:\+?1[ .{_DASH}]?)?(?:\([2-9][0-9]{{2}}\)|[2-9][0-9]{{2}})[ .{_DASH}]?"
        rf"[2-9][0-9]{{2}}[ .{_DASH}]?[0-9]{{4}}(?!\w)",
        gate=rf"[2-9][0-9]{{2}}\)?[ .{_DASH}]?[2-9][0-9]{{2}}[ .{_DASH}]?[0-9]{{4}}",
        placeholder=checks.nobodys_phone,
        part=Part.LONG_NUMBER,
    ),
    _look(
        "Email",
        rf"{_LOCAL}(?<!{_LOCAL}{{2}}){_LOCAL}{{0,63}}@(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}[A-Za-z]{{2,24}}(?![A-Za-z0-9-])",
        "@",
        placeholder=checks.documentation_email,
    ),
    _look("IBAN", r"[A-Z](?<!\w[A-Z])[A-Z][0-9]{2}[A-Z0-9]{10,30}(?!\w)", check=checks.iban, part=Part.ACCOUNT),
    _look("Passport", r"(?i:passports?)\b[^\n]{0,40}?\b(?:[A-Za-z][0-9]{8}|[0-9]{9})\b", "passport"),
    _look(
        "Date of Birth",
        r"\b(?i:dob|d\.o\.b\.?|date of birth|birth ?date|birthday|born(?: on)?)[ :=-]{0,3}(?:(?:is|was) )?" + _DATE,
        "dob",
        "d.o.b",
        "birth",
        "born",
    ),
    _look(
        "Medical Record Number",
        r"\b(?i:mrn|medical record (?:number|no\.?|id|#)?)[ :#=-]{0,3}(?:is )?((?=[A-Za-z]*[0-9])[A-Za-z0-9]{6,12})\b",
        "mrn",
        "medical record",
    ),
    _look(
        "IP Address",
        rf"(?<![\w.]){_OCTET}(?:\.{_OCTET}){{3}}(?!\w|\.[0-9])",
        gate=r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",
        placeholder=checks.reserved_ip,
    ),
    _look(
        "API Key",
        r"\b(?:sk|pk|(?i:api[_-]?key|bearer))[ \"':=_-]{1,4}[A-Za-z0-9_.*-]{20,256}",
        "sk",
        "pk",
        "key",
        "bearer",
        placeholder=checks.masked,
        part=Part.LONG_WORD,
    ),
    _look("AWS Access Key", r"\bA[KS]IA[A-Z0-9]{16}\b", "akia", "asia", part=Part.LONG_WORD),
    _look("Slack Token", r"\bxox[abprs]-[A-Za-z0-9-]{10,250}", "xox"),
    _look("SendGrid Key", r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}", "sg.", part=Part.LONG_WORD),
    _look(
        "GitHub Token", r"\bgh[oprsu]_[A-Za-z0-9]{36,251}", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", part=Part.LONG_WORD
    ),
    _look("Google API Key", r"\bAIza[A-Za-z0-9_-]{30,40}", "aiza", part=Part.LONG_WORD),
    _look("npm Token", r"\bnpm_[A-Za-z0-9]{30,64}", "npm_", part=Part.LONG_WORD),
    _look("DigitalOcean Token", r"\bdop_v1_[a-f0-9]{50,70}", "dop_v1_", part=Part.LONG_WORD),
    _look("Private Key", r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY-----", "-----begin"),
    _look(
        "Seed Phrase",
        r"(?i:\b(?:seed|recovery|mnemonic) (?:phrase|words?)\b)"
        rf"[\w\W]{{0,120}}?(?<![A-Za-z])(?:{_WORD}[ \n]){{11}}{_WORD}(?![A-Za-z])",
        "seed ",
        "recovery ",
        "mnemonic ",
    ),
)
"""In the order in which they are reported."""
