"""One line of JSON, one case to evaluate: its output, and what is known of how it came about.

Refuses what would be guessed: an output that is no text, a cost that is no number, a key of a written rule that nobody
knows. What a case says beyond the known keys is kept beside it and looked at by nobody; where such a key is close to a
known one that is not there, a note asks whether it was meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from harness.formats.evaluation_json import parsed
from harness.formats.evaluation_notes import TOKEN_KEYS, notes_on, notes_on_calls
from harness.formats.evaluation_settings import KEYS, settings_over
from harness.formats.keys import Keys
from harness.formats.limits import FormatError, Limits, printable
from kpis.rules.catalogue import NAMES
from kpis.terms.evaluation_case import ABSENT, Case, CustomRule, TokenCounts, ToolCall
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import BUNDLES, Bundle, Severity

__all__ = ["ALL", "CASE_KEYS", "case_of", "custom_rule", "deployed_rule", "read_case", "refuse_twins"]

ALL = "all"
_TYPES = (*(bundle.value for bundle in BUNDLES), ALL)
CASE_KEYS = (
    "id",
    "output",
    "input",
    "expected",
    "tool_calls",
    "cost",
    "tokens",
    "eval_type",
    "custom_rules",
    "deployed_rules",
    "config",
)
"""What a case may say; any other key is kept beside it."""
_RULE_KEYS = ("name", "type", "config", "weight")
_DEPLOYED_KEYS = ("id", "severity", "eval_type", "definition")
_ELSEWHERE = {
    "mode": "in the file of --config only",
    "accuracy": "in the file of --config only",
    "deployed_rules": "beside config",
    "custom_rules": "beside config",
}
"""Keys that no ``config`` of a case has, and where they stand."""
_SEVERITIES = tuple(severity.value for severity in Severity)
_BUNDLES = tuple(bundle.value for bundle in BUNDLES)


def read_case(
    line: bytes, settings: Settings, rules: tuple[CustomRule, ...] = (), limits: Limits | None = None
) -> Case:
    """The case of one line; ``settings`` and ``rules`` are the deployment's, and the case's own come on top.

    Raises:
        FormatError: the line is no such case.
    """
    return case_of(parsed(line, limits or Limits(), "The case", twins=not settings.corrections), settings, rules)


def case_of(value: object, settings: Settings, rules: tuple[CustomRule, ...] = ()) -> Case:
    """The case that ``value``, plain JSON data, is; see :func:`read_case`.

    Raises:
        FormatError: it is none.
    """
    keys = Keys(value, "The case")
    config = keys.object("config")
    if config is not None:
        for key, place in _ELSEWHERE.items():
            if config.has(key):
                raise FormatError(f"{config.at(key)} is out of place: {key} stands {place}")
        config.only(KEYS)
        settings = settings_over(settings, config)
    named = keys.text("eval_type", _TYPES)
    closed = bool(settings.corrections)
    inline = [
        custom_rule(Keys(each, f"custom_rules[{at}]"), closed=closed)
        for at, each in enumerate(keys.items("custom_rules") or [])
    ]
    deployed = [
        deployed_rule(Keys(each, f"deployed_rules[{at}]"), closed=closed)
        for at, each in enumerate(keys.items("deployed_rules") or [])
    ]
    extra = {key: member for key, member in keys.plain().items() if key not in CASE_KEYS}
    calls, tokens = keys.items("tool_calls"), keys.object("tokens")
    return Case(
        output=keys.needed("output"),
        id=_id(keys),
        input=keys.text("input"),
        expected=keys.text("expected"),
        tool_calls=None if calls is None else tuple(map(_call, enumerate(calls))),
        cost=keys.number("cost"),
        tokens=_tokens(tokens),
        eval_type=None if named in (None, ALL) else Bundle(named),
        named_type=named is not None,
        custom_rules=(*rules, *deployed, *inline),
        settings=settings,
        extra=extra,
        notes=tuple(_notes(keys, extra, calls, tokens)) if extra or calls or tokens is not None else (),
    )


def _notes(keys: Keys, extra: dict[str, Any], calls: list[Any] | None, tokens: Keys | None) -> Iterator[str]:
    """Questions back about keys that are not read."""
    if extra:
        yield from notes_on(keys.plain(), extra, CASE_KEYS)
    if calls:
        yield from notes_on_calls(calls)
    if tokens is not None and (unknown := [key for key in tokens.plain() if key not in TOKEN_KEYS]):
        yield from notes_on(tokens.plain(), unknown, sorted(TOKEN_KEYS), "tokens.")


def _id(keys: Keys) -> str:
    """The name of the case; a number serves as one."""
    value = keys.get("id")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else keys.text("id") or ""


def _call(numbered: tuple[int, Any]) -> ToolCall:
    at, value = numbered
    keys = Keys(value, f"tool_calls[{at}]")
    members = keys.plain()
    return ToolCall(
        keys.needed("tool_name"),
        members.get("input", ABSENT),
        members.get("output", ABSENT),
        keys.text("error"),
        keys.number("latency_ms"),
    )


def _tokens(keys: Keys | None) -> TokenCounts | None:
    if keys is None:
        return None
    return TokenCounts(keys.number("prompt_tokens"), keys.number("completion_tokens"), keys.number("total_tokens"))


def custom_rule(keys: Keys, *, closed: bool = True) -> CustomRule:
    """A rule somebody wrote: name, type, config, and a weight.

    ``closed``: a key beyond these, and a name that is blank or taken, is refused. The reference passes it over.

    Raises:
        FormatError: it cannot be one. What is wrong with its config is found when it is asked.
    """
    if closed:
        keys.only(_RULE_KEYS)
    config, weight, name = keys.object("config"), keys.number("weight", 0), keys.needed("name")
    if closed and not name.strip():
        raise FormatError(f"{keys.at('name')} is blank: a verdict names the rules because of which it is so")
    if closed and name in NAMES:
        raise FormatError(f"{keys.at('name')} is {name}, which is a built-in rule: call yours otherwise")
    return CustomRule(
        name,
        keys.needed("type"),
        {} if config is None else config.plain(),
        1.0 if weight is None else weight,
    )


def refuse_twins(rules: Iterable[CustomRule], where: str) -> None:
    """Refuse two rules of one name, which a verdict could not tell apart; ``where`` is how their reader knows them.

    Raises:
        FormatError: there are such.
    """
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            raise FormatError(f"{where} has two rules of the name {printable(rule.name)}: call one otherwise")
        seen.add(rule.name)


def deployed_rule(keys: Keys, *, closed: bool = True) -> CustomRule:
    """A rule that a deployment runs on every case: id, severity, bundle, and its definition.

    ``closed`` as for :func:`custom_rule`: a severity that is spelled wrongly would leave a rule that only advises.

    Raises:
        FormatError: it cannot be one.
    """
    if closed:
        keys.only(_DEPLOYED_KEYS)
    definition = keys.object("definition")
    if definition is None:
        raise FormatError(f"{keys.where} has no definition")
    severity, bundle = keys.text("severity", _SEVERITIES), keys.text("eval_type", _BUNDLES)
    return replace(
        custom_rule(definition, closed=closed),
        bundle=Bundle.CUSTOM if bundle is None else Bundle(bundle),
        rule_id=keys.text("id"),
        severity=None if severity is None else Severity(severity),
    )
