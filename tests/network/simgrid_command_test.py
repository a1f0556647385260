#!/usr/bin/env python3
"""`hespas simulate --network-backend simgrid` as a user runs it, and its traces replayed by smpirun."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
sys.path.insert(0, str(ROOT / "bench"))
import network_rows as rows  # noqa: E402

HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
ALL_TO_ALL = 6
KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="z" routing="Full">
%s<link id="wire" bandwidth="10GBps" latency="1us"/>
%s</zone>
</platform>
"""


class SimGrid(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def write(self, nodes, npus=8, topology="Ring"):
        system = {"preferred-dataset-splits": 1, "endpoint-delay": 0, "scheduling-policy": "LIFO",
                  **{f"{kind}-implementation": ["ring"] for kind in KINDS}}
        network = rows.network(topology, [npus])
        (self.at / "system.json").write_text(json.dumps(system))
        (self.at / "network.yml").write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in network.items()))
        for rank in range(npus):
            (self.at / f"t.{rank}.et").write_bytes(rows.trace(nodes))

    def run_it(self, *options, hespas=HESPAS, backend="simgrid"):
        return subprocess.run([hespas, "simulate", "--workload-configuration=t", "--system-configuration=system.json",
                               "--network-configuration=network.yml", f"--network-backend={backend}", "--format=json",
                               *options], cwd=self.at, capture_output=True, text=True, timeout=120, check=False)

    def answer(self, *options, **more):
        done = self.run_it(*options, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def replay(self, *options):
        self.assertEqual(self.run_it("--write-only=smpi", *options).returncode, 0)
        done = subprocess.run(["sh", "smpi/run.sh"], cwd=self.at, capture_output=True, text=True, timeout=300, check=False)
        times = re.findall(r"Simulation time ([0-9.]+)", done.stdout + done.stderr)
        self.assertTrue(times, done.stdout + done.stderr)
        return float(times[-1]) * 1e9

    def test_smpirun_agrees_for_rings(self):
        """Within 2 %: SMPI prints whole microseconds, and its rings are its own."""
        for kind in (rows.ALL_REDUCE, rows.ALL_GATHER, rows.REDUCE_SCATTER):
            for npus, topology in ((8, "Ring"), (16, "Switch")):
                self.write([rows.node(0, [], microseconds=300),
                            rows.node(1, [0], collective=kind, size=16 * rows.MIB),
                            rows.node(2, [1], microseconds=50),
                            rows.node(3, [2], collective=kind, size=8 * rows.MIB)], npus, topology)
                here = self.answer()["npus"][0]["finish"]
                self.assertLess(abs(self.replay() / here - 1), 0.02, (kind, npus))

    def test_smpirun_agrees_on_other_networks_and_mappings(self):
        self.write([rows.node(0, [], collective=rows.ALL_REDUCE, size=64 * rows.MIB)], 16)
        for options in (["--physical-topology=torus:4x4"], ["--physical-topology=fat-tree:4,4:4"],
                        ["--physical-topology=dragonfly:2,4,2"],
                        ["--physical-topology=torus:4x4", "--rank-mapping=random:3"]):
            here = max(npu["finish"] for npu in self.answer(*options)["npus"])
            self.assertLess(abs(self.replay(*options) / here - 1), 0.02, options)

    def test_computation_waits_for_collectives_in_its_stream(self):
        def overlap(mark, backend):
            self.write([rows.node(0, [], microseconds=300),
                        rows.node(1, [0], collective=rows.ALL_REDUCE, size=rows.MIB, mark=mark),
                        rows.node(2, [0], microseconds=50)])
            return self.answer(backend=backend)["npus"][0].get("overlap", 0)

        for backend in ("simgrid", "analytical", "analytical-aware"):
            self.assertGreater(overlap(0, backend), 0, backend)
            self.assertEqual(overlap(4, backend), 0, backend)

    def test_any_platform_file(self):
        self.write([rows.node(0, [], collective=rows.ALL_GATHER, size=10**7)], 4)
        hosts = "".join(f'<host id="h{i}" speed="1Gf"/>\n' for i in range(12))
        routes = "".join(f'<route src="h{i}" dst="h{j}"><link_ctn id="wire"/></route>\n'
                         for i in range(12) for j in range(i + 1, 12))
        (self.at / "own.xml").write_text(PLATFORM % (hosts, routes))
        # Four flows share the wire in each of three steps.
        self.assertEqual(self.answer("--platform=own.xml")["npus"][0]["finish"], 3 * (1000 + 4 * 10**6))
        tcp = self.answer("--platform=own.xml", "--simgrid-setting=network/model:LV08")["npus"][0]["finish"]
        self.assertGreater(tcp, 3 * (1000 + 4 * 10**6) * 1.02)
        names = self.at / "names.txt"
        names.write_text("h11\nh10\nh2\nh1\n")
        self.assertEqual(self.answer("--platform=own.xml", "--rank-mapping=names.txt")["npus"][0]["finish"], 12003000)

    def test_errors_say_what_to_do(self):
        self.write([rows.node(0, [], collective=rows.ALL_REDUCE, size=1024)], 4)
        for options, status, code in ((["--physical-topology=torus:2"], 2, "E0831"), (["--rank-mapping=random:"], 2, "E0832"),
                                      (["--simgrid-setting=network/nonsense:1"], 4, "E0962")):
            done = self.run_it(*options)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(code, done.stderr)
        (self.at / "cut.xml").write_text(PLATFORM % ("".join(f'<host id="h{i}" speed="1Gf"/>\n' for i in range(4)), ""))
        done = self.run_it("--platform=cut.xml")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("error", done.stderr)
        alone = self.at / "bin"
        alone.mkdir()
        shutil.copy(HESPAS, alone / "hespas")
        done = self.run_it(hespas=alone / "hespas")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("libsimgrid-dev", done.stderr)

    def running_here(self):
        """Processes that work in this test's folder: where they were started."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(process / "cwd") == os.path.realpath(self.at):
                    found.append(process.name)
        return found

    def test_a_limit_of_time_ends_the_simulating_process_too(self):
        self.write([rows.node(0, [], collective=rows.ALL_REDUCE, size=2**20)] +
                   [rows.node(i, [i - 1], collective=rows.ALL_REDUCE, size=2**20) for i in range(1, 1000)], 64)
        done = self.run_it("--timeout=2s")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("E0908", done.stderr)
        deadline = time.monotonic() + 5
        while self.running_here() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.running_here(), [])

    def test_what_smpi_cannot_say_is_refused_and_nothing_is_written(self):
        self.write([rows.node(0, [], collective=5, size=1024)], 4)
        done = self.run_it("--write-only=smpi")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("E0963", done.stderr)
        self.assertFalse((self.at / "smpi").exists())


if __name__ == "__main__":
    unittest.main()
