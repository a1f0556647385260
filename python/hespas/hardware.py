"""Devices and systems: presets, files, or made from fields."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from hespas import _core


def devices() -> list[str]:
    """Names of the accelerator presets (`hespas devices`)."""
    return _core.device_names()


def systems() -> list[str]:
    """Names of the network presets (`hespas systems`)."""
    return _core.system_names()


def _without_comments(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if not key.startswith("$")}


class _Described:
    """A JSON object that C++ validates: the fields as given, and the figures as read from them."""

    _load = staticmethod(_core.load_device)
    _path = staticmethod(_core.device_path)

    def __init__(self, base: str | os.PathLike[str] | None = None, /, **fields: Any):
        start = self._fields_of(base) if base is not None else {}
        if base is not None and fields and "name" not in fields:
            fields["name"] = f"{start.get('name', 'custom')} (changed)"
        self._fields = {**start, **fields}
        self._core = self._load(self.json())

    @classmethod
    def _fields_of(cls, base: str | os.PathLike[str]) -> dict[str, Any]:
        path = pathlib.Path(cls._path(os.fspath(base)))
        if path.is_dir() or not path.exists():
            raise_from = cls._load(os.fspath(base))  # raises where there is nothing
            return {"name": raise_from.name}
        text = path.read_text()
        try:
            fields = json.loads(text)
        except ValueError:
            cls._load(os.fspath(path))
            raise
        return _without_comments(fields)

    @classmethod
    def of(cls, value: Any) -> Any:
        """`value` itself, or the preset or file that it names, or the object that a dict describes."""
        if isinstance(value, cls):
            return value
        if isinstance(value, dict):
            return cls(**value)
        return cls(value)

    def json(self) -> str:
        """The description as a file holds it."""
        return json.dumps(self._fields, indent=2)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the description as a file that the command line takes too."""
        pathlib.Path(path).write_text(self.json() + "\n")

    def to_dict(self) -> dict[str, Any]:
        """The fields as they were given."""
        return json.loads(self.json())

    def replace(self, **fields: Any) -> Any:
        """A copy with other fields."""
        return type(self)(**{**self._fields, **fields})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return getattr(self._core, name)
        except AttributeError:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._fields == other._fields  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.json())

    def __repr__(self) -> str:
        return f"<hespas.{type(self).__name__} {self.name}>"


def _rebuild(kind: type[_Described], fields: dict[str, Any]) -> _Described:
    return kind(**fields)


class Device(_Described):
    """An accelerator.

        Device("H100_80GB")                                                   a preset (`hespas.devices()`) or a file
        Device("H100_80GB", memory_bandwidth="4 TB/s")                        a changed one
        Device(name="mine", peak_flops="312 TFLOP/s", memory_bandwidth="1.5 TB/s", per_datatype_flops={"bf16": "312 TFLOP/s"})

    Fields are those of `hespas schema device`; quantities are numbers in base units (FLOP/s, bytes/s, bytes, Hz, W) or texts with
    units. All are validated: InputError lists every wrong one, with suggestions for misspelt names.

    Attributes, absent figures being None: name, description, vendor, architecture, family, peak_flops, per_datatype_flops,
    matrix_flops, vector_flops (dicts of FLOP/s by datatype), memory_bandwidth (bytes/s), memory_kind, memory_capacity, l2_capacity,
    shared_memory_per_sm (bytes), sm_count, lanes_per_sm, clock_hz, tdp_w, idle_w; source_of(figure) tells where a figure comes from.
    """


class System(_Described):
    """A network of devices.

        System("A100_SXM_40GB_4GPU")                                          a preset (`hespas.systems()`), a file or a folder
        System(name="mine", topology=["Ring", "Switch"], npus=[4, 2], bandwidth=["300 GB/s", "25 GB/s"], latency=["1 us", "5 us"])

    One entry a dimension, the innermost first; topology is Ring, FullyConnected or Switch. Bandwidths are texts with units or
    numbers of ASTRA-sim's GB/s (2^30 bytes), latencies texts or nanoseconds. `algorithms={"all-reduce": ["ring", "direct"]}` chooses
    collective algorithms a dimension (default: ring on Ring, direct on FullyConnected, ring on Switch); `system={...}` are further
    settings of ASTRA-sim's system file. Everything is validated; InputError lists every defect.

    Attributes: name, npus (in all), npus_count, topology, bandwidth (GB/s of 2^30 bytes) and latency (ns) by dimension.
    """

    _load = staticmethod(_core.load_system)
    _path = staticmethod(_core.system_path)

    def __init__(self, base: str | os.PathLike[str] | None = None, /, **fields: Any):
        if base is not None and not fields and pathlib.Path(_core.system_path(os.fspath(base))).is_dir():
            self._folder: str | None = os.fspath(base)
            self._fields = {}
            self._core = self._load(self._folder)
            return
        self._folder = None
        super().__init__(base, **_network_form(fields))

    def json(self) -> str:
        return self._folder if self._folder is not None else super().json()

    def __reduce__(self) -> tuple[Any, ...]:
        return (System, (self._folder,)) if self._folder is not None else super().__reduce__()


_COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
_ALGORITHM = {"ring": "ring", "fullyconnected": "direct", "switch": "ring"}


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _network_form(fields: dict[str, Any]) -> dict[str, Any]:
    """Keyword fields in the form of a system file: {network, system, remote_memory}."""
    if "topology" not in fields:
        return fields
    rest = dict(fields)
    topology = _listed(rest.pop("topology"))
    network = {"topology": topology}
    for field, key in (("npus", "npus_count"), ("bandwidth", "bandwidth"), ("latency", "latency")):
        if field not in rest:
            _core.error("E0955", f"a System with `topology` needs `{field}` too", "give topology, npus, bandwidth and latency")
        network[key] = [_network_figure(field, each) for each in _listed(rest.pop(field))]
    algorithms = rest.pop("algorithms", {})
    default = [_ALGORITHM.get(str(each).lower(), "ring") for each in topology]
    system = {f"{kind}-implementation": _listed(algorithms.get(kind, default)) for kind in _COLLECTIVES}
    unknown = sorted(set(algorithms) - set(_COLLECTIVES))
    if unknown:
        _core.error("E0955", f"`{unknown[0]}` is no collective that has algorithms", f"they are {', '.join(_COLLECTIVES)}")
    return {"name": rest.pop("name", "custom"), **rest, "network": network,
            "system": {"scheduling-policy": "LIFO", "endpoint-delay": 1, "active-chunks-per-dimension": 1,
                       "preferred-dataset-splits": 1, "collective-optimization": "localBWAware", **system, **fields.get("system", {})},
            "remote_memory": rest.pop("remote_memory", {"memory-type": "NO_MEMORY_EXPANSION"})}


def _network_figure(field: str, value: Any) -> Any:
    if not isinstance(value, str) or field == "npus":
        return value
    if field == "bandwidth":
        return _core.bytes_per_second(value) / 2**30
    return _core.seconds(value) * 1e9
