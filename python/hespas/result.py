"""Results: attributes, dicts, tables, and how they look in a notebook."""
from __future__ import annotations

import functools
import html
import json
import os
import pathlib
import shutil
import tempfile
from typing import Any

from hespas import _core, _jax
from hespas.errors import Diagnostic, diagnostics


def rows_as_html(rows: list[dict[str, Any]]) -> str:
    """An HTML table; the keys of the first row are its head."""
    head = "".join(f"<th>{html.escape(str(key))}</th>" for key in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))


class EstimateResult:
    """What a program's computation costs on one device.

    device, estimator        their names
    time                     seconds, summed over all blocks; `time_ps` is the exact count of picoseconds
    flops, bytes_accessed    floating-point operations; bytes moved from and to memory
    ops                      the rows of `hespas estimate`: name, count, time_s, flops, bytes - costliest first
    warnings                 what had to be assumed
    """

    def __init__(self, program: Any, core: _core.Estimated):
        self.program = program
        self._core = core
        self.device: str = core.device
        self.estimator: str = core.estimator
        self.time: float = core.time_s
        self.time_ps: int = core.time_ps
        self.flops: int = core.flops
        self.bytes_accessed: int = core.bytes
        self.ops: list[dict[str, Any]] = json.loads(core.ops)

    @property
    def warnings(self) -> list[Diagnostic]:
        return diagnostics(self._core.warnings)

    def to_dict(self) -> dict[str, Any]:
        """All figures, as JSON can hold them."""
        return {"program": {"path": self.program.name, "sha256": self.program.sha256, "ops": self.program.ops}, "device": self.device,
                "estimator": self.estimator, "time_s": self.time, "time_ps": self.time_ps, "flops": self.flops,
                "bytes_accessed": self.bytes_accessed, "ops": self.ops,
                "warnings": [{"code": w.code, "message": w.message, "location": w.location or None} for w in self.warnings]}

    def to_pandas(self) -> Any:
        """A DataFrame with one row an operation name."""
        return _jax.pandas().DataFrame(self.ops)

    def __repr__(self) -> str:
        return f"<hespas.EstimateResult {self.program.name} on {self.device}: {self.time:.6g} s>"

    def _repr_html_(self) -> str:
        title = f"{self.program.name} on {self.device} ({self.estimator}): {_seconds(self.time)}"
        return f"<p><b>{html.escape(title)}</b></p>" + (rows_as_html(self.ops[:10]) if self.ops else "")


def _seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-12:.3g} ps"


class RunResult:
    """The answer of `hespas.run`: figures of the slowest device.

    step_time, compute_time, communication_time, exposed_communication, overlap, idle    seconds; each also as `..._ps`, exact
    step_time_sigma                            seconds, None where unknown
    flops, bytes_accessed                      of one step and device
    flops_utilisation, memory_bandwidth_utilisation    shares of the device's peak
    model_flops_utilisation, hardware_flops_utilisation    MFU (None where the program hides recomputation) and HFU
    throughput                                 dict: unit, per_step, per_second, ... of all devices and of one; None where unknown
    tokens_per_s_per_device                    None where the program does not tell
    unknown_kernels                            list of dicts: kernels without a known cost and their share of operations and bytes
    peak_memory_bytes, fits_in_memory, energy_j        None where unknown
    energy_j_per_million, cost_per_million     of a million tokens or samples; None without batch or price
    what_if                                    list of dicts: name, options, step_time_ps, estimated
    network_model                              "calibrated", "plain", ...; None without a network
    device, system, npus, estimator, optimise, split   what was run
    blocks                                     dict: total, unique, compute, communication
    collectives, ops                           lists of dicts, costliest first
    warnings                                   list of dicts: code, message, location

    `to_dict()` is `hespas run --format json`, with the same keys and values.
    """

    _SECONDS = {"step_time": "step_time_s", "step_time_sigma": "step_time_sigma_s", "compute_time": "compute_time_s",
                "communication_time": "communication_time_s", "exposed_communication": "exposed_communication_s",
                "overlap": "overlap_s", "idle": "idle_s"}

    def __init__(self, program: Any, options: _core.Options, core: _core.RunResult):
        self.program = program
        self._options = options
        self._core = core

    @functools.cached_property
    def _json(self) -> dict[str, Any]:
        return json.loads(self._core.json())

    def __getattr__(self, name: str) -> Any:
        key = self._SECONDS.get(name, name)
        if name.startswith("_") or key not in self._json:
            raise AttributeError(f"RunResult has no attribute {name!r}")
        return self._json[key]

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self._SECONDS, *self._json])

    def to_dict(self) -> dict[str, Any]:
        """The object of result.json (schema_version 1)."""
        return json.loads(self._core.json())

    def to_json(self) -> str:
        """The text of result.json."""
        return self._core.json()

    def to_pandas(self, table: str = "summary") -> Any:
        """A DataFrame: "summary" (one row), "ops" or "collectives"."""
        frame = _jax.pandas().DataFrame
        if table in ("ops", "collectives"):
            return frame(self._json[table])
        if table != "summary":
            _core.error("E0955", f"there is no table `{table}`", "it is one of summary, ops, collectives")
        flat = {key: value for key, value in self._json.items() if not isinstance(value, (dict, list))}
        return frame([{"program": self.program.name, **flat}])

    def report(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the report as one HTML file that needs nothing else; runs the pipeline once more. Returns the path."""
        return self._output("report.html", path)

    def timeline(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the timeline for ui.perfetto.dev; runs the pipeline once more. Returns the path."""
        return self._output("timeline.pftrace", path)

    def _output(self, name: str, path: str | os.PathLike[str]) -> pathlib.Path:
        with tempfile.TemporaryDirectory(prefix="hespas-") as folder:
            _core.write(self.program._core, self._options, folder)
            made = pathlib.Path(folder) / name
            if not made.exists():
                _core.error("E0956", f"this build of Hespas writes no {name}")
            return pathlib.Path(shutil.copyfile(made, path))

    def __repr__(self) -> str:
        return f"<hespas.RunResult {self.program.name} on {self.npus} x {self.device}: {self.step_time:.6g} s>"

    def __str__(self) -> str:
        return self._core.summary()

    def _repr_html_(self) -> str:
        r = self._json
        title = f"{self.program.name} on {r['npus']} x {r['device']} ({r['system'] or 'no network'})"
        share = r["step_time_s"] or 1.0
        rows = [{"": label, "time": _seconds(r[key]), "share": f"{100 * r[key] / share:.1f} %"}
                for label, key in (("step", "step_time_s"), ("compute", "compute_time_s"),
                                   ("exposed communication", "exposed_communication_s"), ("idle", "idle_s"))]
        rows += [{"": label, "time": figure, "share": note} for label, figure, note in self._core.efficiency()]
        ops = [{key: _seconds(value) if key == "time_s" else ", ".join(value) if isinstance(value, dict) else value
                for key, value in op.items()} for op in r["ops"][:10]]
        notes = "".join(f"<li>{html.escape(w['code'])}: {html.escape(w['message'])}</li>" for w in r["warnings"][:10])
        return f"<p><b>{html.escape(title)}</b></p>{rows_as_html(rows)}" + (rows_as_html(ops) if ops else "") + (f"<ul>{notes}</ul>" if notes else "")
