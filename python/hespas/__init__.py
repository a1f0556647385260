"""Predicts how fast a distributed machine-learning program runs on a device and a network.

    import hespas
    result = hespas.run(jax.jit(step).lower(x), device="H100_80GB")
    print(result.step_time, result)

Programs are what compilers read: StableHLO or HLO, from a file, bytes, or JAX's Lowered, Compiled and Exported objects. All times are
seconds, sizes bytes, rates per second; results are those of the `hespas` command, bit for bit. Calls release the GIL, may run in
several threads at once, and end with KeyboardInterrupt on Ctrl-C. Failures raise subclasses of `HespasError` (see `hespas.errors`).
"""
from __future__ import annotations

import os
import pathlib

from hespas import _core

_SHARED = pathlib.Path(__file__).resolve().parent / "share" / "hespas"
if _SHARED.is_dir():
    _core.set_data_folder(os.fspath(_SHARED))

from hespas import errors  # noqa: E402  (needs the data folder)
from hespas.errors import (CannotRunError, Diagnostic, HespasError, InputError, InternalError, ToolError,  # noqa: E402
                           UnsupportedError, UsageError)
from hespas.estimators import BuiltIn, Estimate, Estimator  # noqa: E402
from hespas.hardware import Device, System, devices, systems  # noqa: E402
from hespas.program import Histogram, Program, load  # noqa: E402
from hespas.result import EstimateResult, RunResult  # noqa: E402
from hespas.pipeline import analyze, estimate, run  # noqa: E402
from hespas.many import Comparison, SweepResult, compare, sweep  # noqa: E402
from hespas.long_runs import goodput  # noqa: E402
from hespas.planning import Plan, PlanRow, plan  # noqa: E402
from hespas.solving import solve  # noqa: E402
from hespas.sweeps import SweepTable, read_sweep, sweep_file  # noqa: E402

__version__: str = _core.version

__all__ = ["BuiltIn", "CannotRunError", "Comparison", "Device", "Diagnostic", "Estimate", "EstimateResult", "Estimator", "HespasError", "Histogram",
           "InputError", "InternalError", "Plan", "PlanRow", "Program", "RunResult", "SweepResult", "SweepTable", "System", "ToolError", "UnsupportedError", "UsageError", "analyze",
           "compare", "devices", "errors", "estimate", "goodput", "load", "plan", "read_sweep", "run", "solve", "sweep",
           "sweep_file", "systems"]
