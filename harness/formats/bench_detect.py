"""Which benchmark tool wrote a file, by its content, and its benches as terms. A name may lie, so none is looked at.

Refuses to guess: a document without the marks of a known tool is an error that says what it looks like.
"""

from __future__ import annotations

import io
from typing import BinaryIO

from harness.formats import pyperf_json, pytest_benchmark_json
from harness.formats.bench_json import Node, decode, plain_bytes
from harness.formats.limits import FormatError, Limits, printable
from kpis.terms.bench import BenchFile, BenchTool

__all__ = ["detect", "read"]


def detect(document: Node) -> BenchTool:
    """The tool that wrote ``document``.

    Raises:
        FormatError: none of the known ones.
    """
    value = document.value
    shown = printable(document.where)
    known = ", ".join(tool.value for tool in BenchTool)
    if isinstance(value, dict):
        benches = value.get("benchmarks")
        if isinstance(benches, list):
            first = benches[0] if benches and isinstance(benches[0], dict) else {}
            if "machine_info" in value or "commit_info" in value or "stats" in first:
                return BenchTool.PYTEST_BENCHMARK
            if "version" in value and ("runs" in first or not first):
                return BenchTool.PYPERF
        schema = value.get("schema")
        if isinstance(schema, str) and schema.startswith("harness."):
            raise FormatError(
                f"{shown} is a file of this tool ({printable(schema, 40)}) and not of another ({known}); the raw "
                "samples of a run lie beside it, in the folder of its name that ends in .samples: name one of those."
            )
    raise FormatError(f"{shown} is in none of the known formats of benchmark tools ({known}); see `{_HELP}`.")


_HELP = "python -m harness gate --help"


def read(blob: BinaryIO, limits: Limits, filename: str) -> BenchFile:
    """What the file says; ``filename`` only names it in messages.

    Raises:
        FormatError: it cannot be read; the sentence names the file, and the path in it where there is one.
    """
    head = blob.read(limits.max_bytes + 1)
    if len(head) > limits.max_bytes:
        heavy = pytest_benchmark_json.heaviest(head, limits) or pyperf_json.heaviest(head, limits)
        if heavy is not None:
            raise _named(heavy, filename)
    try:
        data = plain_bytes(io.BytesIO(head), limits)
    except FormatError as error:
        raise _named(error, filename) from None
    document = decode(data, limits, filename)
    match detect(document):
        case BenchTool.PYPERF:
            return pyperf_json.read_document(document)
        case BenchTool.PYTEST_BENCHMARK:
            return pytest_benchmark_json.read_document(document)


def _named(error: FormatError, filename: str) -> FormatError:
    return FormatError(f"{printable(filename)}: {error}")
