#!/usr/bin/env python3
"""Blocks are valid programs: what `hespas split --output` writes is parsed by jaxlib, compiled by XLA's CPU plugin, and gives the whole
program's results when the blocks run in order with values passed on.

usage: $(scripts/python_env.sh jax) blocks_test.py HESPAS [--parse PROGRAM...] [--compile PLUGIN PROGRAM...] [--run PROGRAM...] [--made] [--cuts CUT...]

PROGRAM is partitioned StableHLO, cut by each CUT of `hespas split --split`. --run compares
relative to the largest value of each result: 1e-4 for f32, 3e-2 where bf16 or f16 rounds in between. --made does the same with small programs
made here: tuples between blocks, and matmuls of rows in groups, which are compared with NumPy's.
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

CUTS = ("linear", "fusion", "individual")


class Blocks:
    """The blocks of a program as `hespas split` writes them."""

    def __init__(self, hespas, program, cut):
        self.folder = tempfile.TemporaryDirectory()
        subprocess.run([hespas, "split", program, "--output", self.folder.name, "--quiet", "--format", "json", "--split", cut],
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


def name(program):
    return pathlib.Path(program).name


def parse(hespas, programs, cut):
    total = 0
    for program in programs:
        blocks = Blocks(hespas, program, cut)
        with jax_mlir.make_ir_context() as context:
            context.allow_unregistered_dialects = False
            for file in blocks.compute:
                assert ir.Module.parse(blocks.text(file)).operation.verify(), (program, file)
        total += len(blocks.compute)
        reasons = sorted(set(blocks.refused.values()))
        print(f"{name(program)} {cut}: {len(blocks.compute)} distinct blocks parse" + "".join(f"; {why}" for why in reasons), flush=True)
    print(f"{total} distinct blocks of {len(programs)} programs parse, cut {cut}")


class Compiler:
    """The worker that the estimator starts."""

    def __init__(self, hespas, plugin):
        self.worker = subprocess.Popen([pathlib.Path(hespas).parent / "hespas_pjrt_worker", "--plugin", plugin], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        greeting = json.loads(self.worker.stdout.readline())
        assert greeting["ready"], greeting

    def failure(self, path):
        request = {"id": 1, "do": "compile", "program": str(path), "arguments": []}
        self.worker.stdin.write(json.dumps(request) + "\n")
        self.worker.stdin.flush()
        answer = json.loads(self.worker.stdout.readline())
        return None if answer["ok"] else answer["message"]

    def close(self):
        self.worker.stdin.close()
        self.worker.wait()


def compile_all(hespas, plugin, programs, cut):
    total, failed = 0, []
    for program in programs:
        blocks = Blocks(hespas, program, cut)
        compiler = Compiler(hespas, plugin)
        for file in blocks.compute:
            why = compiler.failure(blocks.path(file))
            if why:
                failed.append((name(program), file, why))
        compiler.close()
        # A block that computes and does not run is a failure too: only those that communicate may be refused.
        computing = {row["file"] for row in blocks.wiring["blocks"] if row["kind"] == "compute"}
        failed += [(name(program), file, why) for file, why in blocks.refused.items() if file in computing]
        total += len(blocks.compute)
        print(f"{name(program)} {cut}: {len(blocks.compute)} distinct blocks compile", flush=True)
    assert not failed, failed
    print(f"{total} distinct blocks of {len(programs)} programs compile, cut {cut}")


def execute(executable, values, devices):
    if len(devices) == 1:
        return list(executable.execute(values))
    results = executable.execute_sharded(values).disassemble_into_single_device_arrays()
    everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), ("x",)), jax.sharding.PartitionSpec())
    return [jax.make_array_from_single_device_arrays(parts[0].shape, everywhere, list(parts)) for parts in results]


def first(value):
    return np.asarray(value.addressable_shards[0].data)


def compare(hespas, program, cut):
    text = subprocess.run([hespas, "print", program, "--generic"], check=True, capture_output=True, text=True).stdout
    executable, arguments, devices = numeric.compiled(text)
    if len(devices) == 1:
        placed = [jax.device_put(v, devices[0]) for v in arguments]
    else:
        everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), ("x",)), jax.sharding.PartitionSpec())
        placed = [jax.device_put(v, everywhere) for v in arguments]
    blocks = Blocks(hespas, program, cut)
    assert not blocks.refused, blocks.refused
    values, known = dict(zip(blocks.wiring["arguments"], placed)), {}
    for row in blocks.wiring["blocks"]:
        if row["file"] not in known:
            known[row["file"]] = numeric.compiled(blocks.text(row["file"], len(devices)))[0]
        results = execute(known[row["file"]], [values[i] for i in row["inputs"]], devices)
        values |= dict(zip(row["outputs"], results, strict=True))
    # The whole program last: it may reuse the memory of its arguments.
    whole = execute(executable, placed, devices)
    assert any(np.isfinite(first(v).astype(np.float64)).all() and np.abs(first(v).astype(np.float64)).max() > 0 for v in whole), program
    tolerance = 3e-2 if re.search(r"x?(bf16|f16)", text) else 1e-4
    worst = max(numeric.difference(first(values[i]), first(expected))
                for i, expected in zip(blocks.wiring["results"], whole, strict=True))
    assert worst <= tolerance, f"{program}: results of the blocks differ by {worst:.2g}"
    print(f"{name(program)} {cut}: {len(blocks.wiring['blocks'])} blocks in order give the program's {len(whole)} results "
          f"within {worst:.1e}", flush=True)


TUPLES = """module {
  func.func private @larger(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func @main(%a: tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>, tensor<8x16xf32>) {
    %0 = stablehlo.custom_call @TopK(%a) {backend_config = "", called_computations = [@larger],
         xla_shape = "(f32[8,2]{1,0}, s32[8,2]{1,0})"} : (tensor<8x16xf32>) -> tuple<tensor<8x2xf32>, tensor<8x2xi32>>
    %1 = stablehlo.negate %a : tensor<8x16xf32>
    %2 = stablehlo.tuple %0, %1 : tuple<tuple<tensor<8x2xf32>, tensor<8x2xi32>>, tensor<8x16xf32>>
    %3 = stablehlo.get_tuple_element %2[0]
         : (tuple<tuple<tensor<8x2xf32>, tensor<8x2xi32>>, tensor<8x16xf32>>) -> tuple<tensor<8x2xf32>, tensor<8x2xi32>>
    %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<8x2xf32>, tensor<8x2xi32>>) -> tensor<8x2xf32>
    %5 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<8x2xf32>, tensor<8x2xi32>>) -> tensor<8x2xi32>
    %6 = stablehlo.get_tuple_element %2[1]
         : (tuple<tuple<tensor<8x2xf32>, tensor<8x2xi32>>, tensor<8x16xf32>>) -> tensor<8x16xf32>
    return %4, %5, %6 : tensor<8x2xf32>, tensor<8x2xi32>, tensor<8x16xf32>
  }
}
"""


def tuples(hespas):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(TUPLES)
        file.flush()
        for cut in CUTS:
            compare(hespas, file.name, cut)


def matmul_of_groups(lhs, rhs, sizes, summed):
    """[m, k] x [g, k, n] -> [m, n] with rows in groups, or [m, k] x [k, n] -> [g, m, n] with sums in groups, in float64."""
    out = np.zeros((len(sizes), lhs.shape[0], rhs.shape[-1]) if summed else (lhs.shape[0], rhs.shape[-1]))
    start = 0
    for group, size in enumerate(sizes):
        part = slice(start, start + size)
        if summed:
            out[group] = lhs[:, part].astype(np.float64) @ rhs[part]
        else:
            out[part] = lhs[part].astype(np.float64) @ rhs[group]
        start += size
    return out


def ragged(hespas):
    """ragged_dot as its block computes it, which XLA's CPU compiler does not take as it is."""
    rng = np.random.default_rng(3)
    sizes = np.array([5, 0, 9, 3], np.int32)  # of 20 rows: the last three belong to no group
    for summed in (False, True):
        left, right = ((7, 20), (20, 6)) if summed else ((20, 7), (4, 7, 6))
        result = (4, 7, 6) if summed else (20, 6)
        a, b, c = ("x".join(map(str, dims)) + "xf32" for dims in (left, right, result))
        groups = "" if summed else ", rhs_group_dimensions = [0]"
        contracted = ("1", "0") if summed else ("1", "1")
        for dialect, dot in (("chlo", "{}"), ("mhlo", "dot_dimension_numbers = #mhlo.dot<{}>")):
            numbers = dot.format(f"lhs_contracting_dimensions = [{contracted[0]}], rhs_contracting_dimensions = [{contracted[1]}]")
            text = f"""func.func @main(%a: tensor<{a}>, %b: tensor<{b}>, %s: tensor<4xi32>) -> tensor<{c}> {{
  %0 = "{dialect}.ragged_dot"(%a, %b, %s) <{{ragged_dot_dimension_numbers = #{dialect}.ragged_dot<{numbers},
       lhs_ragged_dimensions = [{1 if summed else 0}]{groups}>}}> : (tensor<{a}>, tensor<{b}>, tensor<4xi32>) -> tensor<{c}>
  return %0 : tensor<{c}>
}}
"""
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(text)
                file.flush()
                blocks = Blocks(hespas, file.name, "linear")
                executable = numeric.compiled(blocks.text("block_0.mlir"))[0]
            values = [rng.uniform(-1, 1, left).astype(np.float32), rng.uniform(-1, 1, right).astype(np.float32), sizes]
            found = np.asarray(executable.execute([jax.device_put(v) for v in values])[0])
            worst = np.abs(found - matmul_of_groups(*values, summed)).max()
            assert worst < 1e-5, (dialect, summed, worst)
    print("matmuls of rows and of sums in groups are NumPy's")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("hespas")
    options.add_argument("--parse", nargs="*", default=[])
    options.add_argument("--compile", nargs="*", default=[])
    options.add_argument("--run", nargs="*", default=[])
    options.add_argument("--made", action="store_true")
    options.add_argument("--cuts", nargs="*", default=CUTS)
    given = options.parse_args()
    if given.made:
        ragged(given.hespas)
        tuples(given.hespas)
    for cut in given.cuts:
        if given.parse:
            parse(given.hespas, given.parse, cut)
        if given.compile:
            compile_all(given.hespas, given.compile[0], given.compile[1:], cut)
        for program in given.run:
            compare(given.hespas, program, cut)


if __name__ == "__main__":
    main()
