#!/usr/bin/env python3
"""What another version of XLA makes of the twins' programs: follow_xla.py PYTHON [--device A100_SXM_40GB] [--output FOLDER] [PROGRAM...]

PYTHON has the jaxlib to try, with its CUDA plugin: `python -m venv NEW && NEW/bin/pip install 'jax[cuda12]==VERSION'`. Every program of
data/xla-twins is compiled with it, without a GPU, and held against the stored twin by the same model. The table shows kernels, bytes and
step time of the stored twin and of the new one; only programs that changed are listed.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TWINS = ROOT / "data/xla-twins"
sys.path.insert(0, str(ROOT / "python/export"))
import targets  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="Python with the jaxlib to try")
    parser.add_argument("programs", nargs="*", help="default: all")
    parser.add_argument("--device", default="A100_SXM_40GB")
    parser.add_argument("--output", type=pathlib.Path, help="keeps the new twins")
    parser.add_argument("--hespas", default=str(ROOT / "build/release/bin/hespas"))
    return parser.parse_args()


def compiled(options, program, target, folder):
    """Optimised HLO text of the new version, or None where it refuses the program."""
    command = [options.python, str(ROOT / "python/export/xla_gpu.py"), str(program), "--target", str(target), "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{program.stem}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    return (folder / "optimised.hlo").read_text()


def figures(options, program):
    """Kernels, bytes, and the kernels' time in us."""
    command = [options.hespas, "optimise", str(program), "--device", options.device, "--optimise", "none", "--kernels", "--format", "json", "-q"]
    kernels = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return len(kernels), sum(k["bytes"] for k in kernels), sum(k["time_us"] for k in kernels)


def main():
    options = arguments()
    target_text, _ = targets.target_config(json.loads((ROOT / "data/devices" / f"{options.device}.json").read_text()))
    names = options.programs or sorted(path.name.split(".")[0] for path in TWINS.glob(f"*.{options.device}.hlo.zst"))
    print(f"{'program':30s} {'kernels':>15s} {'MB':>21s} {'kernel time [us]':>23s}")
    changed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.output or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        target = pathlib.Path(scratch) / "target.pbtxt"
        target.write_text(target_text)
        for name in names:
            program = pathlib.Path(scratch) / f"{name}.mlir"
            subprocess.run(["zstd", "-dqf", str(TWINS / f"{name}.mlir.zst"), "-o", str(program)], check=True)
            text = compiled(options, program, target, pathlib.Path(scratch) / name)
            if text is None:
                continue
            new = folder / f"{name}.{options.device}.hlo"
            new.write_text(text)
            before, after = figures(options, TWINS / f"{name}.{options.device}.hlo.zst"), figures(options, new)
            if before == after:
                continue
            changed += 1
            print(f"{name:30s} {before[0]:6d} -> {after[0]:5d} {before[1] / 1e6:9.1f} -> {after[1] / 1e6:8.1f} {before[2]:10.1f} -> {after[2]:9.1f}")
    print(f"{changed} of {len(names)} programs changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
