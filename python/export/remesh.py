#!/usr/bin/env python3
"""Shardings of an unpartitioned program: the sizes of its Shardy mesh are replaced, XLA's partitioner does the rest, `hespas run` estimates.

    remesh.py PROGRAM.mlir[.gz] FOLDER HESPAS run --device ...      called by shard.py

Reads candidates from stdin, a JSON line each: {"sizes": {"fsdp": 8, "tensor": 4}, "output": FILE.mlir.gz}; other axes of the mesh become 1. One may name
another "program", say that its output is "made" already, and have words of its own for `hespas run` ("run").
Answers each with a JSON line: {"result": what `hespas run` said} or {"error": why not}. JAX is imported once; a forked child makes each program,
which ends as soon as it has it, and leaves the rest of XLA's work undone. FOLDER, for files under way, lies where the programs go.
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lower  # noqa: E402
from environments import program_text  # noqa: E402
from partition import NotPartitioned, early_hlo  # noqa: E402

MESH = re.compile(r"(sdy\.mesh @[\w.$-]+ = <\[)([^\]]*)\]")
AXIS = re.compile(r'"([^"]+)"=(\d+)')


def remeshed(text, sizes, order=()):
    """The program with `sizes` for the axes of its mesh, in that order where one is given. Shapes are global and stay."""
    found = MESH.search(text)
    if not found:
        raise lower.Refused("the program has no Shardy mesh (`sdy.mesh`)")
    axes = [name for name, _ in AXIS.findall(found.group(2))]
    for name in sizes:
        if name not in axes:
            raise lower.Refused(f"the program's mesh has no axis `{name}`; it has {', '.join(axes)}")
    new = ", ".join(f'"{name}"={sizes.get(name, 1)}' for name in dict.fromkeys((*order, *axes)))
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
        build.num_partitions, build.use_spmd_partitioning, build.use_shardy_partitioner = devices, True, "sdy." in text
        build.device_assignment = _jax.DeviceAssignment.create(np.arange(devices).reshape(1, devices))
        request.env_option_overrides = list(options.items())
        found = jax.devices()[:devices]
        found[0].client.compile_and_load(bytecode, _jax.DeviceList(tuple(found)), request)

    return compile_with


def make(text, sizes, order, output, dumps):
    """Writes what each device runs with that mesh; the process has to end then."""
    devices = math.prod(sizes.values())
    lower.prepare_environment(devices)
    part = pathlib.Path(dumps) / "program.gz"
    lower.write(part, lower.partitioned_stablehlo(early_hlo(compiler(remeshed(text, sizes, order), devices), dumps)))
    os.replace(part, output)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[-1] if lines else "no message")


def make_in_child(make, dumps, *arguments):
    """Why `make(*arguments, dumps)` could not be done; nothing if it could. XLA's own crashes end the child alone."""
    messages = pathlib.Path(dumps) / "stderr"
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(messages, os.O_WRONLY | os.O_CREAT), sys.stderr.fileno())
            make(*arguments, dumps)
            os._exit(0)
        except (lower.Refused, NotPartitioned) as error:
            os.write(sys.stderr.fileno(), f"{error}\n".encode())
        except BaseException:  # noqa: BLE001 - a child that went on would answer twice
            os.write(sys.stderr.fileno(), traceback.format_exc().encode())
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return None
    return (f"XLA ended by signal {-status}: " if status < 0 else "") + last_line(messages.read_text(errors="replace"))


def answer(text, folder, command, request):
    if not request.get("made"):
        text = program_text(request["program"]) if "program" in request else text
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as dumps:
            error = make_in_child(make, dumps, text, request["sizes"], request.get("order", ()), request["output"])
        if error is not None:
            return {"error": error}
    run = subprocess.run([command[0], "run", request["output"], *command[1:], *request.get("run", ())], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return {"result": json.loads(run.stdout)} if run.returncode == 0 else {"error": last_line(run.stderr)}


def main():
    program, folder, *command = sys.argv[1:]
    text = program_text(program)
    import jax  # noqa: F401 - once, for all children; nothing of it runs here
    for line in sys.stdin:
        print(json.dumps(answer(text, folder, command, json.loads(line))), flush=True)


if __name__ == "__main__":
    sys.exit(main())
