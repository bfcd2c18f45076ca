"""``list``, ``explain`` and ``catalog``: arguments in, text and an exit code out.

What is shown is decided in ``harness.report`` and ``harness.jobs``, and errors are shown by the caller. The first two
must answer at once, and other commands must not pay for them, so whatever one of them needs is imported inside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.catalog import Finding
    from harness.project import Project
    from kpis.registry import Catalog
    from kpis.terms.kpi import Kpi, Status

__all__ = ["add_parsers", "cmd_catalog", "cmd_explain", "cmd_list", "print_json"]


def add_parsers(subparsers: Any) -> None:
    """Add the three commands; each sets ``handler`` to what runs it."""
    words = "the KPIs of the catalog, one line each"
    listing = subparsers.add_parser("list", help=words, description=f"Show {words}.", allow_abbrev=False)
    listing.add_argument("text", nargs="?", help="only KPIs with this text in id, seam, question or fence")
    listing.add_argument("--layer", nargs="+", action="extend", default=[], metavar="L", help="only these layers")
    listing.add_argument("--status", nargs="+", action="extend", default=[], metavar="S", help="with these statuses")
    listing.add_argument("--gate", nargs="+", action="extend", default=[], metavar="G", help="with these kinds of gate")
    listing.add_argument("--recorded", action="store_true", help="the metrics of recorded runs instead")
    listing.add_argument("--json", action="store_true", help="as JSON, with every key of the row")
    listing.set_defaults(handler=cmd_list)

    words = "everything about one KPI or metric of recorded runs, and how to reproduce it"
    explain = subparsers.add_parser("explain", help=words, description=f"Show {words}.", allow_abbrev=False)
    explain.add_argument("kpi", metavar="KPI", help="its id, alias or symbol")
    explain.add_argument("--recorded", action="store_true", help="the metric of recorded runs, if a KPI has its name")
    explain.add_argument("--json", action="store_true", help="the row as JSON")
    explain.set_defaults(handler=cmd_explain)

    words = "generate KPI-CATALOG.md, or check it against the newest runs"
    catalog = subparsers.add_parser(
        "catalog", help=words, description=f"{words[0].upper()}{words[1:]}.", allow_abbrev=False
    )
    catalog.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if the page is stale or a run contradicts a row"
    )
    catalog.set_defaults(handler=cmd_catalog)


def _opened() -> tuple[Project, Catalog]:
    from harness.jobs.rows import project_catalog
    from harness.project import load_project

    project = load_project(Path.cwd())
    return project, project_catalog(project)


def cmd_list(args: argparse.Namespace) -> Exit:
    """Print the KPIs that all filters let through; 5 where there is none."""
    if args.recorded:
        from harness.cli.listing_recorded import list_recorded

        return list_recorded(args)
    from harness.jobs.evidence import gather
    from harness.report.catalog_list import list_text
    from harness.report.width import columns
    from kpis.registry import select
    from kpis.terms.kpi import Gate, Status

    _require_words("status", args.status, [status.value for status in Status])
    _require_words("gate", args.gate, [gate.value for gate in Gate])
    project, catalog = _opened()
    chosen = select(catalog, layers=args.layer)
    evidence = gather(project, chosen)
    statuses = {kpi.id: evidence.status(catalog, kpi) for kpi in chosen}
    kept = [kpi for kpi in chosen if _passes(kpi, statuses[kpi.id], args)]
    if args.json:
        print_json({"schema": "harness.list/1", "kpis": [_plain(catalog, kpi, statuses[kpi.id]) for kpi in kept]})
    elif kept:
        print(list_text(kept, statuses, columns(sys.stdout)), end="")
    _say_passed_over(evidence.refused)
    if not kept:
        say("No KPI passes these filters; `python -m harness list` shows all.", prefix="")
        return Exit.UNCOVERED
    return Exit.OK


def _say_passed_over(refused: Sequence[str]) -> None:
    """In one line, that run files were passed over: a status may come from an older run than one would think."""
    if len(refused) == 1:
        say(f"Not every run file was read: {refused[0]}")
    elif refused:
        say(f"{len(refused)} run files were not read; `python -m harness catalog --check` says why. One: {refused[0]}")


def _require_words(what: str, given: list[str], known: list[str]) -> None:
    from kpis.errors import SelectionError, did_you_mean

    for word in given:
        if word not in known:
            raise SelectionError(
                f"There is no {what} named {word}{did_you_mean(word, known)}; it is one of {', '.join(known)}: "
                "try `python -m harness list`."
            )


def _passes(kpi: Kpi, status: Status, args: argparse.Namespace) -> bool:
    if args.status and status.value not in args.status:
        return False
    if args.gate and kpi.gate.value not in args.gate:
        return False
    words = (kpi.id, kpi.seam, kpi.question, kpi.fence, kpi.symbol or "", *kpi.aliases)
    return not args.text or any(args.text.lower() in word.lower() for word in words)


def cmd_explain(args: argparse.Namespace) -> Exit:
    """Print all about one KPI, or one metric of recorded runs."""
    from harness.jobs.catalog import emits, seam_file
    from harness.jobs.evidence import gather
    from harness.measure.instrument import INSTRUMENT
    from harness.report.catalog_text import explain_text
    from harness.report.width import columns

    project, catalog = _opened()
    if args.recorded or args.kpi not in catalog:
        from harness.cli.listing_recorded import explain_recorded, is_recorded

        if args.recorded or is_recorded(args.kpi, catalog.names | {stone.id for stone in catalog.retired}):
            return explain_recorded(args)
    kpi = catalog.get(args.kpi)
    evidence = gather(project, [kpi])
    status = evidence.status(catalog, kpi)
    if args.json:
        print_json({"schema": "harness.explain/1", "kpi": _plain(catalog, kpi, status)})
    else:
        text = explain_text(
            catalog,
            kpi,
            status,
            emits(catalog, kpi),
            columns(sys.stdout),
            seam_known=seam_file(kpi).is_file(),
            source=evidence.source(kpi),
            installed=project.root.resolve() != Path(INSTRUMENT).resolve(),
        )
        print(text, end="")
    _say_passed_over(evidence.refused)
    return Exit.OK


def cmd_catalog(args: argparse.Namespace) -> Exit:
    """Write KPI-CATALOG.md, or with ``--check`` print every lie: 1 where there is one, 3 where nothing can be told."""
    from harness.jobs.catalog import PAGE, check, write
    from harness.project import load_project

    root = load_project(Path.cwd()).root
    if args.check:
        return _report(check(root))
    write(root)
    print(f"{PAGE} is written; commit it.")
    return Exit.OK


def _report(findings: list[Finding]) -> Exit:
    from harness.jobs.catalog import FindingKind
    from harness.report.inert import inert
    from harness.report.naming import said

    failures = [finding for finding in findings if finding.kind.failure]
    unknown = [finding for finding in findings if finding.kind is FindingKind.UNKNOWN]
    not_yet = sum(1 for finding in findings if finding.kind is FindingKind.NOT_YET)
    for finding in findings:
        if finding.kind is not FindingKind.NOT_YET:
            print(said(f"{finding.kind.value}: {inert(finding.sentence)}"))
    if not_yet:
        count = "1 KPI is" if not_yet == 1 else f"{not_yet} KPIs are"
        print(said(f"{count} not emitted yet; see `python -m harness list --status proposed`."))
    if failures:
        print(f"The catalog fails the check: {len(failures)} to mend.")
        return Exit.FAILED
    print("Whether the catalog is true is unknown." if unknown else "The catalog is true.")
    return Exit.UNKNOWN if unknown else Exit.OK


def _plain(catalog: Catalog, kpi: Kpi, status: Status) -> dict[str, Any]:
    from kpis.terms.kpi import Kpi

    seam = catalog.seam(kpi)
    plain = {name: getattr(kpi, name) for name in Kpi.__dataclass_fields__}
    return {
        **plain,
        **{name: plain[name].value for name in ("unit", "direction", "estimand", "gate", "target_status", "takes")},
        "layer": kpi.layer.value,
        "status": status.value,
        "frozen_sync": seam.frozen_sync,
        "off_live": seam.off_live,
        "points": kpi.points(),
    }


def print_json(value: dict[str, Any]) -> None:
    """Print ``value`` as JSON with sorted keys."""
    import json

    # Where the output lacks a character, only the escapes of JSON keep it readable as JSON.
    ascii_only = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=ascii_only, allow_nan=False))
