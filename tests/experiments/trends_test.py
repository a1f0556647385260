"""The statistics of experiments on two systems and three sizes, against values by hand."""
import sys
import unittest

import command

sys.path.insert(0, str(command.ROOT / "experiments/runner"))
import trends  # noqa: E402

TRUTH = {("X", "s"): 1.0, ("X", "m"): 2.0, ("X", "l"): 6.0, ("Y", "s"): 0.5, ("Y", "m"): 1.0}
OURS = {("X", "s"): 1.1, ("X", "m"): 1.1, ("X", "l"): 6.6, ("Y", "s"): 1.0, ("Y", "m"): 0.5, ("Y", "l"): 2.0}


def rows():
    return [{"system": system, "workload": size, "source": "ours", "step_time_s": OURS[system, size], "measured_s": TRUTH.get((system, size))}
            for system in "XY" for size in "sml"]


class Trends(unittest.TestCase):
    def setUp(self):
        self.found = trends.statistics(rows())

    def test_errors(self):
        x, y = self.found["errors"]
        self.assertEqual((x["system"], x["count"], y["count"]), ("X", 3, 2))
        self.assertAlmostEqual(x["mean_error_percent"], 100 * (0.1 + 0.45 + 0.1) / 3)
        self.assertAlmostEqual(x["bias_percent"], 100 * (0.1 - 0.45 + 0.1) / 3)
        self.assertAlmostEqual(x["worst_error_percent"], 45)
        self.assertAlmostEqual(y["mean_error_percent"], 100 * (1 + 0.5) / 2)

    def test_trend_is_the_median_over_consecutive_sizes(self):
        # X: (1.1 / 1.1) / (2 / 1) - 1 = -0.5 and (6.6 / 1.1) / (6 / 2) - 1 = 1; Y: (0.5 / 1) / (1 / 0.5) - 1 = -0.75, and l was not measured.
        x, y = self.found["trend"]
        self.assertAlmostEqual(x["trend_error_percent"], 75)
        self.assertAlmostEqual(y["trend_error_percent"], 75)
        self.assertEqual((x["count"], y["count"]), (2, 1))

    def test_ratios_are_there_without_measurements(self):
        last = self.found["size_ratios"][-1]
        self.assertEqual((last["from"], last["to"], last["ratio"], last["measured_ratio"]), ("m", "l", 4.0, None))

    def test_cross_system_takes_both_directions_then_the_median_over_workloads(self):
        # s: X to Y (1 / 1.1) / 0.5 - 1 = 0.818, back 1.1 / 2 - 1 = -0.45; m: (0.5 / 1.1) / 0.5 - 1 = -0.0909, back 1.1 / 0.5 / 2 - 1 = 0.1
        row, = self.found["cross_system"]
        s, m = (1 / 1.1 / 0.5 - 1 + 0.45) / 2, (1 - 0.5 / 1.1 / 0.5 + 0.1) / 2
        self.assertAlmostEqual(row["cross_system_error_percent"], 100 * (s + m) / 2)
        self.assertEqual(row["workloads"], 2)

    def test_speed_ups_are_means_over_the_workloads_that_both_have(self):
        found = {(row["from"], row["to"], row["source"]): row["speed_up"] for row in self.found["speed_ups"]}
        self.assertAlmostEqual(found["X", "Y", "ours"], (1.1 / 1 + 1.1 / 0.5 + 6.6 / 2) / 3)
        self.assertAlmostEqual(found["X", "Y", "Measured"], 2)
        self.assertAlmostEqual(found["Y", "X", "Measured"], 0.5)

    def test_rank_correlation_of_equal_values_shares_ranks(self):
        self.assertAlmostEqual(trends.rank_correlation([1, 2, 3, 4, 5], [10, 20, 30, 40, 50]), 1)
        self.assertAlmostEqual(trends.rank_correlation([5, 4, 3, 2, 1], [10, 20, 30, 40, 50]), -1)
        self.assertEqual(trends.ranks([7, 7, 1]), [1.5, 1.5, 0])
        self.assertIsNone(trends.rank_correlation([1, 2], [1, 2]))


if __name__ == "__main__":
    unittest.main()
