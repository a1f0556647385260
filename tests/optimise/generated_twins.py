#!/usr/bin/env python3
"""Programs from a grammar of layers (generated_models.py), compiled by XLA without a GPU, against the optimiser's:

    generated_twins.py HESPAS FOLDER [--programs 30] [--first 0] [--device A100_SXM_40GB]

Writes NAME.mlir and NAME.DEVICE.hlo to FOLDER, unless they are there, and prints `hespas validate --set xla-twins --twins FOLDER`. Exit
status 1 where FLOPs or collectives of a program differ. Runs in the environment of python/locks/cuda.txt.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python/export"), str(pathlib.Path(__file__).parent)]
import targets  # noqa: E402
import xla_gpu  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hespas")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--programs", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--device", default="A100_SXM_40GB")
    return parser.parse_args()


def compile_all(options, dumps):
    xla_gpu.prepare_environment([f"--xla_dump_to={dumps}", "--xla_dump_hlo_as_text", *xla_gpu.COMMON_FLAGS])
    from generated_models import Model

    target, _ = targets.target_config(json.loads((ROOT / "data/devices" / f"{options.device}.json").read_text()))
    for seed in range(options.first, options.first + options.programs):
        name, text = Model(seed).lowered()
        optimised = options.folder / f"{name}.{options.device}.hlo"
        if optimised.exists():
            continue
        (options.folder / f"{name}.mlir").write_text(text)
        xla_gpu.compile_program(text, target)
        optimised.write_text(xla_gpu.largest(dumps, f"*.jit_{name}.*gpu_after_optimizations.txt").read_text())


def validate(options, form):
    command = [options.hespas, "validate", "--set", "xla-twins", "--twins", str(options.folder), "-q", "--format", form]
    return subprocess.run(command, env=dict(os.environ, XLA_FLAGS=""), check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="twins-") as folder:
        compile_all(options, pathlib.Path(folder))
    print(validate(options, "table"))
    wrong = [row["program"] for row in json.loads(validate(options, "json"))
             if abs(row["FLOPs %"]) > 0.5 or row["collectives"] != "equal"]
    if wrong:
        print("FLOPs or collectives differ: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
