#!/usr/bin/env python3
"""XLA's GPU compiler without a GPU: StableHLO in, optimised HLO text out. Runs in the environment of python/locks/cuda.txt:

    $(scripts/python_env.sh cuda) python/export/xla_gpu.py PROGRAM --target TARGET.pbtxt --output FOLDER [--partitioned] [--synchronous]

PROGRAM is StableHLO text or bytecode, plain or gzip, before partitioning or (--partitioned) as each device runs it. TARGET is XLA's
GpuTargetConfigProto as text; python/export/targets.py writes it from a device file. FOLDER gets

    partitioned.hlo    what each device runs, before optimisation (not with --partitioned)
    optimised.hlo      behind XLA's passes; with --synchronous collectives are not split into start and done
    worker.json        versions, flags, seconds

Exit status 3 with one line on stderr where XLA refuses the program.
"""
import argparse
import gzip
import importlib.metadata
import json
import os
import pathlib
import re
import sys
import tempfile
import time

COMMON_FLAGS = ["--xla_gpu_autotune_level=0", "--xla_llvm_disable_expensive_passes=true", "--xla_gpu_force_compilation_parallelism=2"]
# Collectives stay single operations and keep XLA's combining; fusion-wrapper would wrap each leftover into a fusion of its own.
SYNCHRONOUS_FLAGS = ["--xla_gpu_disable_async_collectives=ALLCOLLECTIVES", "--xla_gpu_enable_latency_hiding_scheduler=false"]
SYNCHRONOUS_DISABLED = ["async-collective-conversion", "gpu-reduce-scatter-combiner", "fusion-wrapper"]
PARTITIONED_DISABLED = ["spmd-partitioning", "spmd-partitioner", "spmd_partitioner"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--target", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--partitioned", action="store_true")
    parser.add_argument("--synchronous", action="store_true")
    parser.add_argument("--flag", action="append", default=[], help="further XLA flags")
    return parser.parse_args()


def xla_flags(options, dumps):
    disabled = []
    flags = [f"--xla_dump_to={dumps}", "--xla_dump_hlo_as_text", "--xla_dump_hlo_pass_re=spmd-partition", *COMMON_FLAGS]
    if options.synchronous:
        flags += SYNCHRONOUS_FLAGS
        disabled += SYNCHRONOUS_DISABLED
    if options.partitioned:
        disabled += PARTITIONED_DISABLED
    given = [flag for flag in options.flag if not flag.startswith("--xla_disable_hlo_passes=")]
    for flag in options.flag:
        if flag not in given:
            disabled += flag.split("=", 1)[1].split(",")
    if disabled:
        flags.append("--xla_disable_hlo_passes=" + ",".join(disabled))
    return flags + given


def prepare_environment(flags):
    """Before jax is imported: no device is there, and none is to be looked for."""
    os.environ.update(XLA_FLAGS=" ".join(flags), JAX_PLATFORMS="cpu", JAX_ENABLE_COMPILATION_CACHE="false",
                      JAX_SKIP_CUDA_CONSTRAINTS_CHECK="1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def count(text, kind):
    found = re.search(rf"mhlo\.num_{kind} = (\d+)", text)
    return int(found.group(1)) if found else 1


def parse(content):
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir

    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context:
        return ir.Module.parse(drop_copies(content) if isinstance(content, str) else content)


def drop_copies(text):
    """mhlo.copy has no StableHLO equivalent and moves nothing here: uses of its result become uses of its operand."""
    renamed, kept = {}, []
    for line in text.splitlines():
        if line.lstrip().startswith("func.func"):
            renamed = {}
        copy = re.match(r"\s*(%\S+) = mhlo\.copy (%\S+) (?:\{.*\} )?:", line)
        if copy:
            renamed[copy.group(1)] = renamed.get(copy.group(2), copy.group(2))
            continue
        if renamed:
            defined = re.match(r"\s*(%\w+)(?::\d+)? = ", line)
            if defined:  # regions may use a name again
                renamed.pop(defined.group(1), None)
            start = defined.end() if defined else 0
            line = line[:start] + re.sub(r"%[\w#]+", lambda name: renamed.get(name.group(0), name.group(0)), line[start:])
        kept.append(line)
    return "\n".join(kept)


def compile_options(replicas, partitions, shardy):
    import numpy as np
    from jax._src.lib import xla_client

    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = replicas, partitions
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = replicas, partitions
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = shardy
    build.device_assignment = xla_client.DeviceAssignment.create(np.arange(replicas * partitions).reshape(replicas, partitions))
    return options


def compile_program(content, target):
    """Compiles for effect: the dumps are wanted. Synchronous collectives have no kernel, so that compilation ends in an error."""
    from jax._src.interpreters import mlir as jax_mlir
    from jax.experimental import topologies
    from jaxlib import _jax

    module = parse(content)
    head = module.operation.get_asm(enable_debug_info=False, large_elements_limit=16)
    replicas, partitions = count(head, "replicas"), count(head, "partitions")
    topology = topologies.get_topology_desc(platform="cuda", topology_name="described", topology=f"1x1x{replicas * partitions}",
                                            target_config=target)
    devices = topology.devices
    client = devices[0].client
    options = compile_options(replicas, partitions, "sdy." in head)
    with module.context:
        devices = _jax.DeviceList(tuple(devices))
        try:
            client.compile(jax_mlir.module_to_bytecode(module), devices, options)
        except TypeError:  # later than jaxlib 0.7: the module itself
            client.compile(module, devices, options)


def compile_apart(program, target):
    """Compiles in a process of its own and says why it failed, or nothing: without a device, later versions of XLA may crash in code
    generation, behind the passes whose dumps are wanted."""
    answer, says = os.pipe()
    child = os.fork()
    if child == 0:
        reason = ""
        try:
            os.close(answer)
            compile_program(read(program), pathlib.Path(target).read_text())
        except Exception as error:  # noqa: BLE001 - what was dumped before it counts
            reason = str(error) or type(error).__name__
        os.write(says, reason.encode()[:4096])
        os._exit(0)
    os.close(says)
    with os.fdopen(answer, "rb") as pipe:
        reason = pipe.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    return f"its compiler ended with signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else reason


def largest(folder, *patterns):
    for pattern in patterns:
        found = sorted(folder.glob(pattern), key=lambda path: path.stat().st_size)
        if found:
            return found[-1]
    return None


def read(path):
    content = pathlib.Path(path).read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return content if content[:4] == b"ML\xefR" else content.decode()


def main():
    options = arguments()
    output = pathlib.Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="xla-gpu-") as folder:
        dumps = pathlib.Path(folder)
        flags = xla_flags(options, dumps)
        prepare_environment(flags)
        start = time.monotonic()
        reason = compile_apart(options.program, options.target)
        optimised = largest(dumps, "*gpu_after_optimizations.txt", "*after_optimizations.txt")
        if optimised is None:
            sys.stderr.write("XLA refused the program: " + " ".join((reason or "it left no optimised program").split())[:2000] + "\n")
            return 3
        (output / "optimised.hlo").write_text(optimised.read_text())
        partitioned = largest(dumps, "*after_spmd_partitioner.txt", "*after_spmd-partitioning*.txt")
        if partitioned is not None and not options.partitioned:
            (output / "partitioned.hlo").write_text(partitioned.read_text())
        shown = [flag for flag in flags if not flag.startswith("--xla_dump_to=")]
        (output / "worker.json").write_text(json.dumps({"jax": importlib.metadata.version("jax"), "flags": shown,
                                                        "seconds": round(time.monotonic() - start, 1)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
