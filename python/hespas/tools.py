"""Options of estimators that drive outside tools or measure, by the names of the command's."""
from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypedDict

from hespas import _core

if TYPE_CHECKING:
    PathText = str | os.PathLike[str]


class Tools(TypedDict, total=False):
    """Further arguments of `hespas.run` and `hespas.estimate`; docs/profiling.md and docs/estimators.md tell what they mean.

    whole           of pjrt: also run the whole program on this machine's devices (`run` alone; `RunResult.measured_step`)
    plugin          of pjrt: the PJRT plugin; by default found in the Python environment of the first python3 in PATH
    cold            of pjrt: clear the device's caches before each run
    clock           of pjrt and iree, time that counts: "wall" or "cpu"
    at_once         of pjrt: devices that run each block at the same time
    sample          blocks that are measured of each family; 0: all
    budget          seconds after which no further block is measured
    jobs            programs that are compiled at a time
    tool_timeout    seconds that one answer of a tool may take
    tool_memory     GiB of memory that a measuring process may use
    block_compiler, block_runner                                     programs of xla and iree; by default found in PATH
    iree_backend, iree_device, iree_compile_args, iree_run_args      what IREE's programs are told
    tool_path, tool_config, tool_mapping, tool_clock, tool_chips     of simulators: program, hardware, mapping, Hz, chips
    kernel_simulator                                                 of ptx: a program that simulates single kernels
    """

    whole: bool
    plugin: PathText
    cold: bool
    clock: str
    at_once: int
    sample: int
    budget: float
    jobs: int
    tool_timeout: float
    tool_memory: float
    block_compiler: PathText
    block_runner: PathText
    iree_backend: str
    iree_device: str
    iree_compile_args: Sequence[str]
    iree_run_args: Sequence[str]
    tool_path: PathText
    tool_config: PathText
    tool_mapping: PathText
    tool_clock: float
    tool_chips: int
    kernel_simulator: PathText


def _refuse(name: str, value: Any, help_text: str) -> None:
    _core.error("E0955", f"{name} is {value!r}", help_text)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        _refuse(name, value, "it is a number above 0")
    return float(value)


def _whole_number(least: int) -> Callable[[str, Any], int]:
    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
            _refuse(name, value, f"it is a whole number of at least {least}")
        return int(value)

    return check


def _clock(name: str, value: Any) -> str:
    if value not in ("wall", "cpu"):
        _refuse(name, value, "it is one of wall, cpu")
    return str(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("whole", "cold"), lambda _, value: bool(value)),
    **dict.fromkeys(("budget", "tool_timeout", "tool_memory", "tool_clock"), _number),
    **dict.fromkeys(("jobs", "at_once", "tool_chips"), _whole_number(1)),
    "sample": _whole_number(0),
    "clock": _clock,
    **dict.fromkeys(("iree_backend", "iree_device"), lambda _, value: str(value)),
    **dict.fromkeys(("iree_compile_args", "iree_run_args"), lambda _, value: [value] if isinstance(value, str) else [str(v) for v in value]),
}


def set_tools(options: _core.Options, tools: Mapping[str, Any]) -> None:
    """Sets what `tools` names. Raises UsageError for a value that is none, TypeError for a name."""
    for name, value in tools.items():
        if name not in Tools.__annotations__:
            near = difflib.get_close_matches(name, Tools.__annotations__, 1)
            raise TypeError(f"unexpected keyword argument {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        check = _CHECKS.get(name, lambda _, path: os.fspath(path))
        setattr(options, name, check(name, value))
