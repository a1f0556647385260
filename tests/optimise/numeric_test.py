#!/usr/bin/env python3
"""The optimiser keeps the numbers: programs as they are and as `hespas optimise --format stablehlo` leaves them, both run by JAX's CPU compiler.

usage: $(scripts/python_env.sh jax) numeric_test.py HESPAS [--corpus accept.jsonl] [--random N] [--every N] PROGRAM...

Results are compared relative to the largest value of each: 1e-4 for f32 and wider, 3e-2 where bf16 or f16 rounds in between; integers exactly.
What the program's own roundings to bf16 change by more is compared with the program in f32: it may not be farther from that than before.
"""
import argparse
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

# Programs come partitioned; the partitioner has nothing left to do with them.
os.environ["XLA_FLAGS"] = ("--xla_force_host_platform_device_count=4 "
                           "--xla_disable_hlo_passes=spmd-partitioning,spmd-partitioner,spmd_partitioner")
os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.interpreters import mlir as jax_mlir  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402
from jaxlib import _jax  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

from random_programs import random_program  # noqa: E402

jax.config.update("jax_enable_x64", True)
LARGEST = 1 << 24  # elements of one argument; larger programs take too long on a CPU


def argument(module_type, rng):
    """A random value of a tensor type; None where JAX has no such type or it is too large."""
    tensor = ir.RankedTensorType(module_type)
    shape = tuple(tensor.shape)
    text = str(tensor.element_type)
    names = {"i1": "bool", "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16"}
    name = names.get(text) or re.sub(r"^(u?)i(8|16|32|64)$", r"\1int\2", text)
    if not tensor.has_static_shape or name == text or int(np.prod(shape, dtype=np.int64)) > LARGEST:
        return None
    dtype = jax.numpy.dtype(name)
    if dtype == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0, 4, shape).astype(dtype)
    return rng.uniform(0.05, 1.0, shape).astype(dtype)  # positive: second moments have roots taken


def compiled(text):
    with jax_mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        main = next(op for op in module.body.operations if str(op.attributes["sym_name"]) == '"main"')
        types = [t for t in ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).inputs]
        found = re.search(r"mhlo\.num_partitions = (\d+)", text)
        partitions = int(found.group(1)) if found else 1
        rng = np.random.default_rng(7)
        values = [argument(t, rng) for t in types]
        if any(v is None for v in values):
            raise ValueError("arguments of a type or size that is not tried")
        options = xla_client.CompileOptions()
        options.num_replicas, options.num_partitions = 1, partitions
        build = options.executable_build_options
        build.num_replicas, build.num_partitions, build.use_spmd_partitioning = 1, partitions, partitions > 1
        build.device_assignment = xla_client.DeviceAssignment.create(np.arange(partitions).reshape(1, partitions))
        devices = jax.devices()[:partitions]
        executable = devices[0].client.compile_and_load(jax_mlir.module_to_bytecode(module), _jax.DeviceList(tuple(devices)), options)
    return executable, values, devices


def widened(text):
    """The program in f32 instead of bf16."""
    return re.sub(r"dense<0x([0-9A-F]{4})>", r"dense<0x\g<1>0000>", text.replace("bf16", "f32"))


def rounded(value):
    return value.astype(jax.numpy.bfloat16).astype(value.dtype) if value.dtype == np.float32 else value


def run(text, change=lambda value: value):
    executable, values, devices = compiled(text)
    values = [change(v) for v in values]
    if len(devices) == 1:
        arguments = [jax.device_put(v, devices[0]) for v in values]
        return [np.asarray(a) for a in executable.execute(arguments)]
    # Every device gets the same values, each as its own part.
    everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), ("x",)), jax.sharding.PartitionSpec())
    results = executable.execute_sharded([jax.device_put(v, everywhere) for v in values])
    return [np.asarray(parts[0]) for parts in results.disassemble_into_single_device_arrays()]


