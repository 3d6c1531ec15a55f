"""Which engines have the switches that are set: none of them is ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ouzel.errors import OuzelError, did_you_mean
from ouzel.physical.contract import Engine, Engines


def check_switches(engines: Engines, tuning: Mapping[str, str]) -> None:
    """Refuse a switch that no engine has, and what it cannot be set to."""
    switches = {switch.name: switch.values for engine in engines for switch in engine.switches}
    for name, value in tuning.items():
        if name not in switches:
            hint = did_you_mean(str(name), switches)
            raise OuzelError(
                f"tuning: required some of {', '.join(switches)}; got '{name}'"
                + (f"\n  hint: {hint}" if hint else "")
            )
        if value not in switches[name] and (switches[name] or not isinstance(value, str)):
            raise OuzelError(f"{name}: required {_one_of(switches[name])}; got {value!r}")


def engines_with(engines: Engines, tuning: Mapping[str, str], requested: Engine | None) -> Engines:
    """Those that have all switches that are set, or the one that was asked for; an error if there are none."""
    having = tuple(engine for engine in (engines if requested is None else (requested,)) if _has(engine, tuning))
    if having:
        return having
    if requested is not None:
        name = next(name for name in tuning if not _has(requested, (name,)))
        owner = owner_of(engines, name)
        raise OuzelError(
            f"tuning '{name}': it is a switch of the {owner}, and the engine {requested.name} was asked for\n"
            f'  hint: engine="{owner}", or leave out {name}'
        )
    told = ", ".join(f"{name} of the {owner_of(engines, name)}" for name in tuning)
    raise OuzelError(f"tuning: required switches of one engine; got {told}")


def owner_of(engines: Engines, name: str) -> str:
    """The engine that has a switch."""
    return next(engine.name for engine in engines if _has(engine, (name,)))


def _has(engine: Engine, names: Mapping[str, str] | Sequence[str]) -> bool:
    return {switch.name for switch in engine.switches}.issuperset(names)


def _one_of(values: Sequence[str]) -> str:
    return f"one of {', '.join(values)}" if values else "a text"
