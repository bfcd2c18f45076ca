"""A project's first gate: the table, a first KPI with its probe for one named function, and a workflow to copy.

Nothing that exists is overwritten: every file is checked first and all are written, or none. The function is looked
for in the source, not imported; what it needs to be called is read from its signature.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from harness.record.store import write_atomic

__all__ = ["InitError", "Target", "find_target", "files_for", "write_files"]


class InitError(Exception):
    """The project cannot be set up; one sentence that ends with the next command."""


@dataclass(frozen=True, slots=True)
class Target:
    """The function to measure: where it is, whether it is a coroutine function, and the arguments to give it."""

    module: str
    name: str
    asynchronous: bool
    arguments: str

    @property
    def kpi(self) -> str:
        """The id of the first KPI."""
        return f"{self.name.lower().strip('_')}_ns"


def find_target(root: Path, reference: str, arguments: str) -> Target:
    """The function that ``package.module:function`` names in the tree at ``root``.

    Raises:
        InitError: there is none, it is no plain function, or ``arguments`` do not fit its signature.
    """
    module, _, name = reference.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise InitError(f"{reference!r} names no function; write package.module:function, as in: init shop.cart:total")
    inside = Path(*module.split("."))
    places = [base / file for base in (root / "src", root) for file in (f"{inside}.py", inside / "__init__.py")]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise InitError(f"There is no module {module} in {root.name}/ or its src/. Look with: ls {inside.parent}")
    try:
        tree = ast.parse(found.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        raise InitError(
            f"{found.relative_to(root)} cannot be parsed: {error}. Mend it, then run init again."
        ) from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            _require_fit(node, arguments, reference)
            return Target(module, name, isinstance(node, ast.AsyncFunctionDef), arguments)
    raise InitError(f"{found.relative_to(root)} defines no function {name}. Look with: grep -n 'def ' {found.name}")


def _require_fit(node: ast.FunctionDef | ast.AsyncFunctionDef, arguments: str, reference: str) -> None:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call):
        said = f"--args {arguments!r} are no arguments of a call"
        raise InitError(f"{said}; quote them, as in: --args \"3, 'x'\"")
    keywords = {word.arg for word in call.keywords}
    for value in [*call.args, *(word.value for word in call.keywords)]:
        try:
            ast.literal_eval(value)
        except ValueError:
            raise InitError(f"--args takes plain values only, not {ast.unparse(value)!r}.") from None
    wanted = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    required = wanted[: len(wanted) - len(node.args.defaults)]
    missing = [name for name in required[len(call.args) :] if name not in keywords]
    if missing:
        raise InitError(f'{reference} needs {", ".join(missing)}. Give values: init {reference} --args "..."')


def files_for(target: Target) -> dict[str, str]:
    """Every file to write, by its path below the root; ``pyproject.toml`` holds what is appended to it."""
    call = f"{target.name}({target.arguments})"
    if not target.arguments:
        body = f"    return {target.name}\n"
    elif target.asynchronous:
        body = f"    async def call():\n        return await {call}\n\n    return call\n"
    else:
        body = f"    def call():\n        return {call}\n\n    return call\n"
    probes = (
        '"""Probes of this project: each returns the callable to time. The harness owns the clock."""\n\n'
        f"from harness import probe\nfrom {target.module} import {target.name}\n\n\n"
        f'@probe(source="synthetic")  # add check=..., which proves on each result that the work was done\n'
        f'def {target.name}_probe():\n    """Set-up here is outside the clock."""\n{body}'
    )
    seam = f"{target.module.replace('.', '_')}/{target.name}"
    rows = (
        f'[seam."{seam}"]\ntitle = "{target.module}.{target.name}"\n\n'
        f"[kpi.{target.kpi}]\n"
        'layer = "turn"\n'
        f'seam = "{seam}"\n'
        f'probe = "bench.probes:{target.name}_probe"\n'
        f'question = "What does one call of {target.name} cost?"\n'
        'fence = "One set of arguments; others may cost more."\n'
        'unit = "ns"\ndirection = "lower"\nestimand = "call-mean"\ngate = "timed"\ntarget_status = "standing"\n'
    )
    table = f'\n[tool.harness]\nkpis = ["bench/kpis/*.toml"]\nunder_test = ["{target.module.partition(".")[0]}"]\n'
    workflow = resources.files("harness.templates").joinpath("gate.yml").read_text(encoding="utf-8")
    return {
        "bench/__init__.py": "",
        "bench/probes.py": probes,
        "bench/kpis/first.toml": rows,
        ".github/workflows/gate.yml": workflow,
        "pyproject.toml": table,
    }


def write_files(root: Path, files: dict[str, str]) -> list[str]:
    """Write ``files`` below ``root``; pyproject.toml is appended to. Returns what was written.

    Raises:
        InitError: one of them exists already; nothing was written.
        StoreError: a file cannot be written.
    """
    there = [name for name in files if name != "pyproject.toml" and (root / name).exists()]
    if there:
        raise InitError(f"{', '.join(there)} exists already and is left as it is. Move it away, then run init again.")
    pyproject = root / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8") if pyproject.is_file() else ""
    for name, content in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        blob = (text + content if text else content.lstrip()) if name == "pyproject.toml" else content
        write_atomic(target, blob.encode("utf-8"))
    return list(files)
