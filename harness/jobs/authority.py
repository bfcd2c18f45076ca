"""The authority: one page, and blocks in README and docs, in which no number can be typed by hand.

``write`` generates BENCHMARK-AUTHORITY.md and fills the blocks and constants of the other documents. ``check`` does the
same and compares, and looks besides for the lies that a comparison of texts cannot name. Both take numbers from
committed run files alone; neither measures anything.
"""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.formats.limits import regular_bytes
from harness.jobs.authority_artifacts import artifacts_of
from harness.jobs.authority_documents import constant, documents_of, text_of, why_of
from harness.jobs.authority_faults import document_faults, row_faults, tombstone_faults
from harness.jobs.authority_findings import Fault, Finding, differs, told_once
from harness.jobs.authority_sources import Sources
from harness.jobs.catalog import emits, seam_file
from harness.jobs.rows import project_catalog
from harness.project import load_project
from harness.record.floors import calibration_fault
from harness.record.store import StoreError, require_inside, write_atomic
from harness.report.authority import Authority, authority_markdown
from harness.report.authority_blocks import AUTHORITY, document_of, filled
from harness.report.authority_constants import constant_faults, constants_filled
from harness.report.authority_numbers import Artifact
from harness.report.authority_rows import newest_rows
from harness.report.authority_select import block_faults, block_text
from harness.report.naming import typed
from kpis.registry import Catalog
from kpis.terms.kpi import Kpi

__all__ = ["GENERATORS", "PAGE", "State", "Written", "check", "gather", "generated", "kinds_in", "state_of", "write"]

PAGE = "BENCHMARK-AUTHORITY.md"

GENERATORS = {"gatebench": "ci/gatebench/score.py", "peers": "ci/peers.py"}
"""Blocks that other commands fill and check, where the project has them."""

_FILLED = {"gatebench": "docs/gate.md", "peers": "docs/floors.md"}
"""The one document in which each of those commands fills its block; anywhere else nobody does."""

_AGAIN = "run `python -m harness authority` and commit the result."


@dataclass(frozen=True, slots=True)
class State:
    """A project's authority, and the documents that are held against it: their text by their name, README first."""

    root: Path
    catalog: Catalog
    authority: Authority
    unsound: tuple[Finding, ...] = ()
    documents: dict[str, str] = field(default_factory=dict)
    unread: tuple[Finding, ...] = ()

    @property
    def kinds(self) -> list[str]:
        """The names of blocks that a command of this project fills."""
        return [AUTHORITY, *(name for name, script in GENERATORS.items() if (self.root / script).is_file())]


def gather(root: Path) -> State:
    """Read the run files, the catalog, the sources and the documents of the project in ``root``.

    Raises:
        kpis.registry.CatalogError: a file of rows cannot be used.
    """
    project = load_project(root)
    # Installed plug-ins stay out: the page is committed, and must not depend on who generated it.
    catalog = project_catalog(project, plugins=False)
    artifacts, unsound = artifacts_of(project.root)
    documents, unread = documents_of(project.root)
    authority = state_of(artifacts, catalog, Sources(project, catalog))
    return State(project.root, catalog, authority, tuple(unsound), documents, tuple(unread))


def state_of(artifacts: Iterable[Artifact], catalog: Catalog, sources: Sources) -> Authority:
    """The rows of ``artifacts``, and what of ``catalog`` they do not hold; the order of neither matters."""
    held = list(artifacts)
    rows = newest_rows(held, catalog, sources.marks)
    told = {row.kpi for row in rows}
    pending = [(kpi.id, _missing(catalog, kpi)) for kpi in catalog if kpi.id not in told]
    return Authority(rows, sorted(pending), catalog.retired, sorted(held, key=lambda one: one.path))


def _missing(catalog: Catalog, kpi: Kpi) -> str:
    """What it would take for a number."""
    if emits(catalog, kpi):
        what = "a run that is committed" if kpi.default_workload else "a run on a recording, committed"
        return f"a probe emits it; {what} is missing"
    if kpi.inputs:
        absent = [name for name in kpi.inputs if not emits(catalog, catalog.get(name))]
        return f"nothing emits {', '.join(absent)}, from which it is computed"
    if kpi.origin == "catalog" and not seam_file(kpi).is_file():
        return f"the seam {kpi.seam} is not built, and nothing emits it"
    return f"no probe of the seam {kpi.seam} emits it"


def kinds_in(name: str, kinds: Iterable[str]) -> list[str]:
    """Of the ``kinds`` of blocks that a command fills, those that one fills in the document ``name``."""
    return [kind for kind in kinds if _FILLED.get(kind, name) == name]


def generated(state: State) -> dict[str, str]:
    """The texts as they should be, by name: the page, and each document with its blocks and constants filled."""
    texts = {PAGE: authority_markdown(state.authority)}
    for name, text in state.documents.items():
        folder = posixpath.dirname(name)
        kinds = kinds_in(name, state.kinds)
        blocks = filled(
            text,
            kinds,
            lambda block, at=folder: block_text(block, state.authority, state.catalog, at),  # type: ignore[misc]
        )
        texts[name] = constants_filled(blocks, constant, document_of(blocks, kinds).beside_prose)
    return texts


