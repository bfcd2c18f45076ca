"""The counters of one line of Claude Code as disjoint token parts.

Input excludes what was cached, and of the total of cache writes the parts by lifetime are told where the line tells
them. This module refuses to merge lines.
"""

from __future__ import annotations

from types import MappingProxyType

from harness.formats.claude_run_lines import RunUsage
from kpis.terms.trace import Provenance, Tokens

__all__ = ["OBSERVED", "tokens_of"]

OBSERVED = MappingProxyType({"cache_write_other": Provenance.DERIVED})
"""Writes of no known lifetime are the total without those of a known one."""


def tokens_of(usage: RunUsage) -> Tokens:
    """The disjoint parts of one line's usage; the split of cache writes by lifetime is kept where there is one."""
    total, creation = usage.cache_creation_input_tokens, usage.cache_creation
    short = long = None
    other = total
    if creation is not None:
        short, long = creation.ephemeral_5m_input_tokens, creation.ephemeral_1h_input_tokens
        if total is not None:
            other = max(0, total - (short or 0) - (long or 0))
    fresh, read, output = usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens
    return Tokens(fresh, read, short, long, other, None, None, output, None, OBSERVED)
