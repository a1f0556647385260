#!/usr/bin/env python3
"""`--optimise xla` for real: XLA's own GPU compiler on a small program, in the environment of python/locks/cuda.txt.

usage: exact_test.py HESPAS ROOT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %r: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = stablehlo.add %0, %r : tensor<64x16xf32>
  %2 = stablehlo.tanh %1 : tensor<64x16xf32>
  return %2 : tensor<64x16xf32>
}
"""


def main():
    hespas, root = sys.argv[1], pathlib.Path(sys.argv[2])
    python = subprocess.run([root / "scripts/python_env.sh", "cuda"], check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HESPAS_XLA_PYTHON=python, XDG_CACHE_HOME=folder)

        def run(*words, program=PROGRAM):
            return subprocess.run([hespas, "optimise", "-", "--optimise", "xla", "--device", "A100_SXM_40GB", *words], input=program,
                                  text=True, capture_output=True, env=environment, check=False)

        first = run("--format", "json", "--quiet")
        assert first.returncode == 0, first.stderr
        counts = json.loads(first.stdout)
        assert counts["kernels"]["library_calls"] == 1 and counts["kernels"]["fusions"] == 1, counts
        assert counts["flops"] == 2 * 64 * 32 * 16, counts
        kept = list(pathlib.Path(folder).glob("hespas/xla/*.hlo"))
        assert len(kept) == 1, kept
        kept[0].write_text(kept[0].read_text().replace("tanh(", "negate("))  # the second answer comes from what was kept
        assert "negate" in run("--quiet").stdout
        triton = run("--format", "json", "--quiet", "--xla-flag=--xla_gpu_enable_triton_gemm=true")
        assert triton.returncode == 0, triton.stderr
        assert json.loads(triton.stdout)["kernels"]["library_calls"] == 0, triton.stdout
        assert len(list(pathlib.Path(folder).glob("hespas/xla/*.hlo"))) == 2
    print("XLA's own compiler ran, and its result was kept")


if __name__ == "__main__":
    main()
