"""The usage that a run of LangSmith reports, in LangSmith's own words or in those of the provider.

Input includes cached tokens by convention. This module refuses to part the counters:
:mod:`harness.formats.span_usage` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.formats.langsmith_answer import messages_out
from harness.formats.span_usage import Usage
from harness.formats.span_values import Numbers
from harness.formats.whole_json import as_dict

__all__ = ["usage_of"]


def usage_of(
    fields: Mapping[str, Any], outputs: Mapping[str, Any], metadata: Mapping[str, Any], numbers: Numbers, program: str
) -> Usage | None:
    """The usage of a run, from the first place that has any."""
    places = [as_dict(outputs.get("usage_metadata")), as_dict(metadata.get("usage_metadata"))]
    places += [as_dict(message.get("usage_metadata")) for message in messages_out(outputs)]
    held = next((each for each in places if each), None)
    if held is not None:
        in_details = as_dict(held.get("input_token_details"))
        out_details = as_dict(held.get("output_token_details"))
        usage = Usage(
            input=numbers.count(held.get("input_tokens")),
            output=numbers.count(held.get("output_tokens")),
            read=numbers.count(in_details.get("cache_read")),
            write=numbers.count(in_details.get("cache_creation")),
            write_5m=numbers.count(in_details.get("ephemeral_5m_input_tokens")),
            write_1h=numbers.count(in_details.get("ephemeral_1h_input_tokens")),
            reasoning=numbers.count(out_details.get("reasoning")),
            total=numbers.count(held.get("total_tokens")),
            program=program,
        )
    else:
        told: Mapping[str, Any] = as_dict(as_dict(outputs.get("llm_output")).get("token_usage")) or as_dict(
            outputs.get("usage")
        )
        told = told or fields
        in_details = as_dict(told.get("prompt_tokens_details")) or as_dict(told.get("prompt_token_details"))
        out_details = as_dict(told.get("completion_tokens_details")) or as_dict(told.get("completion_token_details"))
        usage = Usage(
            input=numbers.count(told.get("prompt_tokens")),
            output=numbers.count(told.get("completion_tokens")),
            read=numbers.count(in_details.get("cached_tokens", in_details.get("cache_read"))),
            write=numbers.count(in_details.get("cache_creation")),
            reasoning=numbers.count(out_details.get("reasoning_tokens", out_details.get("reasoning"))),
            total=numbers.count(told.get("total_tokens")),
            program=program,
        )
    return None if usage.empty else usage
