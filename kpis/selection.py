"""What a selection asks for by name: layers, and parameters that narrow.

Works on plain rows; where they come from is the registry's business. A word that nothing answers to is an error with
the closest match, never an empty selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kpis.errors import SelectionError, did_you_mean
from kpis.terms.kpi import Kpi, Layer

__all__ = ["layer_named", "narrowed"]


def layer_named(name: str) -> Layer:
    """The layer called ``name``.

    Raises:
        SelectionError: there is none.
    """
    try:
        return Layer(name)
    except ValueError:
        known = [layer.value for layer in Layer]
        raise SelectionError(
            f"There is no layer named {name}{did_you_mean(name, known)}; the layers are {', '.join(known)}: "
            "try `python -m harness list`."
        ) from None


def _allowed(kpi: Kpi, key: str) -> tuple[str, ...]:
    """The values of ``key``; ``replay_params`` adds what the key reads when a recorded session is given."""
    if key in kpi.sweep:
        return kpi.sweep[key]
    extra = kpi.replay_params.get(key)
    return kpi.params[key] if extra is None else (*kpi.params[key], extra)


def _cut(kpi: Kpi, key: str, values: tuple[str, ...]) -> Kpi:
    """``kpi`` with ``values`` of ``key`` alone."""
    if key in kpi.sweep:
        return replace(kpi, sweep={key: values})
    return replace(kpi, params={**kpi.params, key: values})


def narrowed(chosen: Sequence[Kpi], key: str, values: Sequence[str]) -> list[Kpi]:
    """``chosen`` with ``key`` cut down to ``values``.

    A KPI without the key stays as it is; one that has the key and none of the values drops out.

    Raises:
        SelectionError: no KPI has the key, or none has one of the values.
    """
    having = [kpi for kpi in chosen if key in kpi.params or key in kpi.sweep]
    if not having:
        known = dict.fromkeys(name for kpi in chosen for name in (*kpi.params, *kpi.sweep))
        hint = f"the parameters are {', '.join(known)}" if known else "what is selected has no parameters"
        raise SelectionError(
            f"No selected KPI has a parameter named {key}{did_you_mean(key, known)}; {hint}: "
            f"try `python -m harness explain {chosen[0].id}`."
        )
    known_values = dict.fromkeys(value for kpi in having for value in _allowed(kpi, key))
    for value in values:
        if value not in known_values:
            raise SelectionError(
                f"The parameter {key} has no value {value}{did_you_mean(value, known_values)}; it takes "
                f"{', '.join(known_values)}: try `python -m harness explain {having[0].id}`."
            )
    kept = {kpi.id: tuple(value for value in _allowed(kpi, key) if value in values) for kpi in having}
    return [_cut(kpi, key, kept[kpi.id]) if kpi.id in kept else kpi for kpi in chosen if kept.get(kpi.id, True)]
