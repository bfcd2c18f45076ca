"""The authority: one page, and blocks in README and docs, in which no number can be typed by hand.

``write`` generates BENCHMARK-AUTHORITY.md and fills the blocks and constants of the other documents. ``check`` does the
same and compares, and looks besides for the lies that a comparison of texts cannot name. Both take numbers from
committed run files alone; neither measures anything.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.jobs.authority_artifacts import artifacts_of
from harness.jobs.authority_documents import constant, documents_of
from harness.jobs.authority_faults import document_faults, row_faults, tombstone_faults
from harness.jobs.authority_findings import Fault, Finding, differs
from harness.jobs.authority_sources import Sources
from harness.jobs.catalog import emits, seam_file
from harness.jobs.rows import project_catalog
from harness.project import load_project
from harness.record.store import write_atomic
from harness.report.authority import Authority, authority_markdown
from harness.report.authority_blocks import AUTHORITY, document_of, filled
from harness.report.authority_constants import constant_faults, constants_filled
from harness.report.authority_numbers import Artifact
from harness.report.authority_rows import newest_rows
from harness.report.authority_select import block_faults, block_text
from kpis.registry import Catalog
from kpis.terms.kpi import Kpi

__all__ = ["GENERATORS", "PAGE", "State", "check", "gather", "generated", "state_of", "write"]

PAGE = "BENCHMARK-AUTHORITY.md"

GENERATORS = {"gatebench": "ci/gatebench/score.py", "peers": "ci/peers.py"}
"""Blocks that other commands fill and check, where the project has them."""

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


def generated(state: State) -> dict[str, str]:
    """The texts as they should be, by name: the page, and each document with its blocks and constants filled."""
    texts = {PAGE: authority_markdown(state.authority)}
    for name, text in state.documents.items():
        folder = posixpath.dirname(name)
        blocks = filled(
            text,
            state.kinds,
            lambda block, at=folder: block_text(block, state.authority, state.catalog, at),  # type: ignore[misc]
        )
        texts[name] = constants_filled(blocks, constant, document_of(blocks, state.kinds).beside_prose)
    return texts


def write(root: Path) -> tuple[list[str], list[Finding]]:
    """Generate everything in ``root``: the names of what changed. Where a run file is unsound nothing is written.

    Raises:
        kpis.registry.CatalogError: a file of rows cannot be used.
        harness.record.store.StoreError: a document cannot be written.
    """
    state = gather(root)
    unsound = [*state.unsound, *row_faults(state.authority.rows, state.catalog, state.authority)]
    if unsound:
        return [], unsound
    changed = []
    for name, text in generated(state).items():
        path = state.root / name
        if not path.is_file() or path.read_bytes() != text.encode("utf-8"):
            write_atomic(path, text.encode("utf-8"))
            changed.append(name)
    return changed, []


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
    findings += _stale(state)
    return state, list(dict.fromkeys(findings))


def _page_faults(state: State) -> Iterator[Finding]:
    wanted = generated(state)
    by_hash = {artifact.hash: artifact for artifact in state.authority.artifacts}
    try:
        found = {PAGE: (state.root / PAGE).read_bytes().decode("utf-8"), **state.documents}
    except FileNotFoundError:
        yield Finding(Fault.HAND_EDIT, f"{PAGE} does not exist; {_AGAIN}")
        found = dict(state.documents)
    except (OSError, UnicodeDecodeError) as error:
        yield Finding(Fault.HAND_EDIT, f"{PAGE} cannot be read ({error}); {_AGAIN}")
        found = dict(state.documents)
    for name, text in found.items():
        document = document_of(text, state.kinds)
        yield from document_faults(name, document, by_hash, state.authority, lint=name != PAGE)
        for block in document.blocks:
            if block.kind == AUTHORITY:
                yield from _block_findings(name, block.begin, block_faults(block, state.authority, state.catalog))
        for line, fault in constant_faults(text, constant, document.beside_prose):
            yield Finding(Fault.MARK, f"{name}, line {line}, {fault}; {_AGAIN}")
        if text != wanted[name]:
            yield differs(name, text, wanted[name], _AGAIN)


def _block_findings(name: str, line: int, faults: Iterable[str]) -> Iterator[Finding]:
    for fault in faults:
        yield Finding(Fault.MARK, f"{name}, line {line}: {fault}; mend it, then {_AGAIN}")


def _stale(state: State) -> Iterator[Finding]:
    for row in state.authority.rows:
        if row.stale and row.table is not None and state.authority.stone(row.kpi) is None:
            at = "; ".join(row.marks)
            sentence = f"{row.kpi} of {row.artifact.hash}#{row.pointer} is {at}"
            yield Finding(Fault.STALE, f"{sentence}; record it again with `python -m harness run --all`.")
