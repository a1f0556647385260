#!/usr/bin/env python3
"""Programs of several devices against their predictions from measured blocks, by XLA's CPU plugin, in processor time.

usage: bench/whole_steps.py [--repeats 5] PROGRAM...

The plugin's devices share this machine's processors, so wall time would tell how many there are. Set side by side is what all devices
together computed: measured, the whole step on as many devices as the program is for, its collectives included; predicted, the blocks of
one device (--split linear) times the devices, without the network, which takes none of the processors' time in the model. Each repetition
goes through all programs; printed are medians, their spread (smallest to largest), and by how much the prediction is off.
"""
import argparse
import pathlib

from block_sums import Row, plugin


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="+", type=pathlib.Path)
    options.add_argument("--repeats", type=int, default=5)
    given = options.parse_args()
    common = ["--estimator", "pjrt", "--plugin", plugin(), "--clock", "cpu", "--whole"]
    rows = [(program, Row("measured step"), Row("predicted")) for program in given.programs]
    for _ in range(given.repeats):
        for program, measured, predicted in rows:
            answer = predicted.measure(program, common)
            predicted.values[-1] *= answer["npus"]
            measured.values.append(answer["measured_step"]["time_s"])
    for program, measured, predicted in rows:
        print(f"{program.name}: {measured.text(None)}; {predicted.text(measured)}", *sorted(predicted.notes), flush=True)


if __name__ == "__main__":
    main()