def difference(ours, theirs):
    """The largest difference relative to the largest value; infinite where one is not finite and the other is."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    if ours.dtype.kind in "iub":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(np.isfinite(a), finite):
        return float("inf")
    if not finite.any():
        return 0.0
    scale = max(np.abs(b[finite]).max(), 1e-6)
    return float(np.abs(a[finite] - b[finite]).max() / scale)


def largest_difference(ours, theirs):
    return max((difference(a, b) for a, b in zip(ours, theirs)), default=0.0)


def nearer_to_wide(text, after, before):
    """Whether results are no farther from those in f32, of the same bf16 arguments, than they were before."""
    wide = run(widened(text), rounded)
    narrow = [[a.astype(w.dtype) for a, w in zip(results, wide)] for results in (after, before)]
    return largest_difference(narrow[0], wide) <= largest_difference(narrow[1], wide)


TARGETS = (["xla-gpu"], ["xla-gpu", "--xla-flag=--xla_gpu_enable_triton_gemm=true"], ["xla-tpu"], ["xla-cpu"])


def optimised(hespas, text, target):
    done = subprocess.run([hespas, "optimise", "-", "--optimise", *target, "--format", "stablehlo", "--quiet"], input=text, text=True,
                          capture_output=True)
    if done.returncode != 0:
        raise AssertionError(f"hespas optimise exited with {done.returncode}: {done.stderr[:500]}")
    return done.stdout


def check(hespas, name, text, must_run, report):
    """None where all is well, a text where not; programs that JAX cannot run as they are count as skipped."""
    try:
        before = run(text)
    except Exception as error:  # noqa: BLE001 - whatever stops JAX stops the comparison
        return f"{name}: does not run as it is: {str(error)[:200]}" if must_run else SKIPPED
    report(RUNS)
    tolerance = 3e-2 if re.search(r"x?(bf16|f16|f8)", text) else 1e-4
    for words in TARGETS:
        target = " ".join(words)
        try:
            after = run(optimised(hespas, text, words))
        except Exception as error:  # noqa: BLE001
            return f"{name}: optimised for {target} does not run: {str(error)[:600]}"
        if len(before) != len(after):
            return f"{name}: {len(after)} results for {target}, {len(before)} before"
        worst = largest_difference(after, before)
        if worst > tolerance and not (re.search("bf16", text) and nearer_to_wide(text, after, before)):
            return f"{name}: results for {target} differ by {worst:.2g}"
    return check_combined(hespas, name, text) if must_run and text.count('"stablehlo.all_gather"') > 1 and "num_partitions" in text else None


SEVERAL = re.compile(r'"stablehlo.all_gather"\(%[\w#]+, ')


def check_combined(hespas, name, text):
    """Combined all-gathers as they stand. In f32: of bf16 gathers along inner dimensions JAX's CPU compiler (0.7.2) mixes up the parts as
    soon as there are several in one op. StableHLO has no reduce-scatter of several operands, so none is formed."""
    text = widened(text)
    command = [hespas, "optimise", "-", "--optimise", "xla-gpu", "--quiet"]
    for kept in ("fusion", "fusion-wrapper", "cublas-calls", "reduce-scatter", "async-collectives"):
        command += ["--disable", kept]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=True)
    if not SEVERAL.search(done.stdout):
        return f"{name}: no gathers were combined"
    worst = largest_difference(run(done.stdout), run(text))
    return f"{name}: results with combined gathers differ by {worst:.2g}" if worst > 1e-4 else None


SKIPPED, RUNS = "skipped", "runs as it is"


def work(hespas):
    """The worker: programs as JSON lines in, verdicts as JSON lines out."""
    def report(verdict):
        sys.stdout.write(json.dumps(verdict) + "\n")
        sys.stdout.flush()

    for line in sys.stdin:
        program = json.loads(line)
        report(check(hespas, program["name"], program["text"], program["must_run"], report))


class Worker:
    """Some programs of the corpus crash XLA itself; a process of its own keeps that away from the test."""

    def __init__(self, hespas):
        self.command = [sys.executable, __file__, hespas, "--worker"]
        self.process = None

    def verdict(self, name, text, must_run):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            text=True)
        self.process.stdin.write(json.dumps({"name": name, "text": text, "must_run": must_run}) + "\n")
        self.process.stdin.flush()
        answers = [json.loads(self.process.stdout.readline() or '"crashed"')]
        if answers[0] == RUNS:
            answers.append(json.loads(self.process.stdout.readline() or '"crashed"'))
        if answers[-1] != "crashed":
            return answers[-1]
        self.process.wait()
        return SKIPPED if len(answers) == 1 and not must_run else f"{name}: crashes JAX"


def read(path):
    content = pathlib.Path(path).read_bytes()
    return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()


CHECK = re.compile(r"\n *(?:stablehlo\.custom_call @)?check\.expect_\w+(?:\(| )(%[\w#]+).*?: *\(?(tensor<[^>]*(?:>(?=[,)\n])|>))[^\n]*")


def returning(text):
    """The corpus' interpreter tests check their results themselves; here main returns what they look at."""
    results = [(m.group(1), m.group(2)) for m in CHECK.finditer(text)]
    if not results:
        return text
    text = CHECK.sub("", text)
    types = ", ".join(t for _, t in results)
    text = re.sub(r"func\.func (public )?@main\(\)( *\{)", rf"func.func @main() -> ({types})\2", text)
    return re.sub(r"\n( *)(func\.)?return\n", rf"\n\1return {', '.join(v for v, _ in results)} : {types}\n", text, count=1)


def programs(options):
    for path in options.programs:
        yield path, read(path), True
    for seed in range(options.random):
        yield f"random program {seed}", random_program(seed), True
    if options.corpus:
        folder = pathlib.Path(options.corpus).parent / "accept"
        lines = pathlib.Path(options.corpus).read_text().splitlines()
        for line in lines[::options.every]:
            path = folder / json.loads(line)["name"]
            text = read(path) if path.exists() else ""
            if "@main" in text:
                yield path.name, returning(text), False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hespas")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--corpus")
    parser.add_argument("--every", type=int, default=1, help="one in so many programs of the corpus")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options.hespas)
    worker = Worker(options.hespas)
    ran = skipped = 0
    failures = []
    for name, text, must_run in programs(options):
        verdict = worker.verdict(name, text, must_run)
        skipped += verdict == SKIPPED
        ran += verdict != SKIPPED
        if verdict not in (None, SKIPPED):
            failures.append(verdict)
    print(f"{ran} programs run both ways, {skipped} of the corpus do not run at all")
    print("\n".join(failures))
    return 1 if failures or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
