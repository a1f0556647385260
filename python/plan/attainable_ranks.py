#!/usr/bin/env python3
"""How well the order of measured steps can be met by a model that errs at random: rank correlations of 10,000 such models.

    python3 python/plan/attainable_ranks.py [--only TEXT] [--without TEXT] [--errors 3,5,8]      rows of data/published/parallelism.csv

A model of 5 % takes each measured step times a factor whose logarithm is normal with mean 0 and standard deviation 0.05. Pairs of steps that lie
closer to each other than that are those whose order such a model does not tell.
"""
import argparse
import collections
import csv
import itertools
import math
import pathlib
import random
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "export")]

from export import data_folder  # noqa: E402
from validate_plans import rank_correlation  # noqa: E402

MODELS = 10_000


def attained(measured, error, count=MODELS):
    """Rank correlations of `count` models, the lowest first; the same ones each time."""
    draw = random.Random(len(measured))
    return sorted(rank_correlation(measured, [step * math.exp(draw.gauss(0.0, error)) for step in measured]) for _ in range(count))


def close(measured, error):
    """How many pairs of steps differ by less than a factor, and how many there are."""
    pairs = list(itertools.combinations(measured, 2))
    return sum(abs(math.log(one / other)) < error for one, other in pairs), len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name holds the text")
    parser.add_argument("--without", help="no rows whose name holds the text")
    parser.add_argument("--errors", default="3,5,8", help="standard deviations in per cent")
    arguments = parser.parse_args()
    groups = collections.defaultdict(list)
    for row in csv.DictReader((data_folder() / "published/parallelism.csv").open(newline="")):
        if arguments.only in row["id"] and not (arguments.without and arguments.without in row["id"]):
            groups[row["model"]].append(float(row["step_time_s"]) / (int(row["global_batch"]) * int(row["seq"])))
    for model, measured in groups.items():
        for error in map(float, arguments.errors.split(",")):
            found, (near, pairs) = attained(measured, error / 100), close(measured, error / 100)
            print(f"{model}, {len(measured)} rows, errors of {error:g} %: rank correlation {statistics.median(found):.2f} in the median, {found[len(found) // 20]:.2f} to "
                  f"{found[-1 - len(found) // 20]:.2f} in nine of ten; {sum(each >= 0.9 for each in found) / len(found):.0%} reach 0.9; {near} of {pairs} pairs are closer")


if __name__ == "__main__":
    main()
