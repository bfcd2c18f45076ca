"""Token attribution of one run: the prompts of its answered main requests by bucket."""

from __future__ import annotations

from collections.abc import Mapping

from kpis.formulas.context.attribution import Bucket, PricedNode, attribute
from kpis.formulas.context.made import Bases, Metrics, amount, unobserved
from kpis.formulas.context.values import RecordError
from kpis.terms.context_run import ContextNode, ContextRequest, ContextRun
from kpis.terms.context_words import FoldMode, NodeKind

__all__ = ["bucket_ids", "bucket_metrics"]

_BY_KIND: Mapping[NodeKind, Bucket] = {
    NodeKind.SYSTEM: Bucket.SYSTEM,
    NodeKind.TOOLS: Bucket.TOOL_SCHEMA,
    NodeKind.USER: Bucket.RAW_USER,
    NodeKind.ASSISTANT: Bucket.RAW_ASSISTANT,
    NodeKind.TOOL_RESULT: Bucket.RAW_TOOL_RESULT,
    NodeKind.RECALL: Bucket.RECALL,
    NodeKind.OTHER: Bucket.UNATTRIBUTED_ENVELOPE,
}

# The parts of a leaf checkpoint need its text, which a recording does not hold: it stays in the envelope, unsplit.
_BY_MODE: Mapping[FoldMode, Bucket] = {
    FoldMode.ROOT: Bucket.CHECKPOINT_ROOT,
    FoldMode.BASIC: Bucket.CHECKPOINT_BASIC,
    FoldMode.IMPLICIT: Bucket.CHECKPOINT_BASIC,
}


def bucket_ids() -> dict[str, Bucket]:
    """The ids of the metrics, each with its bucket."""
    return {f"attributed_{bucket.value.replace('-', '_')}_tokens": bucket for bucket in Bucket}


def _bucket_of(node: ContextNode, modes: Mapping[str, FoldMode]) -> Bucket:
    if node.kind is not NodeKind.CHECKPOINT:
        return _BY_KIND[node.kind]
    if node.checkpoint_id is None:
        return Bucket.CHECKPOINT_BASIC
    mode = modes.get(node.checkpoint_id)
    return Bucket.UNATTRIBUTED_ENVELOPE if mode is None else _BY_MODE.get(mode, Bucket.UNATTRIBUTED_ENVELOPE)


def bucket_metrics(run: ContextRun, requests: list[ContextRequest], bases: Bases) -> Metrics:
    """Tokens by bucket over ``requests``; together they are the prompts, exactly."""
    modes = {fold.checkpoint_id: fold.mode for fold in run.folds if fold.checkpoint_id is not None}
    totals = dict.fromkeys(Bucket, 0)
    for request in requests:
        if request.nodes is None or request.node_tokens is None or request.prompt is None:
            return unobserved(bucket_ids(), "a prompt or a node has no price", bases.tokens)
        priced = [
            PricedNode(node.id, tokens, _bucket_of(node, modes))
            for node, tokens in zip(request.nodes, request.node_tokens, strict=True)
        ]
        try:
            parts = attribute(priced, request.prompt)
        except RecordError as error:
            return unobserved(bucket_ids(), f"request {request.request_id}: {error}", bases.tokens)
        for bucket, tokens in parts.items():
            totals[bucket] += tokens
    return {each: amount(each, totals[bucket], bases.tokens) for each, bucket in bucket_ids().items()}
