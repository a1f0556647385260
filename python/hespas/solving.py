"""Questions with a target: `hespas solve` from Python."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any, Sequence

from hespas._answers import answer_of
from hespas.pipeline import _device_text, _system_text, _texts
from hespas.program import load

_NOT_MET = 6


def solve(program: Any, device: Any, *, find: str, until: str, between: str | None = None, system: Any = None, retarget: int | None = None,
          changes: str | Sequence[str] = (), bind: str | Sequence[str] = (), estimator: str = "calibrated", optimise: str = "auto") -> dict[str, Any]:
    """The value of a setting from which on a target is met: `hespas solve`.

    program   whatever `hespas.load` takes; or a path
    find      "system.bandwidth[1]" or any other figure that `changes` takes, "devices", "batch", or "bind.NAME"
    until     a result, < or >, and a quantity: "exposed_communication < 10 %" (of a time, % means of the step time), "mfu > 40 %"
    between   "FROM,TO" to search in

    Returns what `hespas solve --format json` prints: `met`, `value`, `result`, `slope`, `points`, ... Where no value meets the target, `met`
    is False and `value` the nearest miss. Raises UsageError or InputError for what the command refuses.
    """
    with tempfile.TemporaryDirectory() as place:
        path = os.fspath(program) if isinstance(program, (str, os.PathLike)) else os.path.join(place, "program.mlir")
        if not isinstance(program, (str, os.PathLike)):
            pathlib.Path(path).write_bytes(bytes(load(program)))
        words = ["solve", path, "--quiet", "--format", "json", "--device", _device_text(device), "--find", find, "--until", until,
                 "--estimator", estimator, "--optimise", optimise]
        for option, value in (("--between", between), ("--retarget", retarget), ("--system", None if system is None else _system_text(system))):
            words += [option, str(value)] if value is not None else []
        words += [word for change in _texts(changes) for word in ("--set", change)] + [word for size in _texts(bind) for word in ("--bind", size)]
        return json.loads(answer_of(words, (0, _NOT_MET)))
