"""Rules that somebody wrote: a type, its config, a weight, and for a deployed one a severity.

Each is a policy: it fires by definition. One whose config is broken skips and says so, rather than passing everything;
one that reaches a bound on its work skips as defeated. The config is read before the case is looked at, so that what is
broken is so for every case. Keywords are found anywhere and whatever their case, as forbidden phrases are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kpis.rules.budget import dollars
from kpis.rules.claims import held, skipped
from kpis.rules.custom_json import TwinError, output_as_json
from kpis.rules.custom_keys import LEAST_KEYS, MOST_KEYS, USD_KEYS, told, unread
from kpis.rules.custom_regex import RegexError, finder, is_empty, nested
from kpis.rules.json_schema import SchemaError, satisfies
from kpis.rules.phrases import as_looked_for, looked_at
from kpis.rules.subject import Rule, Subject
from kpis.rules.thresholds import is_number
from kpis.rules.work import TooMuchWork, bound_search
from kpis.terms.evaluation import CustomRule, RuleClaim, RuleFacts
from kpis.terms.evaluation_words import Correction, Mechanism, Need, RuleKind, Severity, SkipClass

__all__ = ["TYPES", "custom_rule"]

_Config = Mapping[str, object]
_CRITICAL = frozenset({Severity.HIGH, Severity.CRITICAL})


class _ConfigError(ValueError):
    """The config is broken; the text says how."""


def _number(config: _Config, *keys: str) -> float:
    """The positive number under the first of ``keys`` that is there."""
    for key in keys:
        value = config.get(key)
        if value is None:
            continue
        if isinstance(value, int | float) and is_number(value) and value > 0:
            return value
        raise _ConfigError(f"{key} is {value!r:.40}, and has to be a number above nought")
    raise _ConfigError(f"needs {' or '.join(keys)}")


def _keywords(subject: Subject, config: _Config) -> list[str]:
    words = config.get("keywords")
    if not isinstance(words, list | tuple) or not words or not all(isinstance(word, str) for word in words):
        raise _ConfigError("keywords has to be a list of texts with one at least")
    bound_search(len(words), len(subject.output))
    folds = subject.has(Correction.KEYWORDS_ARE_FOLDED)
    sought = [as_looked_for(word, subject) if folds else word.lower() for word in words]
    if subject.has(Correction.ASKS_FOR_SOMETHING):
        blank = next((number for number, word in enumerate(sought, 1) if not word.strip()), None)
        if blank is not None:
            raise _ConfigError(f"entry {blank} of keywords is empty, or nothing in it can be seen")
    return sought


def _count(subject: Subject, words: list[str]) -> int:
    """How many of ``words`` are in the output."""
    text = looked_at(subject) if subject.has(Correction.KEYWORDS_ARE_FOLDED) else subject.lower
    return sum(word in text for word in words)


def _regex(subject: Subject, config: _Config) -> bool:
    """Whether the pattern is found in the output."""
    pattern = config.get("pattern")
    if not isinstance(pattern, str):
        raise _ConfigError("pattern has to be a text")
    if is_empty(pattern) and subject.has(Correction.ASKS_FOR_SOMETHING):
        raise _ConfigError("the pattern is empty, and is found in every output")
    try:
        found = finder(pattern)
    except RegexError as error:
        raise _ConfigError(f"the pattern {error}") from None
    if nested(pattern) and not subject.has(Correction.REGEX_BY_ENGINE):
        raise _ConfigError("the pattern repeats what it repeats")
    return found(subject.output)


def _regex_match(subject: Subject, config: _Config) -> RuleClaim:
    found = _regex(subject, config)
    return held(found, "The pattern is found" if found else "The pattern is not found", score=float(found))


def _regex_no_match(subject: Subject, config: _Config) -> RuleClaim:
    found = _regex(subject, config)
    return held(not found, "The pattern is found" if found else "The pattern is not found", score=float(not found))


def _min_length(subject: Subject, config: _Config) -> RuleClaim:
    least, length = _number(config, *LEAST_KEYS), subject.length(subject.output)
    return held(length >= least, f"{length} of at least {least:g} chars", score=min(length / least, 1.0))


def _max_length(subject: Subject, config: _Config) -> RuleClaim:
    most, length = _number(config, *MOST_KEYS), subject.length(subject.output)
    return held(length <= most, f"{length} of at most {most:g} chars", score=1.0 if length <= most else most / length)


def _contains(subject: Subject, config: _Config) -> RuleClaim:
    words = _keywords(subject, config)
    least = config.get("threshold")
    if least is None:
        least = 1
    elif not isinstance(least, int | float) or not is_number(least):
        raise _ConfigError(f"threshold is {least!r:.40}, and has to be a number")
    elif not 0 < least <= 1 and subject.has(Correction.ASKS_FOR_SOMETHING):
        raise _ConfigError(f"threshold is {least!r:.40}, and has to be a share: above 0, and 1 at most")
    found = _count(subject, words)
    ratio = found / len(words)
    return held(ratio >= least, f"{found} of {len(words)} keywords are there", score=ratio)


def _excludes(subject: Subject, config: _Config) -> RuleClaim:
    found = _count(subject, _keywords(subject, config))
    are = "keyword is" if found == 1 else "keywords are"
    return held(not found, f"{found} forbidden {are} there", score=float(not found))


def _json_schema(subject: Subject, config: _Config) -> RuleClaim:
    checks = subject.has(Correction.SCHEMA_IS_CHECKED) and "schema" in config
    value: object = None
    fault: str | None = None
    try:
        value = output_as_json(subject.output, once=checks)
    except TwinError:
        fault = "The output has a key twice in one object"
    except (ValueError, RecursionError):
        fault = "The output is no JSON"
    try:
        # The schema is read whatever the output is: a broken one is broken either way.
        fits = satisfies(value, config["schema"]) if checks else True
    except SchemaError as error:
        raise _ConfigError(f"the schema cannot be used: {error}") from None
    if fault is not None:
        return held(False, fault, score=0.0)
    shaped = "The output is JSON of that shape" if checks else "The output is JSON"
    return held(fits, shaped if fits else "The output has another shape", score=float(fits))


def _cost(subject: Subject, config: _Config) -> RuleClaim:
    most, cost = _number(config, *USD_KEYS), subject.case.cost
    if cost is None or (cost < 0 and subject.has(Correction.NEGATIVE_COST_IS_ABSENT)):
        return skipped("no cost was sent")
    spent, limit = dollars(cost, most)
    return held(cost <= most, f"{spent} of at most {limit}", score=float(cost <= most))


TYPES: Mapping[str, tuple[Callable[[Subject, _Config], RuleClaim], Mechanism, Need]] = {
    "regex_match": (_regex_match, Mechanism.PATTERN, Need.OUTPUT),
    "regex_no_match": (_regex_no_match, Mechanism.PATTERN, Need.OUTPUT),
    "min_length": (_min_length, Mechanism.FORMULA, Need.OUTPUT),
    "max_length": (_max_length, Mechanism.FORMULA, Need.OUTPUT),
    "contains_keywords": (_contains, Mechanism.PATTERN, Need.OUTPUT),
    "excludes_keywords": (_excludes, Mechanism.PATTERN, Need.OUTPUT),
    "json_schema": (_json_schema, Mechanism.FORMULA, Need.OUTPUT),
    "cost_threshold": (_cost, Mechanism.FORMULA, Need.COST),
}
"""By type: what it does, how, and what it looks at."""


def custom_rule(written: CustomRule) -> Rule:
    """The rule that somebody wrote. One of an unknown type is a rule too: it always skips."""
    evaluate, mechanism, need = TYPES.get(written.type, (None, Mechanism.FORMULA, Need.OUTPUT))

    def claim(subject: Subject) -> RuleClaim:
        if evaluate is None:
            why = f"{written.type!r:.40} is no type of rule; the types are {', '.join(TYPES)}"
            return skipped(why, SkipClass.CONFIG_INVALID)
        if subject.has(Correction.CONFIG_KEY_IS_KNOWN) and (key := unread(written.type, written.config)) is not None:
            return skipped(f"{written.name} {told(written.type, key)}", SkipClass.CONFIG_INVALID)
        try:
            return evaluate(subject, written.config)
        except _ConfigError as error:
            return skipped(f"{written.name} cannot be asked: {error}", SkipClass.CONFIG_INVALID)
        except TooMuchWork as error:
            return skipped(f"{written.name} was stopped: {error}", SkipClass.DEFEATED)

    facts = RuleFacts(
        written.name,
        written.bundle,
        written.weight,
        RuleKind.POLICY,
        mechanism,
        (need,),
        None,
        (),
        critical=written.severity in _CRITICAL,
        custom=True,
        rule_id=written.rule_id,
        definition=written.digest,
    )
    return Rule(facts, claim)
