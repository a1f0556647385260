"""Comparisons and sweeps: equal to the command's, block by block; the product in order."""
import json
import pathlib
import tempfile
import unittest

import hespas
from common import EXAMPLE, MATMUL, command_json

DEVICES = ["A100_SXM_40GB", "H100_80GB", "H200_141GB"]


class Compare(unittest.TestCase):
    def test_variants_are_the_commands(self):
        cases = (({"devices": DEVICES}, ["--device", ",".join(DEVICES)]),
                 ({"estimators": ["roofline", "calibrated"], "devices": ["H100_80GB"]}, ["--estimators", "roofline,calibrated", "--device", "H100_80GB"]),
                 ({"optimisations": ["none", "auto"]}, ["--optimise", "none,auto"]))
        for options, flags in cases:
            with self.subTest(options):
                self.assertEqual(hespas.compare(str(EXAMPLE), **options).to_dict(), command_json("compare", EXAMPLE, *flags))

    def test_finished_runs_and_their_files(self):
        program = hespas.load(EXAMPLE)
        runs = [program.run(device) for device in DEVICES[:2]]
        compared = hespas.compare(*runs)
        self.assertEqual((compared.dimension, compared.labels), ("device, system", DEVICES[:2]))
        self.assertAlmostEqual(compared.largest_difference, 100 * abs(runs[1].step_time_ps / runs[0].step_time_ps - 1))
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{device}.json" for device in DEVICES[:2]]
            for path, result in zip(paths, runs):
                path.write_text(result.to_json())
            self.assertEqual(hespas.compare(*paths).to_dict(), command_json("compare", *paths))
            self.assertIn("<html", hespas.compare(*paths).report(pathlib.Path(folder) / "page.html").read_text())
            mixed = hespas.compare(runs[0], paths[1])
        self.assertEqual([side["step_time_ps"] for side in mixed.to_dict()["sides"]], [run.step_time_ps for run in runs])
        for row in compared.to_dict()["blocks"]:
            self.assertEqual(len(row["time_ps"]), 2)
        self.assertIn("<table>", compared._repr_html_())
        self.assertIn(DEVICES[1], str(compared))

    def test_equal_runs_are_told_apart(self):
        result = hespas.run(MATMUL)
        self.assertEqual(hespas.compare(result, result).largest_difference, 0)
        self.assertEqual(hespas.compare(result, result, labels=["before", "after"]).labels, ["before", "after"])

    def test_what_cannot_be_compared(self):
        result = hespas.run(MATMUL)
        cases = ([(), {}], [(MATMUL,), {}], [(MATMUL,), {"devices": DEVICES, "estimators": ["roofline", "calibrated"]}], [(result,), {}],
                 [(result, result), {"devices": DEVICES}], [(result, result), {"labels": ["one"]}], [(result, result), {"measured": "trace.json"}])
        for inputs, options in cases:
            with self.subTest((len(inputs), options)), self.assertRaises(hespas.errors.E0955):
                hespas.compare(*inputs, **options)
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(hespas.errors.E0992):
            path = pathlib.Path(folder) / "no.json"
            path.write_text("{}")
            hespas.compare(path, result)

    def test_a_profile_against_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.json"
            events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:0"}},
                      {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "XLA Ops"}},
                      {"ph": "X", "name": "dot.1", "pid": 1, "tid": 1, "ts": 0, "dur": 12.5, "args": {"hlo_op": "dot.1"}}]
            trace.write_text(json.dumps({"traceEvents": events}))
            result = hespas.run(MATMUL)
            measured = hespas.compare(result, measured=trace)
            path = pathlib.Path(folder) / "run.json"
            path.write_text(result.to_json())
            self.assertEqual(measured.to_dict(), command_json("compare", path, "--measured", trace))


class Sweep(unittest.TestCase):
    def test_the_product_in_order(self):
        table = hespas.sweep([EXAMPLE, MATMUL], DEVICES, estimator=["roofline", "calibrated"])
        self.assertEqual((len(table), table.axes), (12, ["program", "device", "estimator"]))
        alone = [hespas.run(program, device, estimator=estimator).step_time_ps
                 for program in (EXAMPLE, MATMUL) for device in DEVICES for estimator in ("roofline", "calibrated")]
        self.assertEqual([point["result"].step_time_ps for point in table], alone)
        self.assertEqual([row["step_time_ps"] for row in table.to_dict()], alone)
        self.assertEqual(table.best()["result"].step_time_ps, min(alone))
        self.assertEqual(table.to_dict()[3]["device"], DEVICES[1])
        self.assertIn("<table>", table._repr_html_())

    def test_systems_and_own_devices(self):
        fast = hespas.Device("A100_SXM_40GB").replace(memory_bandwidth="3 TB/s", name="fast")
        table = hespas.sweep(EXAMPLE, ["A100_SXM_40GB", fast], ["A100_SXM_40GB_4GPU", "V100_32GB_4GPU"], network_backend="analytical")
        self.assertEqual([(row["device"], row["system"]) for row in table.to_dict()],
                         [("A100_SXM_40GB", "A100_SXM_40GB_4GPU"), ("A100_SXM_40GB", "V100_32GB_4GPU"), ("fast", "A100_SXM_40GB_4GPU"), ("fast", "V100_32GB_4GPU")])

    def test_a_point_that_fails_is_a_row(self):
        table = hespas.sweep(MATMUL, ["A100_SXM_40GB", "H900", "H100_80GB"])
        self.assertEqual([row["error"] is None for row in table.to_dict()], [True, False, True])
        self.assertIn("H900", table.to_dict()[1]["error"])
        self.assertIsInstance(table[1]["error"], hespas.UsageError | hespas.InputError)
        self.assertIn("1 failed", repr(table))
        with self.assertRaises(TypeError):
            hespas.sweep(MATMUL, no_such_option=1)


if __name__ == "__main__":
    unittest.main()
