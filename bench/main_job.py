#!/usr/bin/env python3
"""CPU time and peak memory of the main job, as ratios against the Python prototype.

The prototype's recorded figures (ResNet-50 train step 7.1 s, LLaMA-3 100m 1.4 s of CPU) come from a machine on which
jaxlib parses the ResNet file in 35 ms of CPU time. jaxlib and hespas take turns here, and each figure is scaled by the jaxlib run beside it.
The ratio is of a run without report and what-if rows, which the prototype does not have; a run with them is timed beside it.

With --prototype, a folder of its sources (pip installs it into build/bench/prototype) or a command that takes its place, the prototype runs here, too, and its ratio is of one
machine and one run.

usage: bench/main_job.py [--build build/release] [--runs 11] [--prototype FOLDER|COMMAND]
needs: jaxlib, which `scripts/python_env.sh jaxlib` installs into a cached environment outside the tree
"""
import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESNET = "tests/data/fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz"
LLAMA = "examples/llama3-100m-4dev.mlir.gz"
PROTOTYPE_CPU = {RESNET: 7.1, LLAMA: 1.4}
PROTOTYPE_JAXLIB_PARSE = 0.035

PARSE = """
import gzip, json, sys, time
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, stablehlo
text = gzip.open(sys.argv[1], 'rt').read()
times = []
for _ in range(3):
    with ir.Context() as context:
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        chlo.register_dialect(context)
        stablehlo.register_dialect(context)
        context.allow_unregistered_dialects = True
        begin = time.process_time()
        ir.Module.parse(text)
        times.append(time.process_time() - begin)
print(json.dumps(sorted(times)[len(times) // 2]))
"""


def child(command, silent=(1,)):
    """CPU seconds and peak resident bytes of one process, of which nothing is shown on these descriptors."""
    pid = os.posix_spawnp(command[0], command, os.environ,
                          file_actions=[(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_WRONLY, 0) for number in silent])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def jaxlib_parse(python):
    """CPU seconds of jaxlib's parser on the ResNet file; the median of a few in a process of its own."""
    return json.loads(subprocess.run([python, "-c", PARSE, ROOT / RESNET], check=True, capture_output=True).stdout)


def prototype_command(given):
    """`hespas_chakra_gen` of the prototype."""
    if not pathlib.Path(given).is_dir():
        return given
    place = ROOT / "build/bench/prototype"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([place / "bin/python", "-m", "pip", "install", "--quiet", given], check=True)
    return str(place / "bin/hespas_chakra_gen")


def prototype_cpu(command, program, folder):
    """CPU seconds of one process on the same program and device."""
    settings = json.loads((ROOT / "configs/nodes/A100_SXM_40GB/roofline/config.json").read_text())
    settings.update(mlir_file=str(program), output_dir=str(folder / "prototype"), split_strategy="individual_split", clean=True)
    (folder / "prototype.json").write_text(json.dumps(settings))
    return child([command, str(folder / "prototype.json")], silent=(1, 2))[0]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build/release")
    options.add_argument("--runs", type=int, default=11)
    options.add_argument("--prototype", help="folder of its sources, or a command")
    arguments = options.parse_args()
    python = subprocess.run([ROOT / "scripts/python_env.sh", "jaxlib"], check=True, capture_output=True, text=True).stdout.strip()
    folder = ROOT / "build/bench"
    folder.mkdir(parents=True, exist_ok=True)
    for program, prototype in PROTOTYPE_CPU.items():
        plain = folder / pathlib.Path(program).stem  # the prototype reads no compressed files
        plain.write_bytes(gzip.decompress((ROOT / program).read_bytes()))
        command = [str(ROOT / arguments.build / "bin/hespas"), "run", str(plain), "--device", "A100_SXM_40GB",
                   "--system", "A100_SXM_40GB_4GPU", "--estimator", "roofline", "--optimise", "none", "--split",
                   "individual", "--output", str(folder / "main_job"), "--quiet"]
        plain_run = command + ["--no-report"]
        child(plain_run)
        pairs = [(jaxlib_parse(python), child(plain_run)) for _ in range(arguments.runs)]
        whole = statistics.median(child(command)[0] for _ in range(arguments.runs))
        ratios = sorted(prototype * parse / PROTOTYPE_JAXLIB_PARSE / cpu for parse, (cpu, _) in pairs)
        print(f"{plain.name}: {1e3 * statistics.median(cpu for _, (cpu, _) in pairs):.1f} ms CPU, "
              f"{max(memory for _, (_, memory) in pairs) / 1e6:.1f} MB peak; "
              f"jaxlib parses ResNet in {1e3 * statistics.median(parse for parse, _ in pairs):.1f} ms; "
              f"{statistics.median(ratios):.0f} times less CPU than the prototype "
              f"({ratios[0]:.0f} to {ratios[-1]:.0f} over {arguments.runs} pairs); "
              f"with report and what-if rows {1e3 * whole:.1f} ms CPU")
        if arguments.prototype:
            theirs = prototype_cpu(prototype_command(arguments.prototype), plain, folder)
            print(f"{plain.name}: the prototype here {theirs:.2f} s CPU, {theirs / statistics.median(cpu for _, (cpu, _) in pairs):.0f} times as much")


if __name__ == "__main__":
    main()
