"""Estimators in Python, through the interface of the built-in ones."""
from __future__ import annotations

import abc
import dataclasses
import math
import uuid
from typing import Any

from hespas import _core


def names() -> dict[str, str]:
    """The built-in estimators, with what each does."""
    return dict(_core.estimator_names())


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What one operation costs: seconds (with their standard deviation), floating-point operations and bytes moved."""

    time_s: float
    flops: int = 0
    bytes: int = 0
    sigma_s: float = 0.0


def _checked(answer: Any, op: Any) -> Estimate:
    if isinstance(answer, _core.RawEstimate):
        answer = Estimate(answer.time_s, answer.flops, answer.bytes, answer.sigma_s)
    elif isinstance(answer, (int, float)) and not isinstance(answer, bool):
        answer = Estimate(float(answer), op.flops, op.bytes)
    if not isinstance(answer, Estimate):
        _core.error("E0953", f"the estimate of {op.name} is a {type(answer).__name__}", "return hespas.Estimate or seconds")
    for name in ("time_s", "flops", "bytes", "sigma_s"):
        figure = getattr(answer, name)
        if not isinstance(figure, (int, float)) or not 0 <= figure < 2**62 or math.isnan(figure):
            _core.error("E0953", f"the estimate of {op.name} has {name} = {figure!r}", "figures are finite and not negative")
    return dataclasses.replace(answer, flops=int(answer.flops), bytes=int(answer.bytes))


class Estimator(abc.ABC):
    """Base of estimators written in Python: `hespas.run(program, device, estimator=MyEstimator())`.

    Derive and implement `estimate_op`. Loops, branches and calls are summed around it as for any estimator; it is called once
    for each operation of each distinct block, from one thread at a time. `version` names the model in the key of cached
    estimates (`cache=FILE`); without one, nothing is reused across processes.
    """

    version: str | None = None

    @property
    def name(self) -> str:
        """What results call it; by default the class's name."""
        return type(self).__name__

    @abc.abstractmethod
    def estimate_op(self, op: _core.Op) -> Estimate | float:
        """The cost of one operation, as `Estimate` or in seconds.

        `op` has name, operand_types, result_types, attribute_items, flops, bytes and text, and is valid during this call.
        """

    def key(self) -> str:
        identity = f"{type(self).__module__}.{type(self).__qualname__}"
        return f"{identity}:{self.version if self.version is not None else uuid.uuid4()}"

    def priced(self, op: _core.Op) -> Estimate:
        """`estimate_op`, checked: E0953 for anything that is no cost."""
        return _checked(self.estimate_op(op), op)


class BuiltIn(Estimator):
    """A built-in estimator on a device, to delegate to from a Python one: `BuiltIn("roofline", "H100_80GB")`."""

    def __init__(self, name: str, device: Any):
        from hespas.hardware import Device

        self._core = _core.built_in_estimator(name, Device.of(device).json())

    @property
    def name(self) -> str:
        return self._core.name

    def key(self) -> str:
        return self._core.key()

    def estimate_op(self, op: _core.Op) -> Estimate:
        raw = self._core.estimate_op(op)
        return Estimate(raw.time_s, raw.flops, raw.bytes, raw.sigma_s)
