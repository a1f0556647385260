#!/usr/bin/env python3
"""One sharding of an unpartitioned program: the sizes of its Shardy mesh are replaced, XLA's partitioner does the rest. Called by shard.py.

    remesh.py PROGRAM.mlir[.gz] '{"fsdp": 8, "tensor": 4}' OUTPUT.mlir.gz       other axes of the mesh become 1
"""
import gzip
import json
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lower  # noqa: E402
from partition import NotPartitioned, dumped_hlo  # noqa: E402

MESH = re.compile(r"(sdy\.mesh @[\w.$-]+ = <\[)([^\]]*)\]")
AXIS = re.compile(r'"([^"]+)"=(\d+)')


def remeshed(text, sizes):
    """The program with `sizes` for the axes of its mesh. Shapes are global and stay."""
    found = MESH.search(text)
    if not found:
        raise lower.Refused("the program has no Shardy mesh (`sdy.mesh`)")
    axes = [name for name, _ in AXIS.findall(found.group(2))]
    for name in sizes:
        if name not in axes:
            raise lower.Refused(f"the program's mesh has no axis `{name}`; it has {', '.join(axes)}")
    new = ", ".join(f'"{name}"={sizes.get(name, 1)}' for name in axes)
    text = MESH.sub(lambda match: f"{match.group(1)}{new}]", text)
    return re.sub(r"mhlo\.num_partitions = \d+", f"mhlo.num_partitions = {math.prod(sizes.values())}", text, count=1)


def compiler(text, devices):
    """Compiles the text for that many pretended devices with given XLA options, as `jax.jit` would."""
    import jax
    import numpy as np
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir

    with jax_mlir.make_ir_context():
        bytecode = jax_mlir.module_to_bytecode(ir.Module.parse(text))

    def compile_with(options):
        request = _jax.CompileOptions()
        request.num_replicas, request.num_partitions = 1, devices
        build = request.executable_build_options
        build.num_partitions, build.use_spmd_partitioning, build.use_shardy_partitioner = devices, True, True
        build.device_assignment = _jax.DeviceAssignment.create(np.arange(devices).reshape(1, devices))
        request.env_option_overrides = list(options.items())
        found = jax.devices()[:devices]
        found[0].client.compile_and_load(bytecode, _jax.DeviceList(tuple(found)), request)

    return compile_with


def main():
    source, sizes, output = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    content = pathlib.Path(source).read_bytes()
    text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()
    devices = math.prod(sizes.values())
    lower.prepare_environment(devices)
    try:
        lower.write(output, lower.hlo_to_stablehlo(dumped_hlo(compiler(remeshed(text, sizes), devices))))
    except (lower.Refused, NotPartitioned) as error:
        sys.stderr.write(f"{error}\n")
        return 5
    return 0


if __name__ == "__main__":
    sys.exit(main())
