"""Finds out an installed copy that would be imported in the place of a tree: an editable install, a .pth, a finder.

A fresh interpreter with the flags of a worker is asked where each name would come from; nothing of the project is
imported for it. Removes nothing: each finding is a sentence with the command that does.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.subject import SubjectError

__all__ = ["shadowed"]

_LIMIT_S = 60.0

# Runs in the worker's interpreter. A name that a .pth has imported at start-up counts as found there; after that, the
# first finder that knows a name wins, and the .pth that brought this finder (or a path) is looked for, then its
# distribution.
_ASK = """
import sys
loaded = dict(sys.modules)
import importlib.metadata, json, os
names, path = json.loads(sys.argv[1])
sys.path[:0] = path
inner = [os.path.join(os.path.realpath(folder), "") for folder in path]

def homes(spec):
    if spec.origin not in (None, "namespace"):
        return [spec.origin]
    return list(spec.submodule_search_locations or ())

def first(name):
    if name in loaded:
        module = loaded[name]
        return [getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "<start-up>")], name
    for finder in sys.meta_path:
        spec = finder.find_spec(name, None) if hasattr(finder, "find_spec") else None
        if spec is not None:
            kind = finder if isinstance(finder, type) else type(finder)
            return homes(spec), kind.__module__
    return [], ""

def culprit(origin, word):
    for folder in sys.path:
        if not os.path.isdir(folder):
            continue
        for file in sorted(os.listdir(folder)):
            if not file.endswith(".pth"):
                continue
            full = os.path.join(folder, file)
            with open(full, encoding="utf-8", errors="replace") as opened:
                lines = opened.read().splitlines()
            for line in lines:
                if line.startswith(("import ", "import\\t")):
                    if not word.startswith(("_frozen", "importlib")) and word in line:
                        return full
                elif line.strip() and not line.startswith("#"):
                    if origin.startswith(os.path.join(os.path.realpath(os.path.join(folder, line.strip())), "")):
                        return full
    return None

def owner(name, origin, file):
    for dist in importlib.metadata.distributions():
        listed = [str(item) for item in dist.files or ()]
        if file and any(os.path.basename(item) == os.path.basename(file) for item in listed if item.endswith(".pth")):
            return dist.metadata["Name"]
        try:
            direct = json.loads(dist.read_text("direct_url.json") or "{}")
        except ValueError:
            direct = {}
        home = os.path.join(direct.get("url", "").removeprefix("file://"), "")
        if direct.get("dir_info", {}).get("editable") and home != os.sep and origin.startswith(home):
            return dist.metadata["Name"]
        if any(item.startswith(name + "/") or item == name + ".py" for item in listed):
            if origin.startswith(os.path.join(os.path.realpath(dist.locate_file("")), "")):
                return dist.metadata["Name"]
    return None

found = []
for name in names:
    origins, word = first(name)
    for origin in origins:
        real = os.path.realpath(origin) if os.sep in origin else origin
        if not any(real.startswith(folder) for folder in inner):
            file = culprit(real, word)
            found.append([name, origin, file, owner(name, real, file)])
            break
print()
print(json.dumps(found))
"""


def shadowed(names: Iterable[str], python: str, path: Sequence[str | Path]) -> list[str]:
    """One sentence for each of ``names`` that ``python`` would import from elsewhere than ``path``, a side's folders.

    Of a dotted name its first part is asked for. A name that is found nowhere is no finding here.

    Raises:
        SubjectError: the interpreter cannot be asked.
    """
    tops = list(dict.fromkeys(name.partition(".")[0] for name in names))
    question = json.dumps([tops, [str(folder) for folder in path]])
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    command = [python, "-P", "-s", "-B", "-c", _ASK, question]
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, timeout=_LIMIT_S, check=False, stdin=subprocess.DEVNULL
        )
        found = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, IndexError, ValueError) as error:
        raise SubjectError(
            f"{python} could not be asked where it would import {', '.join(tops)} from. "
            f"Look with: {shlex.quote(python)} -P -s -B -c pass"
        ) from error
    return [_sentence(python, *finding) for finding in found]


def _sentence(python: str, name: str, origin: str, file: str | None, owner: Any) -> str:
    because = f", because of {file}" if file else ""
    if owner:
        advice = f"Type: {shlex.quote(python)} -m pip uninstall {shlex.quote(str(owner))}"
    elif file:
        advice = f"Remove it: rm {shlex.quote(file)}"
    else:
        advice = f"Look with: {shlex.quote(python)} -P -s -B -m site"
    return f"{name} would be imported from {origin} and not from the tree of its side{because}. {advice}"
