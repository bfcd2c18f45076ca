"""Where documents and run files say what is not so: each look gives findings, and none writes.

A document is held against the run files number by number, besides the comparison as a whole, so that a finding can say
what kind of lie it is: another number, another class, a swapped arm, a file that is gone, a KPI that was retired.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from harness.jobs.authority_findings import Fault, Finding
from harness.report.authority import Authority
from harness.report.authority_blocks import Document
from harness.report.authority_lint import free_numbers, numbers_in
from harness.report.authority_numbers import Artifact, Shown, links_in, reading_index, text_at
from harness.report.authority_rows import Row, arm_fault, label_fault, table_of
from harness.report.authority_tables import CLASS
from kpis.registry import Catalog
from kpis.retired import revived

__all__ = ["document_faults", "row_faults", "tombstone_faults"]

_AGAIN = "run `python -m harness authority` and commit the result."
_ARMS = ("numerator", "denominator")
_BAR = re.compile(r"(?<!\\)\|")


def row_faults(rows: Sequence[Row], catalog: Catalog, authority: Authority) -> Iterator[Finding]:
    """What run files claim of their numbers that cannot be: a class, an arm, a KPI that nobody knows."""
    for row in rows:
        reading, where = row.reading, f"{row.artifact.path}#{row.pointer}"
        again = f"record it again with `python -m harness run --kpi {row.kpi}`."
        kpi = catalog.get(reading.kpi) if reading.kpi in catalog else None
        if kpi is None and authority.stone(row.kpi) is None:
            retire = f"retire it by a table `[retired.{row.kpi}]` beside the other rows, or give a KPI this alias"
            sentence = f"{where} is of {row.kpi}, which the catalog does not know; {retire}, then {_AGAIN}"
            yield Finding(Fault.VANISHED, sentence, cause=row.kpi, row=where)
        work = row.artifact.run.workloads.get(reading.workload) if reading.workload is not None else None
        fault = label_fault(reading, kpi, None if work is None else work.source)
        if fault is not None:
            yield Finding(Fault.CLASS, f"{where} ({row.kpi}) is mislabelled: {fault}; {again}")
        fault = arm_fault(reading, kpi)
        if fault is not None:
            yield Finding(Fault.ARM, f"{where} ({row.kpi}), {reading.value:g}: {fault}; {again}")


def tombstone_faults(catalog: Catalog, authority: Authority) -> Iterator[Finding]:
    """Retirements that the catalog or a later run undoes."""
    for _, sentence in revived(catalog.retired, catalog.names):
        yield Finding(Fault.TOMBSTONE, f"{sentence}, then {_AGAIN}")
    for row in authority.rows:
        stone = authority.stone(row.kpi)
        made = row.artifact.run.created[:10]
        if stone is not None and row.table is not None and made > stone.on.isoformat():
            where = f"{row.artifact.path}#{row.pointer}"
            sentence = (
                f"{row.kpi} is retired since {stone.on}, and {where} measured it on {made}; record a run without it"
            )
            yield Finding(Fault.TOMBSTONE, f"{sentence}, then {_AGAIN}")


def document_faults(
    name: str, document: Document, artifacts: Mapping[str, Artifact], authority: Authority, *, lint: bool = True
) -> Iterator[Finding]:
    """What a document shows that is not so. ``artifacts`` are by hash; ``lint``: free numbers are faults in it."""
    for at, fault in document.faults:
        yield Finding(Fault.MARK, f"{name}, line {at}: {fault}; mend the mark, then {_AGAIN}")
    if lint:
        for at, number in free_numbers(document):
            how = "take it from a run file in a block of the authority, from the code as a constant, or say it in words"
            yield Finding(
                Fault.FREE, f"{name}, line {at}: the number {number!r} is typed by hand; {how}; see `{_SEE}`."
            )
    table, marked, titles = "", 0, list[str]()
    for at, line in enumerate(document.lines, start=1):
        where = f"{name}, line {at}"
        if line.startswith(CLASS):
            table, marked, titles = line.removeprefix(CLASS).partition(" ")[0], at, []
        elif line and not line.startswith("|"):
            table, titles = "", []
        cells = [part.strip() for part in _BAR.split(line)[1:-1]]
        titles = titles or ([] if any(links_in(line)) else cells)
        for title, text in zip_longest(titles, cells or [line], fillvalue=""):
            for shown in links_in(text):
                path = posixpath.normpath(posixpath.join(posixpath.dirname(name), shown.path))
                found = _number_faults(where, replace(shown, path=path), table, title, artifacts)
                yield from (_caused(each, f"{name}, line {marked}", where) for each in found)
        yield from _retired_faults(where, line, artifacts, authority)


_SEE = "python -m harness authority --help"


def _caused(finding: Finding, marker: str, where: str) -> Finding:
    """With its cause: of a class the table's marker, of another number the row; a file says what it is itself."""
    causes = {Fault.CLASS: f"{marker}: {finding.cause}", Fault.HAND_EDIT: where}
    return replace(finding, cause=causes.get(finding.fault, finding.cause), row=where)


