"""Random samples of plans: what they prove, against bounds from the literature, and that they are the same each time."""
import asyncio
import dataclasses
import math
import os
import pathlib
import sys
import types
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
sys.path[:0] = [str(ROOT / "python/plan"), str(ROOT / "python/export")]

from attainable_ranks import attained  # noqa: E402
from sample import Sample, sampled  # noqa: E402
from validate_plans import out_of_order  # noqa: E402


class Bounds(unittest.TestCase):
    def test_none_of_n(self):
        for size in (1, 59, 300):  # 1 - 0.05^(1/n): the rule of three for large n (Hanley and Lippman-Hand 1983)
            self.assertAlmostEqual(Sample(1000, size, 0).share, 1 - 0.05 ** (1 / size), places=9)
        self.assertAlmostEqual(300 * Sample(1000, 300, 0).share, 3, delta=0.02)

    def test_some_of_n(self):
        self.assertAlmostEqual(Sample(100, 10, 1).share, 0.3942, places=4)  # tables of Clopper and Pearson, 10 trials, one-sided 95 %
        self.assertAlmostEqual(Sample(100, 20, 5).share, 0.4556, places=4)
        shares = [Sample(100, 20, better).share for better in range(21)]
        self.assertEqual(shares, sorted(shares))
        self.assertEqual(shares[-1], 1)

    def test_large_samples(self):
        for size, better in ((2000, 1000), (3000, 300)):  # close to the normal distribution's bound
            share = better / size
            self.assertAlmostEqual(Sample(10000, size, better).share, share + 1.645 * (share * (1 - share) / size) ** 0.5, delta=1e-3)

    def test_nothing_drawn_proves_nothing(self):
        self.assertEqual((Sample(30, 0, 0).share, Sample(30, 0, 0).most), (1, 30))


class Ranks(unittest.TestCase):
    def test_two_steps_change_places_as_often_as_their_errors_overlap(self):
        """The difference of two normal errors of 10 % has a deviation of 14.1 %; 10 % apart they are out of order in 24 to 25 of 100 cases."""
        found = attained([1.0, math.exp(0.1)], 0.1)
        self.assertAlmostEqual(found.count(-1.0) / len(found), 0.5 * math.erfc(0.1 / 0.2), delta=0.015)

    def test_pairs_out_of_order(self):
        self.assertEqual(out_of_order([1.0, 1.04, 2.0], [1.0, 1.04, 2.0]), (0, 0))
        self.assertEqual(out_of_order([1.0, 1.04, 2.0], [1.04, 1.0, 0.9]), (3, 1))

    def test_no_error_is_no_disorder_and_each_call_says_the_same(self):
        steps = [1.0, 1.1, 1.3, 1.2, 2.0]
        self.assertEqual(set(attained(steps, 0.0, 10)), {1.0})
        self.assertEqual(attained(steps, 0.2, 50), attained(steps, 0.2, 50))


@dataclasses.dataclass(frozen=True, order=True)
class Candidate:
    number: int
    flags: str = ""
    ring: bool = False


def candidates(count):
    return [Candidate(number) for number in range(count)]


class Drawing(unittest.TestCase):
    class Search:
        """Every tenth is better, and another tenth with flags."""

        def __init__(self, possible):
            self.possible, self.estimated, self.failed = possible, [], []

        def open(self, row):
            return self.possible

        def better(self, row):
            return [{"candidate": each} for each in self.estimated if each.number % 10 == (5 if each.flags else 0)]

        async def estimate(self, workers, picked):
            self.estimated += picked

        async def vary(self, workers, picked):
            self.estimated += [dataclasses.replace(each, flags="pipelined") for each in picked]

    def drawn(self, possible, count):
        search = self.Search(possible)
        return asyncio.run(sampled(search, {}, count, types.SimpleNamespace())), search.estimated

    def test_the_same_whatever_the_order(self):
        self.assertEqual(self.drawn(candidates(100), 20), self.drawn(candidates(100)[::-1], 20))

    def test_counts_are_those_of_what_was_drawn(self):
        found, estimated = self.drawn(candidates(100), 30)
        self.assertEqual((found.population, found.size, found.better), (100, 30, sum(each.number % 5 == 0 for each in estimated if not each.flags)))
        self.assertEqual(self.drawn(candidates(5)[1:], 30)[0], Sample(4, 4, 0))


if __name__ == "__main__":
    unittest.main()
