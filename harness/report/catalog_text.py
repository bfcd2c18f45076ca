"""Everything that the catalog says about one KPI, as text for a terminal.

Lines keep to the width given but for the command, which is there to be copied. Formulas are quoted from their source
without importing it: the code under test is not run to be described. Nothing is printed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import kpis as kpis_package
from harness.report.catalog_page import LAYER_TITLES, knobs_text, params_text, point_text
from harness.report.inert import inert
from harness.report.naming import command, said
from kpis.growth import HISTORY, is_growth
from kpis.registry import Catalog, probe_reference
from kpis.terms.kpi import Gate, Kpi, Status, Takes

__all__ = ["explain_text", "formula_words"]

FORMULAS = Path(str(kpis_package.__file__)).parent / "formulas"

_TAKES = {
    Takes.NONE: "nothing: it builds its own input",
    Takes.CALLS: "a trace of tool calls",
    Takes.SESSION: "a recorded session",
}


def formula_words(formula: str, folder: Path = FORMULAS) -> tuple[str, str | None]:
    """(dotted name, first paragraph of its docstring) of ``floor/room:function`` below ``folder``.

    The paragraph is None where the file or the function is not there, or says nothing of itself.
    """
    import ast  # `list` does not need it

    room, _, name = formula.partition(":")
    dotted = f"kpis.formulas.{room.replace('/', '.')}.{name}"
    try:
        tree = ast.parse((folder / f"{room}.py").read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return dotted, None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            words = ast.get_docstring(node)
            return dotted, " ".join(words.split("\n\n")[0].split()) if words else None
    return dotted, None


def explain_text(
    catalog: Catalog,
    kpi: Kpi,
    status: Status,
    probe_known: bool,
    width: int = 80,
    *,
    seam_known: bool = True,
    source: str = "no run here yet",
    installed: bool = False,
) -> str:
    """Everything that the catalog knows about ``kpi``, and how to reproduce it, in at most ``width`` columns.

    ``source`` says where the status comes from. ``installed``: the project at hand is not the one that holds our
    files, so they are inside the installed package.
    """
    target = "" if status is kpi.target_status else f" (the catalog's target is {kpi.target_status.value})"
    lines = [kpi.id + (f" ({inert(kpi.symbol)})" if kpi.symbol else ""), *_wrapped(kpi.question, width, ""), ""]
    facts: list[tuple[str, str]] = [
        ("layer", f"{kpi.layer.value}: {LAYER_TITLES[kpi.layer]}"),
        ("status", status.value + target),
        ("", f"by {source}" if status is not Status.PROPOSED or source.startswith("run ") else source),
        *_seam_facts(catalog, kpi),
        ("estimand", kpi.estimand.value),
        ("unit", f"{kpi.unit.value}; {_better(kpi)}"),
        ("gate", _gate(kpi)),
        ("parameters", params_text(kpi.params) or "none"),
        *([("besides", params_text(kpi.sweep) + _at(point_text(kpi.sweep_at or kpi.gate_point)))] if kpi.sweep else []),
        ("takes", _takes(kpi)),
        ("fence", kpi.fence),
        *_formation(kpi),
    ]
    lines += _facts(facts, width)
    inside = installed and kpi.origin == "catalog"
    lines += ["", "Files, inside the installed package loopladder" if inside else "Files"]
    lines += _facts(_files(kpi, probe_known, seam_known, " of the installed package loopladder" * installed), width)
    lines += ["", "Reproduce", *_reproduce(kpi, probe_known, width)]
    return "\n".join(lines) + "\n"


def _at(point: str) -> str:
    """Where a sweep is taken; a KPI without parameters has one point, which needs no words."""
    return f", at {point} alone" if point else ""


def _better(kpi: Kpi) -> str:
    return "neither way is better" if kpi.direction.value == "neutral" else f"{kpi.direction.value} is better"


def _seam_facts(catalog: Catalog, kpi: Kpi) -> list[tuple[str, str]]:
    seam = catalog.seam(kpi)
    facts = [("seam", f"{seam.name}: {seam.title}")]
    if seam.frozen_sync:
        facts.append(("frozen-sync", "the seam blocks on its engine, so the probe says how it cut the engine out"))
    if seam.off_live:
        facts.append(("off live", seam.off_live))
    return facts


def _gate(kpi: Kpi) -> str:
    critical = "; critical" if kpi.critical else ""
    match kpi.gate:
        case Gate.EXACT | Gate.INVARIANT if kpi.params and not kpi.gate_alone:
            return f"{kpi.gate.value}, at every point{critical}"
        case Gate.TIMED | Gate.INSTRUCTIONS | Gate.EXACT | Gate.INVARIANT if kpi.params:
            return f"{kpi.gate.value}, at {point_text(kpi.gate_point)}{critical}"
        case Gate.REPORT:
            return f"report: never gates{critical}"
        case _:
            return f"{kpi.gate.value}{critical}"


def _takes(kpi: Kpi) -> str:
    words = _TAKES[kpi.takes]
    if kpi.replay_params:
        words += f"; a recorded one is read at {point_text(kpi.replay_params)}"
    return words if kpi.default_workload else f"{words}; without one it builds its own"


def _formation(kpi: Kpi) -> list[tuple[str, str]]:
    facts = [("formed", kpi.note)] if kpi.note else []
    if kpi.inputs:
        facts.append(("computed from", ", ".join(kpi.inputs)))
    if kpi.shares:
        facts.append(("read from", f"the stamped calls of {kpi.shares}"))
    if kpi.formula:
        dotted, words = formula_words(kpi.formula)
        facts += [("formula", dotted), *([("", words)] if words else [])]
    if kpi.knobs:
        facts.append(("knobs", knobs_text(kpi.knobs)))
    if kpi.reasons:
        facts.append(("keys", ", ".join(kpi.reasons)))
    if kpi.aliases:
        facts.append(("also named", ", ".join(kpi.aliases)))
    return facts


def _files(kpi: Kpi, probe_known: bool, seam_known: bool, ours: str) -> list[tuple[str, str]]:
    probe = probe_reference(kpi).partition(":")[0].replace(".", "/") + ".py"
    row = f"kpis/catalog/{kpi.layer.value}.toml" if kpi.origin == "catalog" else kpi.origin
    if kpi.inputs:
        probe = "none: it is computed from other readings"
    seam = f"seams/{kpi.seam}.py" if kpi.origin == "catalog" or seam_known else f"the runtime's offer of {kpi.seam}"
    if kpi.origin != "catalog" and seam_known:
        seam += ours
    own = f"[kpi.{kpi.id}]" if not is_growth(kpi) else f"by the parameter {HISTORY} of [kpi.{kpi.inputs[0]}]"
    return [
        ("row", f"{row}, {own}"),
        ("seam", seam if seam_known or kpi.origin != "catalog" else f"{seam} (not there yet)"),
        ("probe", probe if probe_known or kpi.inputs else f"{probe} (nothing there emits it yet)"),
    ]


def _reproduce(kpi: Kpi, probe_known: bool, width: int) -> list[str]:
    params = [word for key, value in kpi.gate_point.items() for word in ("--param", f"{key}={value}")]
    lines = [f"  {command(['run', '--kpi', kpi.id, *params])}"]  # one line, however long: it is there to be copied
    if kpi.takes is not Takes.NONE:
        lines += _wrapped("On a recorded run of yours, add: --workload FILE", width, "  ")
    if not probe_known:
        lines += _wrapped("Nothing emits it yet, so the run has no number of it.", width, "  ")
    return lines


def _facts(facts: Sequence[tuple[str, str]], width: int) -> list[str]:
    lines: list[str] = []
    for name, words in facts:
        first, *rest = _wrapped(words, width, " " * 16)
        lines += [f"  {name:<14}{first[16:]}".rstrip(), *rest]
    return lines


def _wrapped(words: str, width: int, indent: str) -> list[str]:
    room = max(width, len(indent) + 20)
    return wrap(said(inert(words)), room, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) or [
        indent
    ]
