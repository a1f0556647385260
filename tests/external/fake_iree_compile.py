#!/usr/bin/env python3
"""Plays iree-compile 3.13 on the recorded matmul: checks how it is called and writes what it wrote.

FAKE_IREE names the folder with iree_matmul.ptx and iree_matmul.hal.mlir; FAKE_IREE_FAILURE makes it fail with that text. Programs that hold no
matmul are refused. Each call appends its program to `calls` of the folder FAKE_IREE_CALLS.
"""
import os
import pathlib
import sys

if sys.argv[1:] == ["--version"]:
    print("IREE compiler version 3.13.0 (fake)")
    sys.exit()
recorded, calls = pathlib.Path(os.environ["FAKE_IREE"]), pathlib.Path(os.environ["FAKE_IREE_CALLS"]) / "calls"
program = pathlib.Path(sys.argv[1]).read_text()
with open(calls, "a") as file:
    file.write(f"{sys.argv[1:]}\n{program}\n---\n")
expected = ["--iree-input-type=stablehlo", "--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"]
if sys.argv[2:5] != expected or "dot_general" not in program or "FAKE_IREE_FAILURE" in os.environ:
    sys.exit(f"op.mlir:1:1: error: {os.environ.get('FAKE_IREE_FAILURE', 'no such program')}")
pathlib.Path("kernels.ptx").write_text((recorded / "iree_matmul.ptx").read_text())
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text((recorded / "iree_matmul.hal.mlir").read_text())
