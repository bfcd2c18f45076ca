"""What a trace keeps of the words of a run that was recorded for its context: ids, names and times.

No text passes for a name. Refuses to guess: a time that is no Unix time is none.
"""

from __future__ import annotations

from dataclasses import replace

from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_ms
from kpis.terms.context_run import RunHeader

__all__ = ["safe_header", "times_of"]

_SECONDS = 1e9
"""A smaller time is no Unix time of this age, in seconds or milliseconds: it counts from a beginning of its own."""


def times_of(*values: float | None) -> tuple[int | None, ...]:
    """Each of ``values`` as Unix milliseconds; None where it is no Unix time, in seconds or milliseconds."""
    return tuple(None if value is None or value < _SECONDS else as_ms(value) for value in values)


def safe_header(header: RunHeader) -> RunHeader:
    """``header`` with its ids and names as they are kept: equal stays equal, and no text passes for a name."""
    return replace(
        header,
        run_id=safe_id(header.run_id),
        case_id=safe_id(header.case_id),
        arm=safe_name(header.arm),
        harness_rev=safe_name(header.harness_rev),
        policy_rev=safe_name(header.policy_rev),
        semantic_mode=None if header.semantic_mode is None else safe_name(header.semantic_mode),
        tokenizer=replace(header.tokenizer, id=safe_name(header.tokenizer.id)),
        sessions=tuple(map(safe_id, header.sessions)),
        model=None if header.model is None else safe_name(header.model),
        provider=None if header.provider is None else safe_name(header.provider),
        pair_key=None if header.pair_key is None else safe_id(header.pair_key),
    )
