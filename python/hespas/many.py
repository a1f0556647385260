"""Several runs: set side by side block by block, or as a table over a product of choices."""
from __future__ import annotations

import concurrent.futures
import functools
import itertools
import json
import os
import pathlib
from typing import Any, Iterable

from hespas import _core, _jax
from hespas.errors import HespasError
from hespas.pipeline import run
from hespas.program import Program, load
from hespas.result import RunResult, rows_as_html

_VARIED = {"devices": "device", "systems": "system", "estimators": "estimator", "optimisations": "optimise"}
_CALLED = {"optimise": "optimisation"}  # as `hespas compare` names what differs


class Comparison:
    """Runs side by side; the first is what the others are compared with. Times are exact picoseconds in `to_dict()`.

    dimension           what differs: "device", "system", "device, system", ...
    labels              a name for each side
    largest_difference  of a step time from the first, in percent of the first
    """

    def __init__(self, core: _core.Comparison):
        self._core = core

    @property
    def dimension(self) -> str:
        return self._core.dimension

    @property
    def labels(self) -> list[str]:
        return self._core.labels

    @property
    def largest_difference(self) -> float:
        return self._core.largest_difference()

    @functools.cached_property
    def _json(self) -> dict[str, Any]:
        return json.loads(self._core.json())

    def to_dict(self) -> dict[str, Any]:
        """What `hespas compare --format json` prints."""
        return json.loads(self._core.json())

    def to_pandas(self, table: str = "sides") -> Any:
        """A DataFrame: "sides" (a row each), or with a column of picoseconds for each side "kinds", "groups" (equal blocks) or "blocks"."""
        frame = _jax.pandas().DataFrame
        if table == "sides":
            return frame(self._json["sides"])
        if table not in ("kinds", "groups", "blocks"):
            _core.error("E0955", f"there is no table `{table}`", "it is one of sides, kinds, groups, blocks")
        return frame([{**{key: row[key] for key in ("op", "kind", "shapes", "matched")}, **dict(zip(self.labels, row["time_ps"]))}
                      for row in self._json[table]])

    def report(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the comparison as one HTML file that needs nothing else. Returns the path."""
        pathlib.Path(path).write_text(self._core.page())
        return pathlib.Path(path)

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<hespas.Comparison of {self.dimension}: {', '.join(self.labels)}>"

    def _repr_html_(self) -> str:
        shown = ("label", "step_time_s", "compute_time_ps", "exposed_communication_ps", "ratio")
        return rows_as_html([{key: side[key] for key in shown} for side in self._json["sides"]])


def compare(*inputs: Any, measured: Any = None, labels: Iterable[str] | None = None, devices: Any = None, systems: Any = None,
            estimators: Any = None, optimisations: Any = None, **options: Any) -> Comparison:
    """Sets runs side by side, block by block: `hespas compare`.

    inputs    two or more `RunResult` or paths of result.json files; or one or more programs (whatever `hespas.load` takes), which are run
    devices, systems, estimators, optimisations   lists of what `run` takes; of these and the programs exactly one has two or more
    measured  a profiler's trace (JAX's trace.json.gz, or what torch.profiler exports) of the same step, against the one input
    labels    names of the sides
    options   further arguments of `run`

    Raises E0955 where nothing or more than one thing varies, E0992 for a file that is no result, and what `run` raises.
    """
    choices = {_VARIED[name]: list(values) for name, values in (("devices", devices), ("systems", systems), ("estimators", estimators),
                                                                ("optimisations", optimisations)) if values is not None}
    finished = [_finished(each) for each in inputs]
    if inputs and all(finished):
        if choices or options:
            _core.error("E0955", "finished runs are compared as they are", "leave out devices, systems, estimators, optimisations and options")
        return _side_by_side("", labels or _core.labels(_labels_of(inputs, finished)), finished, measured)
    return _variants([load(each) for each in inputs], choices, labels, measured, options)


def _finished(source: Any) -> Any:
    """The core's result of a RunResult or a result.json; None for a program."""
    if isinstance(source, RunResult):
        return source._core
    if isinstance(source, os.PathLike) or (isinstance(source, str) and source.endswith(".json")):
        path = os.fspath(source)
        return _core.read_result(path) if str(path).endswith(".json") else None
    return None


def _labels_of(inputs: Iterable[Any], results: list[Any]) -> list[str]:
    """Names of finished runs: of their files where all are, else of the first thing that they differ in."""
    if not any(isinstance(each, RunResult) for each in inputs):
        return [os.fspath(each) for each in inputs]
    facts = [json.loads(result.json()) for result in results]
    for key in ("device", "system", "estimator", "optimise"):
        if len({fact[key] for fact in facts}) > 1:
            return [fact[key] for fact in facts]
    return [fact["program"]["path"] for fact in facts]