def _number_faults(
    where: str, shown: Shown, table: str, title: str, artifacts: Mapping[str, Artifact]
) -> Iterator[Finding]:
    artifact = artifacts.get(shown.hash)
    index = reading_index(shown.pointer)
    if artifact is None or artifact.path != shown.path:
        sentence = f"{where} takes {shown.text} from {shown.path}, and no sound run file is there"
        yield Finding(Fault.MISSING, f"{sentence}; bring it back, or {_AGAIN}", cause=shown.path)
        return
    try:
        wanted = text_at(artifact.document, shown.pointer)
    except LookupError:
        wanted = None
    what = f"{artifact.hash}#{shown.pointer}"
    if index is None or wanted is None:
        yield Finding(Fault.HAND_EDIT, f"{where} shows {shown.text}, and nothing is at {what}; {_AGAIN}")
        return
    field = shown.pointer.rpartition("/")[2]
    other = dict(zip(_ARMS, reversed(_ARMS), strict=True)).get(field)
    if title in _ARMS and field in _ARMS and title != field:
        yield Finding(Fault.ARM, f"{where} shows the {field} {what} as {title}; {_AGAIN}")
    elif shown.text != wanted and other is not None and shown.text == _arm(artifact, shown.pointer, other):
        yield Finding(Fault.ARM, f"{where} shows the {other} {shown.text} in the place of {what}, {wanted}; {_AGAIN}")
    elif shown.text != wanted:
        yield Finding(Fault.HAND_EDIT, f"{where} shows {shown.text}, and {what} is {wanted}; {_AGAIN}")
    is_of = table_of(artifact.run.readings[index])
    if table and is_of is not None and table != is_of.value:
        sentence = f"{where} shows {what} in a table of class {table}, and it is {is_of.value}"
        yield Finding(Fault.CLASS, f"{sentence}; {_AGAIN}", cause=is_of.value)


def _arm(artifact: Artifact, pointer: str, other: str) -> str | None:
    try:
        return text_at(artifact.document, f"{pointer.rpartition('/')[0]}/{other}")
    except LookupError:
        return None


def _retired_faults(
    where: str, line: str, artifacts: Mapping[str, Artifact], authority: Authority
) -> Iterator[Finding]:
    """A retired KPI's number that is shown as if it held: by a link, or beside the id."""
    if not authority.retired:
        return
    plain = re.sub(r"~~.*?~~", "", line)
    shown_of = set()
    for shown in links_in(plain):
        index, artifact = reading_index(shown.pointer), artifacts.get(shown.hash)
        if artifact is not None and index is not None and index < len(artifact.run.readings):
            shown_of.add(artifact.run.readings[index].kpi)
    words = set(re.findall(r"\w+", plain)) if numbers_in(plain) else set()
    for kpi in sorted(shown_of | words):
        stone = authority.stone(kpi)
        if stone is not None:
            sentence = f"{where} shows a number of {kpi}, which is retired since {stone.on}"
            said = f"{sentence}; {stone.instead.rstrip('.')}, then {_AGAIN}"
            yield Finding(Fault.TOMBSTONE, said, cause=f"{where.partition(', line ')[0]}: {kpi}", row=where)
