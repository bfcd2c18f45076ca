"""Whether the two sides declare the same dependencies.

Both run in the one environment that is installed: where the declarations differ, one side would run on what it never
asked for, and its time would be that of the libraries. Compares text; resolves and installs nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["differing", "refusal"]

_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml")
_REQUIREMENTS = ("requirements*.txt", "requirements/*.txt")
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(.*)", re.DOTALL)
_SHOWN = 5


def differing(base_tree: Path, head_tree: Path) -> list[str]:
    """The declared dependencies that differ between two project roots, each as ``where: what``, in a stable order.

    Of pyproject.toml: ``requires-python``, ``dependencies``, ``optional-dependencies``; of requirements files the
    lines without comments; of lock files every byte.
    """
    base, head = _declared(base_tree), _declared(head_tree)
    items = []
    for key in sorted({*base, *head}):
        before, after = base.get(key), head.get(key)
        if before != after:
            where, what = key
            was, now = (f"{side!r}" if side is not None else "absent" for side in (before, after))
            items.append(f"{where}: {what} (base {was}, head {now})" if what else f"{where} (its content)")
    return items


def refusal(items: list[str]) -> str | None:
    """The sentence that refuses a gate over ``items`` of :func:`differing`; None where there are none."""
    if not items:
        return None
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return (
        f"The two sides declare different dependencies, and both would run on those that are installed: "
        f"{'; '.join(items[:_SHOWN])}{more}. Bring them into the base first, or gate against a commit that has them: "
        "git log --oneline -- pyproject.toml"
    )


def _declared(root: Path) -> dict[tuple[str, str], str]:
    """(where, what) -> how it is declared; ``what`` is empty for a lock file."""
    found = _of_pyproject(root / "pyproject.toml")
    for file in sorted({path for pattern in _REQUIREMENTS for path in root.glob(pattern)}):
        where = str(file.relative_to(root))
        found.update(_rows(where, _lines(file)))
    for name in _LOCKS:
        if (root / name).is_file():
            # Latin-1 holds any byte; the text is compared and never shown.
            found[name, ""] = (root / name).read_bytes().decode("latin-1")
    return found


def _of_pyproject(file: Path) -> dict[tuple[str, str], str]:
    if not file.is_file():
        return {}
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    except ValueError as error:
        return {(file.name, "it is not TOML"): str(error)}
    if not isinstance(table, Mapping):
        return {}
    found = {}
    if isinstance(table.get("requires-python"), str):
        found["requires-python", "python"] = _tidy(table["requires-python"])
    found.update(_rows("dependencies", _strings(table.get("dependencies"))))
    extras = table.get("optional-dependencies")
    for extra, wanted in (extras if isinstance(extras, Mapping) else {}).items():
        found.update(_rows(f"optional-dependencies.{extra}", _strings(wanted)))
    return found


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _lines(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    bare = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [line for line in bare if line]


def _rows(where: str, requirements: Iterable[str]) -> dict[tuple[str, str], str]:
    """By the package's normalised name, so that order, case and spaces do not count; several lines are joined."""
    found: dict[tuple[str, str], list[str]] = {}
    for requirement in requirements:
        match = None if requirement.startswith("-") else _NAME.fullmatch(requirement)
        name, rest = (re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]) if match else (requirement, "")
        found.setdefault((where, name), []).append(_tidy(rest) or "any")
    return {key: " | ".join(sorted(rests)) for key, rests in found.items()}


def _tidy(text: str) -> str:
    head, mark, tail = text.partition(";")
    packed = re.sub(r"\s+", "", head)
    if not packed.startswith("@"):
        packed = ",".join(sorted(packed.split(","))) if "[" not in packed else packed
    return packed + mark + " ".join(tail.split())
