"""Signs of fabrication in figures: counts, units, versions and exactness that what was given does not bear out."""

from __future__ import annotations

import re

from kpis.rules.material import Material, number

__all__ = [
    "dependency_version_contradiction",
    "noun_count_mismatch",
    "ungrounded_certainty",
    "ungrounded_version",
    "unit_misread",
]

_FIGURE = r"[0-9]{1,12}(?:,[0-9]{3}){0,4}(?:\.[0-9]{1,6})?"
_START = r"(?<![\w.,$-])"
_EXACTLY = re.compile(rf"\b(?:exactly|precisely) \$?({_FIGURE})(?![0-9])", re.IGNORECASE)
_COUNT = re.compile(
    rf"{_START}([0-9]{{1,9}}(?:,[0-9]{{3}}){{0,3}}) ((?:[a-z]{{2,20}} )?[a-z]{{3,20}}s)\b", re.IGNORECASE
)

_UNITS = {
    "ns": ("time", 1e-9), "nanosecond": ("time", 1e-9), "us": ("time", 1e-6), "µs": ("time", 1e-6),
    "microsecond": ("time", 1e-6), "ms": ("time", 1e-3), "msec": ("time", 1e-3), "millisecond": ("time", 1e-3),
    "s": ("time", 1.0), "sec": ("time", 1.0), "second": ("time", 1.0), "min": ("time", 60.0), "minute": ("time", 60.0),
    "h": ("time", 3600.0), "hr": ("time", 3600.0), "hour": ("time", 3600.0), "day": ("time", 86400.0),
    "week": ("time", 604800.0), "byte": ("size", 1.0), "b": ("size", 1.0), "kb": ("size", 1e3), "kib": ("size", 1024.0),
    "kilobyte": ("size", 1e3), "mb": ("size", 1e6), "mib": ("size", 2.0**20), "megabyte": ("size", 1e6),
    "gb": ("size", 1e9), "gib": ("size", 2.0**30), "gigabyte": ("size", 1e9), "tb": ("size", 1e12),
    "tib": ("size", 2.0**40), "terabyte": ("size", 1e12),
}  # fmt: skip
_NEAR = 1.1
"""KB and KiB are one unit to a reader: units within a tenth of each other are no misreading."""

_MEASURE = re.compile(rf"{_START}({_FIGURE}) ?({'|'.join(sorted(_UNITS, key=len, reverse=True))})(s?)\b", re.IGNORECASE)
_NO_NOUN = frozenset("times percents dollars euros pounds cents points degrees steps years months".split())  # noqa: SIM905

_VERSION = re.compile(r"(?<![\w.])v?([0-9]{1,4}(?:\.[0-9]{1,5}){1,3}(?:-[A-Za-z][\w.]{0,20})?)(?![\w]|\.[0-9])")
_RELEASE = re.compile(r"\b(?:version|release|v) ?([0-9]{1,4}(?:\.[0-9]{1,5}){1,3})(?![\w]|\.[0-9])", re.IGNORECASE)
_PINNED = re.compile(
    r"(?<![\w@/.-])(@?[A-Za-z][\w./-]{1,60})(?:\"\s*:\s*\"[\^~>=< ]{0,3}|[=~>]=|@|==| (?:version )?v?)([0-9]{1,4}(?:\.[0-9]{1,5}){1,3})(?![\w]|\.[0-9])"
)


def ungrounded_certainty(material: Material) -> bool:
    """Whether a figure is called exact that was not given."""
    if "exactly" not in material.said_lower and "precisely" not in material.said_lower:
        return False
    return bool(material.figures) and any(
        not material.grounded(number(found.group(1))) and material.asserted(*found.span())
        for found in _EXACTLY.finditer(material.said)
    )


def _noun(words: str) -> str:
    return words.lower().rsplit(" ", 1)[-1]


def noun_count_mismatch(material: Material) -> bool:
    """Whether of something that was counted once another count is told."""
    told = [(number(n), _noun(words), (n, words)) for n, words in _COUNT.findall(material.said)]
    if not told:
        return False
    given: dict[str, set[float]] = {}
    for count, words in _COUNT.findall(material.given):
        given.setdefault(_noun(words), set()).add(number(count))
    return any(
        len(given.get(_noun(found.group(2)), ())) == 1
        and _noun(found.group(2)) not in _NO_NOUN
        and _noun(found.group(2)).removesuffix("s") not in _UNITS
        and not material.grounded(number(found.group(1)))
        and material.asserted(*found.span())
        for found in _COUNT.finditer(material.said)
    )


def _measures(text: str) -> dict[tuple[float, str], set[float]]:
    found: dict[tuple[float, str], set[float]] = {}
    for figure, unit, _ in _MEASURE.findall(text):
        kind, size = _UNITS[unit.lower()]
        found.setdefault((number(figure), kind), set()).add(size)
    return found


def unit_misread(material: Material) -> bool:
    """Whether a figure is told with another unit than it was given with."""
    measures = list(_MEASURE.finditer(material.said))
    if not measures:
        return False
    given = _measures(material.given)
    for found in measures:
        kind, size = _UNITS[found.group(2).lower()]
        sizes = given.get((number(found.group(1)), kind), set())
        apart = [max(size, other) / min(size, other) > _NEAR for other in sizes]
        if apart and all(apart) and material.asserted(*found.span()):
            return True
    return False


def _agree(one: str, other: str) -> bool:
    """Whether two versions are the same as far as both go."""
    return all(a == b for a, b in zip(one.split("."), other.split("."), strict=False))


def dependency_version_contradiction(material: Material) -> bool:
    """Whether a package is said to have another version than it was given with."""
    told = list(_PINNED.finditer(material.said))
    if not told:
        return False
    given: dict[str, set[str]] = {}
    for name, version in _PINNED.findall(material.given):
        given.setdefault(name.lower(), set()).add(version)
    return any(
        versions
        and not any(_agree(found.group(2), version) for version in versions)
        and material.asserted(*found.span())
        for found in told
        if (versions := given.get(found.group(1).lower()))
    )


def ungrounded_version(material: Material) -> bool:
    """Whether a release is told of that is none of those that were given."""
    told = list(_RELEASE.finditer(material.said))
    if not told:
        return False
    given = set(_VERSION.findall(material.given))
    return bool(given) and any(
        not any(_agree(found.group(1), version) for version in given) and material.asserted(*found.span())
        for found in told
    )
