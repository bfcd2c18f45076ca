"""The catalog page and its check: no number, status or fence in it can be typed by hand.

``write`` generates KPI-CATALOG.md. ``check`` looks for five kinds of lies: a page that differs from what would be
generated, a status that the newest complete run does not bear out, a rate without the counts that it is made of, a
model that hides its knobs or poses as a clock, and a retirement that the catalog undoes. Neither measures anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from pathlib import Path

from harness.jobs.evidence import Evidence, gather
from harness.jobs.rows import project_catalog
from harness.jobs.wired import wired
from harness.measure.instrument import INSTRUMENT
from harness.project import load_project
from harness.record.store import write_atomic
from harness.report.catalog_page import catalog_markdown
from kpis.growth import is_growth
from kpis.registry import Catalog
from kpis.retired import revived
from kpis.status import status_gap
from kpis.terms.kpi import Estimand, Kpi
from kpis.terms.quantity import Basis
from kpis.terms.reading import Leg, Reading

__all__ = ["PAGE", "Finding", "FindingKind", "check", "emits", "seam_file", "write"]

PAGE = "KPI-CATALOG.md"


class FindingKind(Enum):
    """What was found. The last two are no failure."""

    STALE_PAGE = "stale-page"
    STATUS_LIE = "status-lie"
    BARE_RATE = "bare-rate"
    BARE_MODEL = "bare-model"
    TOMBSTONE = "tombstone"
    REFUSED_RUN = "refused-run"
    UNKNOWN = "unknown"
    NOT_YET = "not-emitted-yet"

    @property
    def failure(self) -> bool:
        """Whether the check fails by it (exit code 1)."""
        return self not in (FindingKind.UNKNOWN, FindingKind.NOT_YET)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the check has to say: about ``subject`` (a file or a KPI), in one sentence."""

    kind: FindingKind
    subject: str
    sentence: str


def emits(catalog: Catalog, kpi: Kpi) -> bool:
    """Whether a probe for ``kpi`` is in the tree; for a derived row, whether all of its inputs have one."""
    sources = kpi.inputs if kpi.shares is None else (kpi.shares,)
    return all(emits(catalog, catalog.get(name)) for name in sources) if kpi.derived else wired(kpi)


def seam_file(kpi: Kpi) -> Path:
    """Where the reference runtime's part for the seam of ``kpi`` is, by rule."""
    return Path(INSTRUMENT) / "seams" / f"{kpi.seam}.py"


def _generate(root: Path) -> tuple[Catalog, Evidence, str]:
    # Installed plug-ins stay out of the page: it is committed, and must not depend on who generated it.
    project = load_project(root)
    catalog = project_catalog(project, plugins=False)
    evidence = gather(project, catalog)
    return catalog, evidence, catalog_markdown(catalog, evidence.statuses(catalog))


def write(root: Path) -> Path:
    """Generate KPI-CATALOG.md in ``root``; its path.

    Raises:
        kpis.registry.CatalogError: a file of rows cannot be used.
        harness.record.store.StoreError: the page cannot be written.
    """
    _, _, page = _generate(root)
    path = root / PAGE
    write_atomic(path, page.encode("utf-8"), within=root)
    return path


def check(root: Path) -> list[Finding]:
    """Every lie of the catalog in ``root``, and what cannot be told. An empty list means that it is true.

    Raises:
        kpis.registry.CatalogError: a file of rows cannot be used.
    """
    catalog, evidence, page = _generate(root)
    findings = [*_stale_page(root / PAGE, page)]
    findings += [
        Finding(FindingKind.TOMBSTONE, name, f"{sentence}, then run `python -m harness catalog`.")
        for name, sentence in revived(catalog.retired, catalog.names)
    ]
    findings += [Finding(FindingKind.REFUSED_RUN, "run file", sentence) for sentence in evidence.refused]
    for kpi in catalog:
        gap = status_gap(kpi, catalog.seam(kpi), evidence.of(kpi), wired=emits(catalog, kpi))
        if gap is not None:
            kind = FindingKind.STATUS_LIE if gap.lie else FindingKind.NOT_YET
            findings.append(Finding(kind, kpi.id, gap.sentence))
    for name, told in evidence.told.items():
        for reading in told.readings:
            findings += _bare(catalog.get(name), reading, told.name)
    if not evidence.told:
        sentence = "No complete run bears the catalog out, so no status can be told; try `python -m harness run --all`."
        findings.append(Finding(FindingKind.UNKNOWN, PAGE, sentence))
    return findings


def _stale_page(path: Path, page: str) -> Iterator[Finding]:
    again = "run `python -m harness catalog` and commit the result."
    try:
        found = path.read_bytes().decode("utf-8")  # read_text would hide changed line endings
    except FileNotFoundError:
        yield Finding(FindingKind.STALE_PAGE, PAGE, f"{PAGE} does not exist; {again}")
        return
    except (OSError, UnicodeDecodeError) as error:
        yield Finding(FindingKind.STALE_PAGE, PAGE, f"{PAGE} cannot be read ({error}); {again}")
        return
    if found == page:
        return
    lines = zip_longest(found.splitlines(), page.splitlines())
    for number, (is_now, should_be) in enumerate(lines, start=1):
        if is_now != should_be:
            what = f"reads {_quoted(is_now)} where {_quoted(should_be)} would be generated"
            yield Finding(FindingKind.STALE_PAGE, PAGE, f"{PAGE}, line {number}, {what}; {again}")
            return
    yield Finding(
        FindingKind.STALE_PAGE, PAGE, f"{PAGE} differs in its line endings from what would be generated; {again}"
    )


def _quoted(line: str | None) -> str:
    if line is None:
        return "nothing"
    return repr(line if len(line) <= 120 else line[:117] + "...")


def _bare(kpi: Kpi, reading: Reading, run: str) -> Iterator[Finding]:
    """Whether the reading lacks what makes its number honest."""
    if reading.undefined is not None or reading.leg is not Leg.MAIN:
        return
    again = f"mend its probe, then run `python -m harness run --kpi {kpi.id}`."
    if kpi.estimand is Estimand.RATE and not kpi.knobs and not is_growth(kpi):  # a slope is no share of anything
        # A ratio of two times has both arms and how it scattered; reasons are for what is counted.
        clocked = reading.basis is Basis.CLOCK
        third = {"distribution": reading.distribution} if clocked else {"histogram": reading.histogram}
        parts = {"numerator": reading.numerator, "denominator": reading.denominator, **third}
        missing = [name for name, part in parts.items() if part is None]
        if missing:
            sentence = f"{kpi.id} is a rate without {' and '.join(missing)} in {run}; {again}"
            yield Finding(FindingKind.BARE_RATE, kpi.id, sentence)
    if kpi.knobs or reading.basis is Basis.MODEL:
        if not reading.knobs:
            sentence = f"{kpi.id} is a model without its knobs in {run}; {again}"
            yield Finding(FindingKind.BARE_MODEL, kpi.id, sentence)
        if reading.distribution is not None or reading.basis is not Basis.MODEL:
            how = (
                "a distribution"
                if reading.distribution is not None
                else f"basis {reading.basis and reading.basis.value}"
            )
            sentence = f"{kpi.id} is a model that poses as a measurement, with {how}, in {run}; {again}"
            yield Finding(FindingKind.BARE_MODEL, kpi.id, sentence)
