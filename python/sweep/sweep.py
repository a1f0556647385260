#!/usr/bin/env python3
"""`hespas sweep` on a cluster (--on ray, --on slurm) and with a search (--search): points still come from the compiled command.

    hespas sweep FILE --on ray[=ADDRESS] --output DIR      chunks of points as tasks of a Ray cluster; local without an address
    hespas sweep FILE --on slurm --output DIR              as a Slurm job array; the folder must be one that all nodes see
    hespas sweep FILE --search bayesian --trials 100       tries a hundred points in place of all

The same command resumes what is missing. Whatever else `hespas sweep` takes may be given, too.
"""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "export")]

from environments import Refused, environment  # noqa: E402


def options():
    parser = argparse.ArgumentParser(prog="hespas sweep", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what varies: YAML or JSON")
    parser.add_argument("--on", help="ray, ray=ADDRESS or slurm")
    parser.add_argument("--output", help="folder for the rows")
    parser.add_argument("--chunk", type=int, help="points of one task; by default a 64th of all, 1000 at most")
    parser.add_argument("--slurm-option", action="append", default=[], metavar="OPTION", help="for sbatch, such as --partition=long; repeatable")
    parser.add_argument("--search", choices=("exhaustive", "halving", "bayesian"), help="how points to try are chosen")
    parser.add_argument("--trials", type=int, default=100, help="points that a search tries at most")
    parser.add_argument("--seed", type=int, default=0, help="of a search")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="of a search's answer")
    parser.add_argument("--minimise", help="what is best when it is least; by default what the file says")
    parser.add_argument("--subject-to", action="append", default=[], metavar="CONDITION", help="condition on results; repeatable")
    return parser.parse_known_args()


def with_library(name):
    """Goes on in the locked environment `sweep` where this interpreter lacks the library."""
    probe = subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True, check=False)
    if probe.returncode == 0:
        return
    if os.environ.get("HESPAS_SWEEP_ENVIRONMENT"):
        raise Refused(f"the Python package `{name}` is missing", "pip install 'hespas[sweep]'")
    os.environ["HESPAS_SWEEP_ENVIRONMENT"] = "1"
    os.execv(environment("sweep"), ["python", *sys.argv])


def main():
    arguments, more = options()
    if arguments.search:
        with_library("optuna")
        import search
        return search.main(arguments, more)
    where, _, address = arguments.on.partition("=")
    if where not in ("ray", "slurm"):
        raise Refused(f"there is no engine `{arguments.on}`", "--on takes ray, ray=ADDRESS or slurm", 2)
    if not arguments.output:
        raise Refused("--on needs --output", "name a folder that all workers see", 2)
    import chunks
    sweep = chunks.Sweep(arguments, more)
    if where == "ray":
        with_library("ray")
        import on_ray
        on_ray.run(sweep, address)
    else:
        import on_slurm
        on_slurm.run(sweep, arguments.slurm_option)
    return sweep.merge()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        print(f"error[E0918]: {refused}" + (f"\nhelp: {refused.help}" if refused.help else ""), file=sys.stderr)
        sys.exit(refused.status)
    except KeyboardInterrupt:
        print("stopped; the same command resumes the rest", file=sys.stderr)
        sys.exit(130)
