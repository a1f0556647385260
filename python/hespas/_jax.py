"""JAX's objects as programs. JAX itself is only touched where the caller's object comes from it."""
from __future__ import annotations

import functools
import importlib.util
import pathlib
import re
from typing import Any

from hespas import _core

_EXPORT = pathlib.Path(__file__).resolve().parent / "share" / "python" / "export"


def pandas() -> Any:
    try:
        import pandas
    except ImportError:
        _core.error("E0956", "to_pandas needs pandas", "pip install 'hespas[notebook]', or use to_dict()")
    return pandas


def program_of(source: Any) -> tuple[bytes, str]:
    """The bytes of the program in a Lowered, Compiled, Exported or MLIR module, and its name."""
    if hasattr(source, "mlir_module_serialized"):  # jax.export.Exported
        return _exported(source)
    if hasattr(source, "compile") and hasattr(source, "compiler_ir"):  # jax.stages.Lowered
        return _lowered(source)
    if hasattr(source, "runtime_executable") and hasattr(source, "as_text"):  # jax.stages.Compiled
        return _compiled(source)
    if hasattr(source, "operation") and hasattr(source.operation, "get_asm"):  # jaxlib.mlir.ir.Module
        return _asm(source), "<module>"
    _refuse(source)
    raise AssertionError("unreachable")


def unpartitioned(source: Any, arguments: Any) -> bytes:
    """StableHLO of what all devices do together, with its shardings: of a Lowered, or of a function and its arguments."""
    if callable(source) and not isinstance(source, type) and not hasattr(source, "runtime_executable"):
        import jax

        source = (source if hasattr(source, "lower") else jax.jit(source)).lower(*arguments)
    if not hasattr(source, "compiler_ir"):
        _refuse(source)
    return _asm(source.compiler_ir("stablehlo"))


def _refuse(source: Any) -> None:
    kind = type(source).__module__ + "." + type(source).__qualname__
    if hasattr(source, "lower") or (callable(source) and not isinstance(source, type)):
        name = getattr(source, "__name__", kind)
        _core.error("E0951", f"`{name}` is a function that was not lowered", f"jax.jit({name}).lower(*arguments) makes a program of it")
    _core.error("E0950", f"a {kind} is no program", "give a path, bytes, text, or what jax.jit(f).lower(...) returns")


def _asm(module: Any) -> bytes:
    return module.operation.get_asm(enable_debug_info=True).encode()


def _function_name(text: bytes) -> str:
    found = re.search(rb"(?:module @|HloModule )([\w.$-]+)", text[:4096])
    return found.group(1).decode() if found else "<jax>"


def _partitions_of(text: bytes) -> int:
    found = re.search(rb"mhlo\.num_partitions = (\d+)", text[:65536])
    return int(found.group(1)) if found else 1


def _lowered(lowered: Any) -> tuple[bytes, str]:
    text = _asm(lowered.compiler_ir("stablehlo"))
    if _partitions_of(text) == 1:
        return text, _function_name(text)
    return partitioned(lowered), _function_name(text)


def _exported(exported: Any) -> tuple[bytes, str]:
    if exported.nr_devices > 1:
        # The artifact is global; only XLA's partitioner knows what each device runs.
        return _partition_exported(exported), exported.fun_name
    return bytes(exported.mlir_module_serialized), exported.fun_name


def _partition_exported(exported: Any) -> bytes:
    import jax

    devices = jax.devices("cpu")
    if len(devices) < exported.nr_devices:
        _too_few_devices(exported.nr_devices, len(devices))
    mesh = jax.sharding.Mesh(devices[: exported.nr_devices], ("devices",))
    shardings = exported.in_shardings_jax(mesh)
    arguments = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s or jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
                 for a, s in zip(exported.in_avals, shardings)]
    args, kwargs = jax.tree.unflatten(exported.in_tree, arguments)
    return partitioned(jax.jit(exported.call).lower(*args, **kwargs))


def _compiled(compiled: Any) -> tuple[bytes, str]:
    text = compiled.as_text()
    if not text:
        _core.error("E0950", "the compiled program has no HLO text", "load what jax.jit(f).lower(...) returns instead")
    return text.encode(), _function_name(text.encode())


def _too_few_devices(wanted: int, there: int) -> None:
    _core.error("E0952", f"the program is for {wanted} devices, JAX has {there}",
                f"set XLA_FLAGS=--xla_force_host_platform_device_count={wanted} before importing jax")


def partitioned(lowered: Any) -> bytes:
    """HLO text of what each device runs, as XLA's partitioner leaves it."""
    partition = _partition_module()
    try:
        return partition.partitioned_hlo(lowered).encode()
    except partition.NotPartitioned as error:
        _core.error("E0952", str(error))
        raise AssertionError("unreachable") from error


@functools.cache
def _partition_module() -> Any:
    # `hespas export` runs the same file under another Python, without this package.
    spec = importlib.util.spec_from_file_location("hespas._partition", _EXPORT / "partition.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
