"""Which parallelism a step should have: `hespas plan` from Python."""
from __future__ import annotations

import json
import math
import os
import pathlib
import tempfile
from typing import Any, Sequence

from hespas import _jax
from hespas._answers import answer_of
from hespas.pipeline import _device_text, _system_text


class PlanRow:
    """One configuration of a plan: its figures as attributes (`step_time_s`, `mfu`, `peak_memory_bytes`, ...), and how to run it in JAX."""

    def __init__(self, row: dict[str, Any]):
        self.row = row

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["row"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def mesh(self) -> Any:
        """A jax.sharding.Mesh of the axes, the outermost first, over jax.devices(): parts between nodes lie outside those within them."""
        import jax
        import numpy as np

        own = self.row["mesh"]
        between, within = own["between_nodes"] or [1] * len(own["shape"]), own["within_nodes"] or own["shape"]  # no parts where nodes cut across axes
        count = math.prod(between) * math.prod(within)
        if len(jax.devices()) < count:
            raise ValueError(f"the plan is for {count} devices, and JAX has {len(jax.devices())}")
        axes = len(between)
        order = [at for axis in range(axes) for at in (axis, axes + axis)]
        numbers = np.arange(count).reshape([*between, *within]).transpose(order).reshape(own["shape"])
        return jax.sharding.Mesh(np.array(jax.devices()[:count], dtype=object)[numbers], tuple(own["axis_names"]))

    @property
    def compiler_options(self) -> dict[str, Any]:
        """For `lowered.compile(compiler_options=...)`: XLA's flags with which the row was estimated."""
        pairs = (flag.removeprefix("--").partition("=")[::2] for flag in self.row["xla_flags"])
        return {name: {"true": True, "false": False}.get(value, int(value) if value.isdigit() else value) for name, value in pairs}

    def __repr__(self) -> str:
        return f"<hespas.PlanRow {self.row['name']}: {self.row['step_time_s']:.4g} s>"


class Plan:
    """The best configurations, the fastest first; `front` is the Pareto front of time and memory, `funnel` counts what was left out and why."""

    def __init__(self, answer: dict[str, Any]):
        self.answer = answer
        self.best = [PlanRow(row) for row in answer["best"]]
        self.front = [PlanRow(row) for row in answer["front"]]
        self.funnel: dict[str, int] = answer["funnel"]
        self.why = PlanRow(answer["why"]) if answer["why"] else None

    def __len__(self) -> int:
        return len(self.best)

    def __getitem__(self, at: int) -> PlanRow:
        return self.best[at]

    def __repr__(self) -> str:
        return f"<hespas.Plan of {len(self)} configurations; {self.best[0]!r}>"


def plan(model: Any, device: Any, devices: int, *, arguments: Sequence[Any] = (), system: Any = None, global_batch: int | str | None = None,
         objective: str = "tokens_per_s", limit: str | None = None, axes: Sequence[str] = (), remat: Sequence[str] = (), schedule: Sequence[str] = (),
         settings: dict[str, Any] | None = None, top: int = 10, evaluations: int = 100, why: str | None = None,
         output: str | os.PathLike[str] | None = None) -> Plan:
    """The best configurations of a training step: `hespas plan`.

    model         a MaxText configuration (YAML), or the name of a model that `hespas export --maxtext --target-devices` knows; "FILE.py:FUNCTION"; a JAX function, jitted or
                  not, or what `jax.jit(f).lower(...)` returns, whose arguments lie on a mesh of any size: its axes are what is searched
    arguments     of the function: arrays or jax.ShapeDtypeStruct with a sharding
    global_batch  sequences of a step, or tokens: "4M tokens"
    limit         "memory=72GB"
    settings      keys of the configuration to set; of a function in a file ("step.py:build") its parameters, of which a list has values to try

    Raises UsageError or InputError for what the command refuses, and ToolError where no configuration fits.
    """
    words = ["--quiet", "--format", "json", "--device", _device_text(device), "--devices", str(devices), "--objective", objective, "--top", str(top),
             "--evaluations", str(evaluations)]
    for option, value in (("--system", None if system is None else _system_text(system)), ("--global-batch", global_batch), ("--limit", limit),
                          ("--why", why), ("--output", output)):
        words += [option, str(value)] if value is not None else []
    for option, values in (("--axes", axes), ("--remat", remat), ("--schedule", schedule)):
        words += [option, ",".join(values)] if values else []
    told = {key: ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value for key, value in (settings or {}).items()}
    words += [word for key, value in told.items() for word in ("--set", f"{key}={value}")]
    if isinstance(model, (str, os.PathLike)):
        if arguments:
            raise ValueError("arguments= is of functions: a model or a program has its own")
        return Plan(json.loads(answer_of(["plan", os.fspath(model), *words])))
    with tempfile.TemporaryDirectory(prefix="hespas-") as folder:
        program = pathlib.Path(folder) / "step.mlir"
        program.write_bytes(_jax.unpartitioned(model, arguments))
        return Plan(json.loads(answer_of(["plan", str(program), *words])))
