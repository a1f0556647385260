#!/usr/bin/env python3
"""CPU time and peak memory of reading, splitting, estimating and assembling, and of reading and optimising large programs: a synthetic one
of a million operations beside one of half as many (linear growth is a ratio of 2), and any given programs, also on 4,096 NPUs.

usage: bench/scale.py [--build build/release] [--ops 1000000] [PROGRAM...]
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODES = {"linear": ["--split", "linear"], "individual": ["--split", "individual"],
         "merged": ["--split", "individual", "--merge"]}
ALL_REDUCE = '''    {0} = "stablehlo.all_reduce"({1}) <{{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }}) : (tensor<64x64xf32>) -> tensor<64x64xf32>'''


def synthetic(path, ops):
    """A chain of matmuls and elementwise work with an all-reduce after every hundred operations."""
    with open(path, "w", encoding="ascii") as out:
        out.write("module @big {\n  func.func public @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n")
        last, i = "%a", 0
        while i < ops:
            out.write(f"    %{i} = stablehlo.add {last}, %a : tensor<64x64xf32>\n"
                      f"    %{i + 1} = stablehlo.multiply %{i}, {last} : tensor<64x64xf32>\n"
                      f"    %{i + 2} = stablehlo.tanh %{i + 1} : tensor<64x64xf32>\n"
                      f"    %{i + 3} = stablehlo.dot_general %{i + 2}, %a, contracting_dims = [1] x [0] : "
                      "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n")
            last, i = f"%{i + 3}", i + 4
            if i % 100 == 0:
                out.write(ALL_REDUCE.format(f"%{i}", last) + "\n")
                last, i = f"%{i}", i + 1
        out.write(f"    return {last} : tensor<64x64xf32>\n  }}\n}}\n")


def child(command):
    """CPU seconds and peak resident bytes."""
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build/release")
    options.add_argument("--ops", type=int, default=1_000_000)
    options.add_argument("programs", nargs="*")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        def trace(program, mode, npus=4):
            if mode == "optimise":
                return child([str(ROOT / arguments.build / "bin/hespas"), "optimise", str(program), "--device", "A100_SXM_40GB", "--optimise",
                              "xla-gpu", "--format", "json", "--quiet"])
            shutil.rmtree(f"{folder}/out", ignore_errors=True)
            return child([str(ROOT / arguments.build / "bin/hespas"), "trace", str(program), "--device", "A100_SXM_40GB",
                          "--estimator", "roofline", "--optimise", "none", "--num-npus", str(npus), "--output", f"{folder}/out",
                          "--quiet", *MODES[mode]])
        half, whole = f"{folder}/half.mlir", f"{folder}/whole.mlir"
        synthetic(half, arguments.ops // 2)
        synthetic(whole, arguments.ops)
        for mode in [*MODES, "optimise"]:
            small, _ = trace(half, mode)
            seconds, memory = trace(whole, mode)
            print(f"{arguments.ops} ops, {mode}: {seconds:.2f} s CPU, {memory / 1e6:.0f} MB, {seconds / small:.2f} times half the ops")
        for program in arguments.programs:
            for mode in [*MODES, "optimise"]:
                seconds, memory = trace(program, mode)
                print(f"{pathlib.Path(program).name}, {mode}: {seconds:.2f} s CPU, {memory / 1e6:.0f} MB")
            seconds, memory = trace(program, "individual", 4096)
            files = [path.stat().st_size for path in pathlib.Path(folder, "out").iterdir()]
            print(f"{pathlib.Path(program).name}, individual, 4096 NPUs: {seconds:.2f} s CPU, {memory / 1e6:.0f} MB, "
                  f"{len(files)} files of {sum(files) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
