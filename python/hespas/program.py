"""Programs: reading them from wherever they come, and counting their operations."""
from __future__ import annotations

import collections
import json
import os
from typing import Any

from hespas import _core, _jax, _torch
from hespas.errors import Diagnostic, diagnostics


class Histogram(collections.Counter):
    """Operations by full name (`stablehlo.add`), a Counter whose order is by count; `total_ops` is their sum.

    `profile` is a dict of what the program would execute: flops, bytes, work by operation, collectives, constants, calls and loops.
    """

    def __init__(self, counts: dict[str, int] | None = None, /, **more: int):
        super().__init__(counts or {}, **more)
        self.profile: dict[str, Any] = {}

    @property
    def total_ops(self) -> int:
        return sum(self.values())

    def to_dict(self) -> dict[str, Any]:
        """What `hespas analyze --format json` prints: total, unique, ops, and the members of `profile`."""
        return {"total": self.total_ops, "unique": len(self), "ops": dict(self), **self.profile}

    def to_pandas(self) -> Any:
        """A DataFrame with the columns `op` and `count`."""
        return _jax.pandas().DataFrame({"op": list(self), "count": list(self.values())})


class Program:
    """A program that was read and verified.

    name      its path, or what it was called
    sha256    of its bytes as they were given (compressed where the file is)
    ops       operations of `main`, its return included
    warnings  what the reader noticed
    """

    def __init__(self, core: _core.Program):
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def sha256(self) -> str:
        return self._core.sha256

    @property
    def ops(self) -> int:
        return self._core.ops

    @property
    def warnings(self) -> list[Diagnostic]:
        return diagnostics(self._core.warnings)

    @property
    def text(self) -> str:
        """MLIR's generic form, as `hespas print` prints it."""
        return self._core.text()

    def __bytes__(self) -> bytes:
        return self._core.content()

    def __repr__(self) -> str:
        return f"<hespas.Program {self.name}: {self.ops} operations>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (bytes(self), self.name)

    def analyze(self, *, expand: bool = False, all_regions: bool = False, operand_types: bool = False) -> Histogram:
        """How often each operation occurs, as `hespas analyze` counts.

        expand         what calls and fusions hold instead of the calls and fusions
        all_regions    every operation of every region; needs no `main`
        operand_types  each combination of operand types apart
        """
        extent = "all_regions" if all_regions else "expanded" if expand else "main"
        counts, profile = json.loads(self._core.analyze(extent, operand_types))
        histogram = Histogram(counts["ops"])
        histogram.profile = profile
        return histogram

    def retarget(self, devices: int) -> Program:
        """The same program on another number of devices, which share a data-parallel or FSDP axis, as `hespas retarget` makes it.

        devices  how many shall run it, at least 1

        Raises HespasError (E0545) where the program cannot be carried over, ValueError for less than one device.
        """
        if devices < 1:
            raise ValueError(f"devices is {devices}; at least 1 runs a program")
        return Program(self._core.retarget(devices))

    def estimate(self, device: Any = None, **options: Any) -> Any:
        """`hespas.estimate` of this program."""
        from hespas import pipeline

        return pipeline.estimate(self, device, **options)

    def run(self, device: Any = None, system: Any = None, **options: Any) -> Any:
        """`hespas.run` of this program."""
        from hespas import pipeline

        return pipeline.run(self, device, system, **options)


def _from_bytes(content: bytes, name: str) -> Program:
    return Program(_core.read_bytes(name, content))


def _is_text(source: str) -> bool:
    return "\n" in source or source.lstrip().startswith(("module", "HloModule", "#loc", '"builtin.module"'))


def load(source: Any, *, name: str | None = None) -> Program:
    """Reads and verifies a program.

    source  a path (`str` or `os.PathLike`), also of gzip or zstd files; `bytes` of any such file; StableHLO, MHLO or HLO text; what
            `jax.jit(f).lower(...)`, its `.compile()` or `jax.export.export(...)` return. A Lowered for several devices is
            partitioned first, by XLA on the CPU, before any optimisation; that needs as many (fake) CPU devices. Also what
            `torch.export.export(...)` returns, where `torch_xla` is installed to convert it.
    name    what to call it in messages and results; by default its path, or the function's name

    Raises InputError with places of all defects, E0950 for objects that are no program, E0951 for functions that were not lowered.
    """
    if isinstance(source, Program):
        return source
    if isinstance(source, os.PathLike) or (isinstance(source, str) and not _is_text(source)):
        path = os.fspath(source)
        return Program(_core.read_file(path if isinstance(path, str) else os.fsdecode(path)))
    if isinstance(source, str):
        return _from_bytes(source.encode(), name or "<text>")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(source), name or "<bytes>")
    content, own_name = (_torch if _torch.is_exported(source) else _jax).program_of(source)
    return _from_bytes(content, name or own_name)
