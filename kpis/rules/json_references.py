"""Where the references of a JSON Schema lead: within the schema, since nothing here is fetched."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from kpis.rules.json_words import faults_of, inner_schemas

__all__ = ["SchemaError", "targets"]

_INDEX = re.compile(r"[0-9]{1,9}")


class SchemaError(ValueError):
    """The schema is none, or refers to what is not in it."""


def targets(root: Any) -> dict[str, Any]:
    """What each reference leads to, whether or not a value does: a broken schema is broken for all values.

    In ``root`` ``faults_of`` finds no fault. Each schema is read once, however many references lead to it.

    Raises:
        SchemaError: a reference leads nowhere, or to what is no schema.
    """
    found: dict[str, Any] = {}
    sound: set[int] = set()  # what has been read, by identity
    schemas: list[Any] = [root]
    references: list[str] = []
    while schemas or references:
        if schemas:
            schema = schemas.pop()
            if isinstance(schema, dict) and id(schema) not in sound:
                sound.add(id(schema))
                schemas += inner_schemas(schema)
                references += [schema["$ref"]] if "$ref" in schema else []
        elif (reference := references.pop()) not in found:
            target = found[reference] = _target(root, reference)
            faults = [] if id(target) in sound else list(islice(faults_of(target, reference), 1))
            if faults:
                raise SchemaError(faults[0])
            schemas.append(target)
    return found


def _target(root: Any, reference: str) -> Any:
    """What a reference of the form ``#`` or ``#/a/b`` leads to."""
    at = root
    for part in reference.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at = at[key]
        elif isinstance(at, list) and _INDEX.fullmatch(key) and int(key) < len(at):
            at = at[int(key)]
        else:
            raise SchemaError(f"the reference {reference:.80} leads nowhere")
    return at
