#!/usr/bin/env python3
"""What each device runs of a global program: XLA's partitioner on pretended CPU devices. `hespas run` calls it.

    partition_program.py PROGRAM OUTPUT.mlir DEVICES     PROGRAM: StableHLO text (Shardy or GSPMD) or HLO text

Runs in whichever Python is at hand, and continues in the environment that has JAX.
"""
import os
import pathlib
import shutil
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from environments import continue_in_jax, program_text  # noqa: E402


def partition(program, output, devices):
    import lower
    from partition import NotPartitioned, early_hlo
    from remesh import compiler

    devices = int(devices)
    lower.prepare_environment(devices)
    text = program_text(program)
    if text.lstrip().startswith("HloModule"):
        text = lower.hlo_to_stablehlo(text)
    dumps = tempfile.mkdtemp(prefix="hespas-")
    status = 1
    try:
        lower.write(output, lower.partitioned_stablehlo(early_hlo(compiler(text, devices), dumps)))
        status = 0
    except NotPartitioned as error:
        sys.stderr.write(f"{error}\n")
    except Exception:  # noqa: BLE001 - the process must not end as Python ends it
        traceback.print_exc()
    shutil.rmtree(dumps, ignore_errors=True)
    sys.stderr.flush()
    os._exit(status)  # XLA's own compilation still runs in a thread that nothing can stop


if __name__ == "__main__":
    continue_in_jax(__file__, partition)