def _variants(programs: list[Program], choices: dict[str, list[Any]], labels: Iterable[str] | None, measured: Any,
              options: dict[str, Any]) -> Comparison:
    axes = {"program": programs, **choices}
    varying = [name for name, values in axes.items() if len(values) > 1] or (["program"] if measured is not None else [])
    if len(varying) != 1 or not programs:
        _core.error("E0955", "exactly one thing has to vary: " + (", ".join(varying) + " do" if varying else "nothing does"),
                    "give two programs or results, or a list of devices, systems, estimators or optimisations")
    if any(isinstance(each, str) and _core.measures(each) for each in axes.get("estimator", ())):
        # cut alike, as `hespas compare` does
        cut = options.get("split", "auto")
        options = {**options, "split": "linear" if cut == "auto" else cut}
        if "optimise" not in axes and cut != "fusion" and options.get("optimise", "auto") == "auto":
            options["optimise"] = "none"
    sides = [run(**dict(zip(axes, row)), **options) for row in itertools.product(*axes.values())]
    name = varying[0]
    return _side_by_side(_CALLED.get(name, name), labels or _core.labels([_label(value) for value in axes[name]]), [side._core for side in sides], measured)


def _side_by_side(dimension: str, labels: Iterable[str], results: list[Any], measured: Any) -> Comparison:
    if measured is not None:
        if len(results) != 1:
            _core.error("E0955", f"{len(results)} runs against one trace", "give one run, program or result.json")
        return Comparison(_core.compare_measured(results[0], os.fspath(measured)))
    names = [str(label) for label in labels]
    if len(names) != len(results) or len(results) < 2:
        _core.error("E0955", f"{len(results)} runs with {len(names)} labels", "two or more runs are compared, each with its label")
    return Comparison(_core.compare(dimension, names, results))


def _label(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    return str(value if isinstance(value, (int, float, bool)) else getattr(value, "name", None) or type(value).__name__)


class SweepResult:
    """The points of a sweep in the order of the product, the last axis fastest. Iterating gives a dict for each point: the choices, and
    either `result` (a `RunResult`) or `error` (a `HespasError`)."""

    def __init__(self, points: list[dict[str, Any]], axes: list[str]):
        self.points = points
        self.axes = axes

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Any:
        return iter(self.points)

    def __getitem__(self, at: int) -> dict[str, Any]:
        return self.points[at]

    def best(self) -> dict[str, Any]:
        """The point with the shortest step; ValueError where none could be run."""
        return min((point for point in self.points if "result" in point), key=lambda point: point["result"].step_time_ps)

    def to_dict(self) -> list[dict[str, Any]]:
        """A row for each point: the choices by name, the figures of result.json that are one value, and `error`, None where there is none."""
        return [{**{key: value for key, value in (point["result"].to_dict() if "result" in point else {}).items()
                    if not isinstance(value, (dict, list))},
                 **{axis: _label(point[axis]) for axis in self.axes}, "error": str(point["error"]) if "error" in point else None}
                for point in self.points]

    def to_pandas(self) -> Any:
        """A DataFrame with the rows of `to_dict`."""
        return _jax.pandas().DataFrame(self.to_dict())

    def __repr__(self) -> str:
        failed = sum("error" in point for point in self.points)
        return f"<hespas.SweepResult of {len(self)} points over {', '.join(self.axes)}" + (f", {failed} failed>" if failed else ">")

    def _repr_html_(self) -> str:
        figures = ("step_time_s", "compute_time_s", "exposed_communication_s", "fits_in_memory", "error")
        return rows_as_html([{**{axis: row[axis] for axis in self.axes}, **{key: row.get(key) for key in figures}} for row in self.to_dict()])


def sweep(programs: Any, devices: Any = None, systems: Any = None, *, threads: int | None = None, **options: Any) -> SweepResult:
    """Runs the product of programs, devices, systems and whichever other arguments of `run` are lists.

    programs  one (whatever `hespas.load` takes) or a list of them; each is read once
    devices, systems   one or a list; of systems None or "auto" is one node of the device
    threads   points at a time; default: as many as there are processors

    A point that cannot be run is a row with its error; the others go on. Raises what `load` raises, TypeError for an argument that `run`
    has not; KeyboardInterrupt on Ctrl-C, behind the points that are under way.
    """
    listed = {"program": programs if isinstance(programs, (list, tuple)) else [programs], "device": devices, "system": systems, **options}
    axes = {name: list(value) if isinstance(value, (list, tuple)) else [value] for name, value in listed.items()}
    axes["program"] = [load(each) for each in axes["program"]]
    varied = [name for name, values in axes.items() if len(values) > 1] or ["program"]
    choices = [dict(zip(axes, row)) for row in itertools.product(*axes.values())]
    pool = concurrent.futures.ThreadPoolExecutor(threads or os.cpu_count())
    try:
        points = list(pool.map(_point, choices))
    finally:
        pool.shutdown(cancel_futures=True)
    return SweepResult(points, varied)


def _point(choice: dict[str, Any]) -> dict[str, Any]:
    try:
        return {**choice, "result": run(**choice)}
    except HespasError as error:
        return {**choice, "error": error}
