"""All metrics of one recorded run: what its events allow, and for the others the reason why there is none.

Every metric of the registry's context rows is named in the answer. Those that take two arms or several replicates are
named too, as what one run cannot say. Nothing is judged here.
"""

from __future__ import annotations

from kpis.formulas.context.evaluate_behaviour import behaviour_metrics
from kpis.formulas.context.evaluate_correctness import correctness_metrics
from kpis.formulas.context.evaluate_provider import provider_metrics
from kpis.formulas.context.evaluate_tokens import token_metrics
from kpis.formulas.context.made import Metrics, unobserved
from kpis.formulas.context.prices import Profile
from kpis.terms.context_run import ContextRun
from kpis.terms.quantity import Basis

__all__ = ["evaluate"]

_OF_TWO_ARMS = ("break_even_rho", "baseline_quality_ratio", "baseline_cost_ratio", "realised_baseline_cost_ratio")
_OF_REPLICATES = ("pass_k_windows", "pass_k_combinations")
_OF_PROBES = ("steadiness",)


def evaluate(run: ContextRun, profile: Profile | None = None, assumed_hit: float | None = None) -> Metrics:
    """Metrics by id. ``profile`` prices tokens; ``assumed_hit`` is the hit ratio that modelled cost assumes."""
    return {
        **correctness_metrics(run),
        **behaviour_metrics(run),
        **token_metrics(run),
        **provider_metrics(run, profile, assumed_hit),
        **unobserved(_OF_TWO_ARMS, "it compares two arms", Basis.FORMULA),
        **unobserved(_OF_REPLICATES, "it takes several replicates of a task", Basis.FORMULA),
        **unobserved(_OF_PROBES, "the recording holds no probes", Basis.FORMULA),
    }
