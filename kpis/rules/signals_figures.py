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

# Figures begin with the digit and look behind it, which lets the engine run over everything else.
_ALONE = r"[0-9](?<![\w.,$-][0-9])"
_REST = r"[0-9]{0,11}(?:,[0-9]{3}){0,4}(?:\.[0-9]{1,6})?"
_EXACTLY = re.compile(rf"\b(?:exactly|precisely) \$?([0-9]{_REST})(?![0-9])", re.IGNORECASE)
_COUNT = re.compile(
    rf"({_ALONE}[0-9]{{0,8}}(?:,[0-9]{{3}}){{0,3}}) (?:[A-Za-z]{{2,20}} )?([A-Za-z]{{3,20}}s)\b", re.ASCII
)

_SIZES = {
    "time": "ns nanosecond 1e-9 us µs microsecond 1e-6 ms msec millisecond 1e-3 s sec second 1 min minute 60 "
    "h hr hour 3600 day 86400 week 604800",
    "size": "b byte 1 kb kilobyte 1e3 kib 1024 mb megabyte 1e6 mib 1048576 gb gigabyte 1e9 gib 1073741824 "
    "tb terabyte 1e12 tib 1099511627776",
}
"""Names of units, each with those before it up to a number, which is their size."""


def _units() -> dict[str, tuple[str, float]]:
    found: dict[str, tuple[str, float]] = {}
    for kind, listed in _SIZES.items():
        names: list[str] = []
        for word in listed.split():
            if word[0].isdigit():
                found.update((name, (kind, float(word))) for name in names)
                names = []
            else:
                names.append(word)
    return found


_UNITS = _units()
_NEAR = 1.1
"""KB and KiB are one unit to a reader: units within a tenth of each other are no misreading."""

_MEASURE = re.compile(
    rf"({_ALONE}{_REST}) ?({'|'.join(sorted(_UNITS, key=len, reverse=True))})s?\b", re.ASCII | re.IGNORECASE
)
_NO_NOUN = {"times", "percents", "dollars", "euros", "pounds", "cents", "points", "degrees", "steps", "years", "months"}

_PARTS = r"[0-9]{1,4}(?:\.[0-9]{1,5}){1,3}"
_END = r"(?!\w|\.[0-9])"
_DOTTED = re.compile(r"[0-9]\.[0-9]")
_VERSION = re.compile(rf"(?<![\w.])v?({_PARTS})(?![A-Za-z_]|\.[0-9])", re.ASCII)
_RELEASE = re.compile(rf"\b(?:version|release|v) ?({_PARTS}){_END}", re.ASCII | re.IGNORECASE)
_PINNED = re.compile(
    rf"(?<![\w@/.-])(@?[A-Za-z][\w./-]{{1,60}})(?:\"\s?:\s?\"[\^~>=< ]{{0,3}}|[=~>]=|@|=| (?:version )?v?)"
    rf"({_PARTS}){_END}",
    re.ASCII,
)


def ungrounded_certainty(material: Material) -> bool:
    """Whether a figure is called exact that was not given."""
    if "exactly" not in material.said_lower and "precisely" not in material.said_lower:
        return False
    return bool(material.figures) and material.any_asserted(
        found for found in _EXACTLY.finditer(material.said) if not material.grounded(number(found.group(1)))
    )


def _countable(noun: str) -> bool:
    return noun not in _NO_NOUN and noun.removesuffix("s") not in _UNITS


def noun_count_mismatch(material: Material) -> bool:
    """Whether of something that was counted once another count is told."""
    if _COUNT.search(material.said) is None:
        return False
    given: dict[str, set[float]] = {}
    for count, noun in _COUNT.findall(material.given):
        given.setdefault(noun.lower(), set()).add(number(count))
    once = {noun for noun, counts in given.items() if len(counts) == 1 and _countable(noun)}
    return bool(once) and material.any_asserted(
        found
        for found in _COUNT.finditer(material.said)
        if found.group(2).lower() in once and not material.grounded(number(found.group(1)))
    )


def unit_misread(material: Material) -> bool:
    """Whether a figure is told with another unit than it was given with."""
    if _MEASURE.search(material.said) is None:
        return False
    given: dict[tuple[float, str], set[float]] = {}
    for figure, unit in _MEASURE.findall(material.given):
        kind, size = _UNITS[unit.lower()]
        given.setdefault((number(figure), kind), set()).add(size)
    return bool(given) and material.any_asserted(
        found for found in _MEASURE.finditer(material.said) if _another_unit(found, given)
    )


def _another_unit(found: re.Match[str], given: dict[tuple[float, str], set[float]]) -> bool:
    kind, size = _UNITS[found.group(2).lower()]
    sizes = given.get((number(found.group(1)), kind), set())
    return bool(sizes) and all(max(size, other) / min(size, other) > _NEAR for other in sizes)


def _agree(one: str, other: str) -> bool:
    """Whether two versions are the same as far as both go."""
    return all(a == b for a, b in zip(one.split("."), other.split("."), strict=False))


def dependency_version_contradiction(material: Material) -> bool:
    """Whether a package is said to have another version than it was given with."""
    if _DOTTED.search(material.said) is None:
        return False
    given: dict[str, set[str]] = {}
    for name, version in _PINNED.findall(material.given):
        given.setdefault(name.lower(), set()).add(version)
    return bool(given) and material.any_asserted(
        found
        for found in _PINNED.finditer(material.said)
        if (versions := given.get(found.group(1).lower()))
        and not any(_agree(found.group(2), version) for version in versions)
    )


def ungrounded_version(material: Material) -> bool:
    """Whether a release is told of that is none of those that were given."""
    if _DOTTED.search(material.said) is None:
        return False
    given = set(_VERSION.findall(material.given))
    return bool(given) and material.any_asserted(
        found
        for found in _RELEASE.finditer(material.said)
        if not any(_agree(found.group(1), version) for version in given)
    )
