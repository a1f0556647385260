"""Every preset runs a small program with two all-reduces."""

import concurrent.futures
import csv
import io
import json
import os
import pathlib
import subprocess
import unittest

HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
FIXTURES = ROOT / "tests" / "data" / "fixtures"
FOR_FOUR = FIXTURES / "test_split_replica_groups.mlir.gz"
FOR_ANY = FIXTURES / "test_no_comm_graph.mlir.gz"


def hespas(*arguments):
    return subprocess.run([HESPAS, *arguments], capture_output=True, text=True, check=False)


def names(command):
    return list(csv.DictReader(io.StringIO(hespas(command, "--format", "csv").stdout)))


def run(*options, program=FOR_FOUR):
    done = hespas("run", program, "--estimator", "roofline", "--format", "json", *options)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


class Presets(unittest.TestCase):
    def test_every_device_runs(self):
        devices = [row["name"] for row in names("devices")]
        self.assertGreaterEqual(len(devices), 28)
        for name in devices:
            result, errors = run("--device", name, "--num-npus", "4", "--system", "A100_SXM_40GB_4GPU")
            self.assertIsNotNone(result, f"{name}: {errors}")
            self.assertGreater(result["compute_time_s"], 0, name)

    def test_every_system_runs(self):
        systems = names("systems")
        self.assertGreaterEqual(len(systems), 43)

        def attempt(row):
            options = ("--device", "A100_SXM_40GB", "--system", row["name"], "--num-npus", row["NPUs"])
            fits = int(row["NPUs"]) % 4 == 0
            return row["name"], fits, *run(*options, program=FOR_FOUR if fits else FOR_ANY)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, communicates, result, errors in pool.map(attempt, systems):
                self.assertIsNotNone(result, f"{name}: {errors}")
                self.assertEqual(result["communication_time_s"] > 0, communicates, name)

    def test_every_figure_of_a_system_names_its_source(self):
        for row in names("systems"):
            self.assertTrue(row["source"], row)
        done = hespas("systems", "H100_80GB_8GPU", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertTrue(all(row["source"].startswith("interconnect figures of") for row in rows), rows)

    def test_a_system_says_what_carries_each_level(self):
        def carried(system):
            rows = csv.DictReader(io.StringIO(hespas("systems", system, "--format", "csv").stdout))
            return [row["value"] for row in rows if row["figure"] == "carried by"]

        self.assertEqual(carried("H100_80GB 8x2 tcp=100Gbit/s"), ["links of a host, TCP between hosts"])
        self.assertEqual(carried("H100_80GB 8x2 ib=100Gbit/s"), ["links of a host, adapters between hosts"])
        self.assertEqual(carried("H100_80GB_8GPU"), [])

    def test_the_prototypes_systems_run_by_path(self):
        folders = sorted((ROOT / "configs" / "systems").iterdir())
        self.assertEqual(len(folders), 43)
        for folder in folders[::8]:
            count = json.loads((ROOT / "data" / "systems" / f"{folder.name}.json").read_text())["network"]["npus_count"]
            npus = 1
            for n in count:
                npus *= n
            common = ("--device", "A100_SXM_40GB", "--num-npus", str(npus))
            by_path, errors = run(*common, "--system", str(folder / "astra-sim"))
            self.assertIsNotNone(by_path, f"{folder.name}: {errors}")
            by_name, _ = run(*common, "--system", folder.name)
            self.assertEqual(by_path["step_time_ps"], by_name["step_time_ps"], folder.name)

    def test_prototype_figures_are_kept_and_corrected(self):
        kept = json.loads((ROOT / "configs/nodes/B200_180GB/roofline/config.json").read_text())
        self.assertEqual(kept["perf_estimator"]["hardware"]["per_datatype_flops"]["bf16"], 4500e12)
        figures = {row["figure"]: row for row in csv.DictReader(io.StringIO(hespas("devices", "B200_180GB", "--format", "csv").stdout))}
        self.assertEqual(float(figures["per_datatype_flops.bf16"]["value"]), 2250)
        self.assertTrue(all(row["source"] for row in figures.values()))


if __name__ == "__main__":
    unittest.main()
