#!/usr/bin/env python3
"""Blocks are valid programs: what `hespas split --output` writes is parsed by jaxlib, compiled by XLA's CPU plugin, and gives the whole
program's results when the blocks run in order with values passed on.

usage: $(scripts/python_env.sh jax) blocks_test.py HESPAS [--parse PROGRAM...] [--compile PLUGIN PROGRAM...] [--run PROGRAM...]

PROGRAM is partitioned StableHLO. --run compares relative to the largest value of each result: 1e-4 for f32, 3e-2 where bf16 or f16 rounds
in between.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "optimise"))
import numeric_test as numeric  # noqa: E402 - sets XLA_FLAGS for four devices before JAX starts
import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.interpreters import mlir as jax_mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

LINEAR = ["--split", "linear"]


class Blocks:
    """The blocks of a program as `hespas split` writes them."""

    def __init__(self, hespas, program, words=()):
        self.folder = tempfile.TemporaryDirectory()
        subprocess.run([hespas, "split", program, "--output", self.folder.name, "--quiet", "--format", "json", *words],
                       check=True, stdout=subprocess.DEVNULL)
        self.wiring = json.loads((pathlib.Path(self.folder.name) / "blocks.json").read_text())
        rows = self.wiring["blocks"]
        self.refused = {row["file"]: row["not_profilable"] for row in rows if "not_profilable" in row}
        self.compute = sorted({row["file"] for row in rows if row["kind"] == "compute"} - self.refused.keys())

    def path(self, file):
        return pathlib.Path(self.folder.name) / file

    def text(self, file, partitions=1):
        text = self.path(file).read_text()
        if partitions == 1:
            return text
        return re.sub(r"\}\) : \(\) -> \(\)\s*$", f"}}) {{mhlo.num_partitions = {partitions} : i32}} : () -> ()\n", text)


def parse(hespas, programs):
    total = 0
    for program in programs:
        blocks = Blocks(hespas, program, LINEAR)
        with jax_mlir.make_ir_context() as context:
            context.allow_unregistered_dialects = False
            for file in blocks.compute:
                assert ir.Module.parse(blocks.text(file)).operation.verify(), (program, file)
        total += len(blocks.compute)
        reasons = sorted(set(blocks.refused.values()))
        print(f"{pathlib.Path(program).name}: {len(blocks.compute)} distinct blocks parse"
              + "".join(f"; {why}" for why in reasons), flush=True)
    print(f"{total} distinct blocks of {len(programs)} programs parse")


def compile_all(hespas, plugin, programs):
    """Each distinct block by the worker that the estimator starts."""
    worker = subprocess.Popen([pathlib.Path(hespas).parent / "hespas_pjrt_worker", "--plugin", plugin], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    greeting = json.loads(worker.stdout.readline())
    assert greeting["ready"], greeting
    total = 0
    for program in programs:
        blocks = Blocks(hespas, program, LINEAR)
        for file in blocks.compute:
            request = {"id": total, "do": "compile", "program": str(blocks.path(file)), "arguments": []}
            worker.stdin.write(json.dumps(request) + "\n")
            worker.stdin.flush()
            answer = json.loads(worker.stdout.readline())
            assert answer["ok"], (program, file, answer["message"])
            total += 1
        print(f"{pathlib.Path(program).name}: {len(blocks.compute)} distinct blocks compile", flush=True)
    worker.stdin.close()
    worker.wait()
    print(f"{total} distinct blocks of {len(programs)} programs compile")


def execute(executable, values, devices):
    if len(devices) == 1:
        return list(executable.execute(values))
    results = executable.execute_sharded(values).disassemble_into_single_device_arrays()
    everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), ("x",)), jax.sharding.PartitionSpec())
    return [jax.make_array_from_single_device_arrays(parts[0].shape, everywhere, list(parts)) for parts in results]


def first(value):
    return np.asarray(value.addressable_shards[0].data)


def compare(hespas, program, words):
    text = subprocess.run([hespas, "print", program, "--generic"], check=True, capture_output=True, text=True).stdout
    executable, arguments, devices = numeric.compiled(text)
    if len(devices) == 1:
        placed = [jax.device_put(v, devices[0]) for v in arguments]
    else:
        everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), ("x",)), jax.sharding.PartitionSpec())
        placed = [jax.device_put(v, everywhere) for v in arguments]
    blocks = Blocks(hespas, program, words)
    assert not blocks.refused, blocks.refused
    values, known = dict(zip(blocks.wiring["arguments"], placed)), {}
    for row in blocks.wiring["blocks"]:
        if row["file"] not in known:
            known[row["file"]] = numeric.compiled(blocks.text(row["file"], len(devices)))[0]
        results = execute(known[row["file"]], [values[i] for i in row["inputs"]], devices)
        values |= dict(zip(row["outputs"], results))
    # The whole program last: it may reuse the memory of its arguments.
    whole = execute(executable, placed, devices)
    assert any(np.isfinite(first(v).astype(np.float64)).all() and np.abs(first(v).astype(np.float64)).max() > 0 for v in whole), program
    tolerance = 3e-2 if re.search(r"x?(bf16|f16)", text) else 1e-4
    worst = max(numeric.difference(first(values[i]), first(expected))
                for i, expected in zip(blocks.wiring["results"], whole, strict=True))
    assert worst <= tolerance, f"{program}: results of the blocks differ by {worst:.2g}"
    print(f"{pathlib.Path(program).name} {words[1]}: {len(blocks.wiring['blocks'])} blocks in order give the program's {len(whole)} results "
          f"within {worst:.1e}", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("hespas")
    options.add_argument("--parse", nargs="*", default=[])
    options.add_argument("--compile", nargs="*", default=[])
    options.add_argument("--run", nargs="*", default=[])
    given = options.parse_args()
    if given.parse:
        parse(given.hespas, given.parse)
    if given.compile:
        compile_all(given.hespas, given.compile[0], given.compile[1:])
    for program in given.run:
        for words in (LINEAR, ["--split", "fusion"]):
            compare(given.hespas, program, words)


if __name__ == "__main__":
    main()
