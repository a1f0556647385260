"""Whole training runs: `hespas goodput` from Python."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any

from hespas._answers import answer_of
from hespas.pipeline import _device_text, _system_text
from hespas.program import load


def goodput(program: Any, device: Any, *, tokens: float, devices: int | None = None, system: Any = None, report: Any = None,
            estimator: str = "calibrated", optimise: str = "auto", **settings: Any) -> dict[str, Any]:
    """What a training run of many steps takes: days, failures, energy, money, each with percentiles.

    program   whatever `hespas.load` takes; or a path
    tokens    (or samples) that the run works through
    devices   carries the program over to that many
    report    path of a page (HTML) with the waterfall, sensitivities and numbers of devices
    settings  every option of `hespas goodput` with underscores: spares=4, mtbf="12h", checkpoint="tiers", repair_time="2 d", price=2.5, ...
              (docs/goodput.md lists them with their defaults and sources)

    Returns what `hespas goodput --format json` prints: `wall_clock_s`, `goodput`, `energy_j`, `waterfall`, ... Raises UsageError or
    InputError for what the command refuses.
    """
    with tempfile.TemporaryDirectory() as place:
        path = os.fspath(program) if isinstance(program, (str, os.PathLike)) else os.path.join(place, "program.mlir")
        if not isinstance(program, (str, os.PathLike)):
            pathlib.Path(path).write_bytes(bytes(load(program)))
        named = {"tokens": repr(tokens), "device": _device_text(device), "estimator": estimator, "optimise": optimise, "devices": devices,
                 "system": None if system is None else _system_text(system), "output": None if report is None else os.fspath(report), **settings}
        words = [f"--{name.replace('_', '-')}={value}" for name, value in named.items() if value is not None]
        return json.loads(answer_of(["goodput", path, "--quiet", "--format", "json", *words]))
