#!/usr/bin/env python3
"""Matmul and convolution FLOPs of programs beside a reference: program_flops.py PROGRAMS_FOLDER REFERENCE.jsonl [--hespas BIN].

The reference has a JSON object a line: file, matmul_conv_flops (of the whole program on all its devices), unknown_loops.
Prints a row for each program; exits 1 where one without unknown loops differs by more than 1 % and no reason is listed."""
import argparse
import json
import pathlib
import re
import subprocess
import sys

CONTRACTIONS = {"dot_general", "dot", "convolution", "ragged_dot"}
# Custom calls that multiply; others (linear algebra) are not in the reference.
KERNELS = ("tpu_custom_call", "gpu.triton", "block_scaled_dot", "fmha")
TOLERANCE = 0.01
# Differences that are right, and why.
UNUSED = "the reference counts matmuls whose results nothing uses; JAX removes them while lowering"
ZEROS = "the reference counts the zeros of dilation in gradients of strided convolutions"
MASKED = "the reference counts the blocks that the mask skips"
REASONS = {
    "complex_mm.mlir": "a complex matmul is four real ones; the reference counts it once",
    "cond_switch.mlir": "analyze counts every branch; the reference (and run) the most expensive one",
    "conv_grouped_grad.mlir": UNUSED,
    "conv_transpose.mlir": ZEROS,
    "hk_lstm_train.mlir": UNUSED,
    "hk_resnet50_train.mlir": ZEROS,
    "k_mobilenetv3_train.mlir": ZEROS,
    "nnx_attn_grad.mlir": UNUSED,
    "pl_tpu_splash.mlir": MASKED,
    "pl_tpu_splash_grad.mlir": MASKED,
    "sh_mlp_tp_train.mlir": UNUSED,
    "sparse_bcoo.mlir": "the reference does not look into sparse matmuls",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("--hespas", default="build/release/bin/hespas")
    return parser.parse_args()


def counted(hespas, program):
    """FLOPs of contractions as `analyze` counts them for one device, and the devices; None where it refuses the program."""
    done = subprocess.run([hespas, "analyze", program, "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, 1
    text = program.read_text(errors="replace")
    kernels = any(word in text for word in KERNELS)
    kinds = CONTRACTIONS | ({"custom_call"} if kernels else set())
    partitions = re.search(r"mhlo.num_partitions = (\d+)", text)
    work = json.loads(done.stdout)["work"]
    flops = sum(row["flops"] for row in work if row["op"].split(".")[-1] in kinds)
    return flops, int(partitions.group(1)) if partitions else 1


def verdict(row, found, devices):
    expected = row["matmul_conv_flops"]
    if expected is None:
        return "no reference"
    if found is None:
        return "refused"
    if abs(found - expected) <= TOLERANCE * max(expected, 1):
        return "agrees"
    if abs(found * devices - expected) <= TOLERANCE * max(expected, 1):
        return f"agrees on {devices} devices"
    if row["unknown_loops"]:
        return "unknown loops"
    return REASONS.get(row["file"], "DIFFERS")


def main():
    options = arguments()
    wrong = 0
    for line in options.reference.read_text().splitlines():
        row = json.loads(line)
        found, devices = counted(options.hespas, options.programs / row["file"])
        said = verdict(row, found, devices)
        wrong += said == "DIFFERS"
        ratio = found / row["matmul_conv_flops"] if found and row["matmul_conv_flops"] else float("nan")
        print(f"{row['file']:44s} {row['matmul_conv_flops'] or 0:20.0f} {found or 0:20.0f} {ratio:8.4f}  {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
