"""Names and dispositions of refusals: code to name and back, and the reasons that others register.

An unknown code still has a printable name, ``REASON_<code>``; an unknown *name* is refused and never coerced to some
code, since a policy with a misspelt reason must not load.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from seams.contract.verdict import Disposition, ReasonCode

__all__ = [
    "FIRST_REGISTERED",
    "UnknownReasonError",
    "disposition",
    "reason_code",
    "reason_name",
    "reason_names",
    "register_reason",
]

FIRST_REGISTERED = 1024
"""Codes below are reserved for the core."""

_DISPOSITION: Mapping[int, Disposition] = MappingProxyType(
    {
        ReasonCode.MISROUTE: Disposition.RETRYABLE,
        ReasonCode.MALFORMED: Disposition.RETRYABLE,
        ReasonCode.RATE_LIMITED: Disposition.WAIT,
        ReasonCode.LEASE_HELD: Disposition.WAIT,
        ReasonCode.SELF_MODIFY: Disposition.ESCALATE,
        ReasonCode.TRUST_VIOLATION: Disposition.ESCALATE,
    }
)
_CORE_NAME: Mapping[int, str] = MappingProxyType({code.value: code.name for code in ReasonCode})
_CORE_CODE: Mapping[str, int] = MappingProxyType({code.name: code.value for code in ReasonCode})
_registered: dict[int, tuple[str, Disposition]] = {}


class UnknownReasonError(LookupError):
    """A name that is no reason, or a registration that would change the meaning of one."""


def register_reason(code: int, name: str, how: Disposition = Disposition.TERMINAL) -> None:
    """Add an out-of-tree reason, once and for the process; the same registration again changes nothing.

    Raises:
        UnknownReasonError: the code is in the core's range, or code or name already mean something else.
    """
    if code < FIRST_REGISTERED:
        raise UnknownReasonError(f"Reason {name} wants code {code}; out-of-tree codes begin at {FIRST_REGISTERED}.")
    if not name.isidentifier() or name != name.upper() or name.startswith("REASON_"):
        raise UnknownReasonError(f"A reason is named in capitals and not REASON_<n>; {name!r} is not.")
    if _registered.get(code) == (name, how):
        return
    if code in _registered or name in reason_names() or name == ReasonCode.NONE.name:
        raise UnknownReasonError(f"Reason {name} ({code}) is already registered with another meaning.")
    _registered[code] = (name, how)


def reason_name(code: int) -> str:
    """The name of ``code``: core, then registered, then ``REASON_<code>``."""
    name = _CORE_NAME.get(code)
    if name is not None:
        return name
    registered = _registered.get(code)
    return registered[0] if registered is not None else f"REASON_{int(code)}"


def reason_code(name: str) -> int:
    """The code of ``name``.

    Raises:
        UnknownReasonError: nobody knows the name.
    """
    code = _CORE_CODE.get(name)
    if code is not None:
        return ReasonCode(code)
    for registered, (known, _) in _registered.items():
        if known == name:
            return registered
    raise UnknownReasonError(f"There is no reason {name!r}; the known ones are {', '.join(reason_names())}.")


def reason_names() -> tuple[str, ...]:
    """Every known name in alphabetical order, without NONE."""
    core = (name for name in _CORE_CODE if name != ReasonCode.NONE.name)
    return tuple(sorted([*core, *(name for name, _ in _registered.values())]))


def disposition(code: int) -> Disposition:
    """What the caller may do about a refusal with ``code``; whatever nobody said otherwise is terminal."""
    core = _DISPOSITION.get(code)
    if core is not None:
        return core
    registered = _registered.get(code)
    return registered[1] if registered is not None else Disposition.TERMINAL