@dataclass(frozen=True, slots=True)
class Written:
    """The names of what changed. Where a run file is ``unsound`` nothing did; what is ``unread`` stays as it was."""

    changed: tuple[str, ...] = ()
    unsound: tuple[Finding, ...] = ()
    unread: tuple[Finding, ...] = ()


def write(root: Path) -> Written:
    """Generate everything in ``root``.

    Raises:
        kpis.registry.CatalogError: a file of rows cannot be used.
        harness.record.store.StoreError: a document cannot be written, or a link leads out of the project.
    """
    state = gather(root)
    unsound = [*state.unsound, *row_faults(state.authority.rows, state.catalog, state.authority)]
    if unsound:
        return Written(unsound=tuple(unsound))
    blobs = {name: text.encode("utf-8") for name, text in generated(state).items()}
    changed = tuple(name for name, blob in blobs.items() if _differs(state.root / name, blob))
    for name in changed:
        require_inside(state.root / name, state.root)
    for name in changed:
        write_atomic(state.root / name, blobs[name], within=state.root)
    return Written(changed, unread=state.unread)


def _differs(path: Path, blob: bytes) -> bool:
    """Whether something else than ``blob`` is at ``path``, or nothing.

    Raises:
        StoreError: what is there is no file, and nothing is written into it.
    """
    if not os.path.lexists(path):
        return True
    try:
        return regular_bytes(path) != blob
    except OSError as error:
        look = f"ls -ld {shlex.quote(str(path))}"
        raise StoreError(f"{path} cannot be read: {error.strerror}; see what it is: `{look}`.") from None


def check(root: Path) -> tuple[State, list[Finding]]:
    """Every finding in ``root``; an empty list means that all documents say what the run files say.

    Raises:
        kpis.registry.CatalogError: a file of rows cannot be used.
    """
    state = gather(root)
    findings = [*state.unsound, *state.unread]
    findings += row_faults(state.authority.rows, state.catalog, state.authority)
    findings += tombstone_faults(state.catalog, state.authority)
    findings += _page_faults(state)
    findings += _calibrations(state.root)
    findings += _stale(state)
    return state, told_once(findings)


def _page_faults(state: State) -> Iterator[Finding]:
    wanted = generated(state)
    by_hash = {artifact.hash: artifact for artifact in state.authority.artifacts}
    unsound = {each.cause for each in state.unsound}
    try:
        found = {PAGE: text_of(state.root / PAGE), **state.documents}
    except FileNotFoundError:
        yield Finding(Fault.HAND_EDIT, f"{PAGE} does not exist; {_AGAIN}")
        found = dict(state.documents)
    except (OSError, UnicodeDecodeError) as error:
        yield Finding(Fault.HAND_EDIT, f"{PAGE} cannot be read ({why_of(error)}); {_AGAIN}")
        found = dict(state.documents)
    for name, text in found.items():
        document = document_of(text, kinds_in(name, state.kinds))
        own = list(document_faults(name, document, by_hash, state.authority, lint=name != PAGE))
        for block in document.blocks:
            if block.kind == AUTHORITY:
                own += _block_findings(name, block.begin, block_faults(block, state.authority, state.catalog))
        for line, fault in constant_faults(text, constant, document.beside_prose):
            own.append(Finding(Fault.MARK, f"{name}, line {line}, {fault}; {_AGAIN}"))
        yield from (each for each in own if not (each.fault is Fault.MISSING and each.cause in unsound))
        # Whatever is named already is a difference as well, and is not told twice.
        if text != wanted[name] and all(each.fault is Fault.FREE for each in own):
            yield differs(name, text, wanted[name], _AGAIN)


def _block_findings(name: str, line: int, faults: Iterable[str]) -> Iterator[Finding]:
    for fault in faults:
        yield Finding(Fault.MARK, f"{name}, line {line}: {fault}; mend it, then {_AGAIN}")


def _calibrations(root: Path) -> Iterator[Finding]:
    """What a gate would not take for the floors of a machine."""
    for path in sorted((root / "baselines").glob("*/calibration.json")):
        if (why := calibration_fault(path)) is not None:
            name = path.relative_to(root).as_posix()
            back = f"put it back with `git checkout -- {typed(name)}`, or make it anew: `python -m harness calibrate`"
            yield Finding(Fault.CALIBRATION, f"{name} cannot be used: {why}; {back}.")


def _stale(state: State) -> Iterator[Finding]:
    for row in state.authority.rows:
        if row.stale and row.table is not None and state.authority.stone(row.kpi) is None:
            at = "; ".join(row.marks)
            sentence = f"{row.kpi} of {row.artifact.hash}#{row.pointer} is {at}"
            yield Finding(Fault.STALE, f"{sentence}; record it again with `python -m harness run --all`.")
