"""Users' KPI files, read together: each must be sound by itself, and no two may claim one name.

A seam that one file declares is known to all of them, whatever the order of their names. Refuses to keep a part: one
fault, and there is no catalog.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from kpis.errors import CatalogError
from kpis.retired import Retired
from kpis.schema import KpiFile, KpiRow, RetiredRow, SeamRow
from kpis.schema_faults import sentence, toml_sentence, unreadable, utf8_text, without_echoes
from kpis.terms.kpi import Kpi, Seam

__all__ = ["read_rows"]


def read_rows(
    files: Mapping[str, str | bytes], known_seams: Mapping[str, Seam], taken: Mapping[str | None, str]
) -> tuple[list[Kpi], dict[str, Seam], list[Retired]]:
    """The KPIs, new seams and retirements of ``files``; ``taken`` maps the names that exist to where they come from.

    Raises:
        CatalogError: one sentence a fault, of all files at once.
    """
    read: list[_Read] = []
    faults: list[str] = []
    for path, text in files.items():
        try:
            read.append(_read(path, text))
        except CatalogError as error:
            faults += error.sentences
    if faults:  # what a file that cannot be read declares is not known, and its absence would be more faults
        raise CatalogError(faults)
    seams, owners = dict(known_seams), dict.fromkeys(known_seams, "the catalog")
    for each in read:
        for name, row in each.file.seam.items():
            if name in owners:
                faults.append(each.fault(f"this seam is declared in {owners[name]} already", "seam", name))
            else:
                seams[name], owners[name] = Seam(name, row.title, row.frozen_sync, row.off_live), each.path
    rows: list[Kpi] = []
    names = dict(taken)
    for each in read:
        own, found = _rows(each, seams, names)
        rows += own
        faults += found
    if faults:
        raise CatalogError(faults)
    stones = [stone.stone(kpi_id, each.path) for each in read for kpi_id, stone in each.file.retired.items()]
    return rows, {name: seam for name, seam in seams.items() if name not in known_seams}, stones


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that is sound by itself."""

    path: str
    text: str
    file: KpiFile

    def fault(self, msg: str, *loc: str) -> str:
        return sentence(self.path, self.text, {"type": "clash", "loc": loc, "msg": msg}, {})


def _read(path: str, text: str | bytes) -> _Read:
    decoded = utf8_text(path, text)
    try:
        return _Read(path, decoded, KpiFile.model_validate(tomllib.loads(decoded)))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError([toml_sentence(path, decoded, error)]) from None
    except ValidationError as error:
        fields = {
            "kpi": tuple(KpiRow.model_fields),
            "seam": tuple(SeamRow.model_fields),
            "retired": tuple(RetiredRow.model_fields),
        }
        told = without_echoes([dict(fault) for fault in error.errors()], fields)
        raise CatalogError([sentence(path, decoded, each, fields) for each in told]) from None
    except RecursionError:
        raise CatalogError([unreadable(path, "it is nested too deeply")]) from None
    except ValueError:  # the standard library bounds the digits of a number, and TOML does not
        raise CatalogError([unreadable(path, "a number in it has too many digits")]) from None


def _rows(read: _Read, seams: Mapping[str, Seam], taken: dict[str | None, str]) -> tuple[list[Kpi], list[str]]:
    """The KPIs of a file and the faults of their names and seams; ``taken`` learns the names."""
    rows: list[Kpi] = []
    faults: list[str] = []
    for kpi_id, row in read.file.kpi.items():
        own = [name for name in (kpi_id, *row.aliases, row.symbol) if name is not None]
        faults += [
            read.fault(f"the name {name} is taken by a KPI of {taken[name]}", "kpi", kpi_id)
            for name in own
            if name in taken
        ]
        for name in own:
            taken.setdefault(name, read.path)
        if row.seam in seams:
            rows.append(row.kpi(kpi_id, seams[row.seam], read.path))
        else:
            declare = f'there is no seam {row.seam}: declare [seam."{row.seam}"] with a title in this file'
            faults.append(read.fault(declare, "kpi", kpi_id, "seam"))
    return rows, faults
