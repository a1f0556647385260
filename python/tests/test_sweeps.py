"""Sweep files from Python: the command's rows, its answers, Parquet."""
import json
import pathlib
import tempfile
import unittest

import hespas
from common import EXAMPLE

FILE = {"base": {"program": str(EXAMPLE), "estimator": "roofline"}, "axes": {"device": ["A100_SXM_40GB", "H100_80GB"], "system.latency": ["1 us", 2e-6]}}


class SweepsTest(unittest.TestCase):
    def test_rows_are_runs(self):
        table = hespas.sweep_file(FILE, price_per_hour="H100_80GB=3,A100_SXM_40GB=1")
        self.assertEqual(len(table), 4)
        single = hespas.run(str(EXAMPLE), "H100_80GB", estimator="roofline", changes=["system.latency=1 us"])
        self.assertEqual(table[2]["step_time_ps"], single.step_time_ps)
        self.assertEqual(table.best()["step_time_ps"], min(row["step_time_ps"] for row in table))
        self.assertEqual(table.best("cost_per_step")["cost_per_step"], min(row["cost_per_step"] for row in table))

    def test_conditions_leave_rows_out(self):
        table = hespas.sweep_file(FILE)
        limit = sorted(row["step_time_s"] for row in table)[1]
        self.assertEqual(len(hespas.sweep_file(FILE, subject_to=[f"step_time <= {limit!r}"])), 2)

    def test_a_folder_is_read_back(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            table = hespas.sweep_file(FILE, out)
            self.assertEqual(hespas.read_sweep(out).rows, table.rows)

    def test_errors(self):
        with self.assertRaises(hespas.HespasError) as raised:
            hespas.sweep_file({**FILE, "axes": {"devcie": ["A100_SXM_40GB"]}})
        self.assertEqual(raised.exception.code, "E1003")
        self.assertIn("did you mean `device`", raised.exception.help)



class SolveTest(unittest.TestCase):
    def test_a_target_is_met_from_the_answer_on(self):
        found = hespas.solve(EXAMPLE, "A100_SXM_40GB", find="system.bandwidth", until="exposed_communication < 10 %")
        self.assertTrue(found["met"])
        result = hespas.run(str(EXAMPLE), "A100_SXM_40GB", changes=[f"system.bandwidth={found['value']!r}"])
        self.assertLess(result.exposed_communication / result.step_time, 0.1)

    def test_what_cannot_be_met_says_so(self):
        self.assertFalse(hespas.solve(EXAMPLE, "A100_SXM_40GB", find="system.bandwidth", until="step_time < 1 us")["met"])
        with self.assertRaises(hespas.UsageError):
            hespas.solve(EXAMPLE, "A100_SXM_40GB", find="system.speed", until="mfu > 1 %")


if __name__ == "__main__":
    unittest.main()
