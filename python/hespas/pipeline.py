"""The calls that do the work; each is what the command of the same name does."""
from __future__ import annotations

import os
from typing import Any, Sequence, Unpack

from hespas import _core
from hespas.estimators import Estimator
from hespas.hardware import Device, System
from hespas.program import Histogram, load
from hespas.result import EstimateResult, RunResult
from hespas.tools import Tools, set_tools

_CHOICES = {
    "optimise": ("auto", "none", "xla-gpu", "xla-tpu", "xla-cpu", "xla"),
    "split": ("auto", "linear", "individual", "fusion"),
    "network_backend": ("analytical", "analytical-aware", "simgrid", "none"),
    "network_model": ("auto", "plain", "calibrated"),
    "overlap": ("program", "perfect"),
    "compat": (None, "prototype"),
    "dataflow": ("ws", "os"),
}


def _check(name: str, value: Any) -> Any:
    if value not in _CHOICES[name]:
        known = ", ".join(str(choice) for choice in _CHOICES[name])
        _core.error("E0955", f"{name} is {value!r}", f"it is one of {known}")
    return value


def _count(name: str, value: int, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**32:
        _core.error("E0955", f"{name} is {value!r}", f"it is a whole number of at least {least}")
    return value


def _texts(values: str | Sequence[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def _device_text(device: Any) -> str:
    return device.json() if isinstance(device, Device) else os.fspath(device) if not isinstance(device, dict) else Device.of(device).json()


def _system_text(system: Any) -> str:
    return system.json() if isinstance(system, System) else os.fspath(system) if not isinstance(system, dict) else System.of(system).json()


def _set_estimator(options: _core.Options, estimator: Any) -> None:
    if isinstance(estimator, Estimator):
        options.set_estimator(estimator)
    elif isinstance(estimator, str):
        options.estimator = estimator
    else:
        _core.error("E0955", f"estimator is a {type(estimator).__name__}", "give a name or an object of a class derived from hespas.Estimator")


def _options(device: Any, estimator: Any, choices: dict[str, Any]) -> _core.Options:
    options = _core.Options()
    if device is not None:
        options.device = _device_text(device)
    _set_estimator(options, estimator)
    for name, value in choices.items():
        if name in _CHOICES:
            _check(name, value)
    options.fallback, options.dataflow = choices["fallback"], choices["dataflow"]
    options.optimise, options.split, options.merge = choices["optimise"], choices["split"], bool(choices["merge"])
    options.block_limit = _count("block_limit", choices["block_limit"], 1)
    options.separator = choices["separator"]
    options.xla_flags = _texts(choices["xla_flags"])
    options.changes, options.flash_attention = _texts(choices["changes"]), bool(choices["flash_attention"])
    options.cache = os.fspath(choices["cache"])
    options.compat = choices["compat"] is not None
    options.strict, options.schedule_limit = bool(choices["strict"]), bool(choices["schedule_limit"])
    set_tools(options, choices["tools"])
    options.command_line = "hespas (Python)"
    return options


def analyze(program: Any, *, expand: bool = False, all_regions: bool = False, operand_types: bool = False) -> Histogram:
    """How often each operation of a program occurs; see `Program.analyze`. `program` is whatever `hespas.load` takes."""
    return load(program).analyze(expand=expand, all_regions=all_regions, operand_types=operand_types)


def estimate(program: Any, device: Any = None, *, estimator: str | Estimator = "calibrated", fallback: str = "calibrated",
             dataflow: str = "ws", optimise: str = "auto", split: str = "auto", merge: bool = False, block_limit: int = 1024,
             separator: str = "communication", xla_flags: Sequence[str] = (), changes: Sequence[str] = (),
             flash_attention: bool = False, cache: Any = "memory", compat: str | None = None, strict: bool = False,
             schedule_limit: bool = False, **tools: Unpack[Tools]) -> EstimateResult:
    """What a program's computation costs on one device, without a network: `hespas estimate`.

    program    whatever `hespas.load` takes
    device     name of a preset, path, `Device` or dict of its fields; None: A100_SXM_80GB
    estimator  name of a built-in one (`hespas.estimators.names()`) or an `Estimator` object
    fallback   built-in estimator that costs what `estimator` cannot; `dataflow`: "ws" or "os", of scalesim
    optimise   what XLA would do first: "auto" (unless already optimised), "none", "xla-gpu", "xla-tpu", "xla-cpu"; "xla": XLA's own compiler
    split, merge, block_limit, separator   how blocks are cut
    xla_flags  of XLA's GPU compiler that the optimiser follows, as "--xla_gpu_enable_triton_gemm=true"; with "xla" any
    changes    of figures of the device (and network), as "device.memory_bandwidth=2x"
    flash_attention   attention scores never leave the chip
    cache      where estimates are kept: a file, "memory" (equal blocks of this call) or "none"
    compat     "prototype": the Python prototype's choices and defects
    strict     an operation without a cost rule is an error
    schedule_limit   a program that does not fit gets XLA's schedule under the device's memory limit
    tools      of estimators that measure or drive outside tools: see `hespas.tools.Tools`

    Raises InputError, UsageError; KeyboardInterrupt on Ctrl-C; what a Python estimator raises.
    """
    options = _options(device, estimator, locals())
    loaded = load(program)
    return EstimateResult(loaded, _core.estimate(loaded._core, options))


def run(program: Any, device: Any = None, system: Any = None, *, num_npus: int | None = None, network_backend: str = "analytical",
        network_model: str = "auto", overlap: str = "program", output: Any = None, rank_devices: Sequence[str] = (),
        trip_count: int | None = None, branch_probabilities: Sequence[float] = (), moe_imbalance: float = 1.0, require_fit: bool = False,
        estimator: str | Estimator = "calibrated", fallback: str = "calibrated", dataflow: str = "ws",
        optimise: str = "auto", split: str = "auto", merge: bool = False, block_limit: int = 1024, separator: str = "communication",
        xla_flags: Sequence[str] = (), changes: Sequence[str] = (), flash_attention: bool = False, cache: Any = "memory",
        compat: str | None = None, strict: bool = False, schedule_limit: bool = False, **tools: Unpack[Tools]) -> RunResult:
    """Predicts the step time of a program on devices and a network: `hespas run`.

    system           name of a preset, path, `System` or dict of its fields; None or "auto": one node of the device
    num_npus         devices; by default what the program's replica groups imply
    network_backend  "analytical", "analytical-aware" (of congestion), "simgrid" (flows) or "none"
    network_model    times of collectives: "plain" (ASTRA-sim's), "calibrated", or "auto" (calibrated with that estimator)
    overlap          what lets communication hide: the "program"'s dependencies, or "perfect": nothing waits for it
    rank_devices     devices of single NPUs that differ, as "0-1=H100_80GB"
    trip_count       iterations of loops whose number is not in the program; None: once, with a warning
    branch_probabilities   how often each branch of a conditional is taken; empty: the most expensive counts
    moe_imbalance    load of the busiest device over the mean, for experts' ragged matmuls and all-to-alls
    require_fit      a program that needs more memory than the device has is an error
    output           folder for Chakra traces, statistics and result.json; None: nothing is written

    The other arguments are those of `estimate`. Raises also E0905 and E0906 where program and system do not fit.
    """
    options = _options(device, estimator, locals())
    if system is not None:
        options.system = _system_text(system)
    if num_npus is not None:
        options.num_npus = _count("num_npus", num_npus, 1)
    options.network_backend, options.network_model, options.overlap = network_backend, network_model, overlap
    options.rank_devices, options.require_fit = _texts(rank_devices), bool(require_fit)
    options.assume(-1 if trip_count is None else _count("trip_count", trip_count, 0), [float(p) for p in branch_probabilities], float(moe_imbalance))
    if output is not None:
        options.output = os.fspath(output)
    loaded = load(program)
    return RunResult(loaded, options, _core.run(loaded._core, options))
