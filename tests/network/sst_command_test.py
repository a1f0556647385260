#!/usr/bin/env python3
"""`hespas simulate --network-backend sst` without SST: the program it writes, run against a stub of SST's module; the
recorded real runs (tests/data/network/sst_runs.json) against the other engines; errors. With sst in PATH, a real run."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
sys.path.insert(0, str(ROOT / "bench"))
import network_rows as rows  # noqa: E402

HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
COLLECTIVES = {"all-reduce": 0, "all-gather": 2, "reduce-scatter": 7, "all-to-all": 6}
STUB = """
import json, runpy, sys
import sst
runpy.run_path(sys.argv[1])
print(json.dumps({"kind": type(sst.TOPOLOGY).__name__, "topology": {k: v for k, v in vars(sst.TOPOLOGY).items() if k != "router"},
                  "router": vars(sst.TOPOLOGY.router), "npus": {n: c.params for n, c in sst.COMPONENTS.items()}}))
"""


class Sst(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def write(self, topologies, npus, collective="all-reduce", size=1 << 16, bandwidth=None):
        dims = len(npus)
        system = {"preferred-dataset-splits": 1, "endpoint-delay": 0, "local-mem-bw": 0, "scheduling-policy": "LIFO",
                  **{f"{kind}-implementation": ["ring"] * dims for kind in COLLECTIVES}}
        network = {"topology": topologies, "npus_count": npus, "bandwidth": bandwidth or [50.0] * dims, "latency": [500.0] * dims}
        (self.at / "system.json").write_text(json.dumps(system))
        (self.at / "network.yml").write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in network.items()))
        trace = rows.trace([rows.node(0, [], collective=COLLECTIVES[collective], size=size)])
        total = 1
        for count in npus:
            total *= count
        for rank in range(total):
            (self.at / f"t.{rank}.et").write_bytes(trace)

    def run_it(self, *options, backend="sst", path=None):
        return subprocess.run([HESPAS, "simulate", "--workload-configuration=t", "--system-configuration=system.json",
                               "--network-configuration=network.yml", f"--network-backend={backend}", "--format=json",
                               *options], cwd=self.at, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **({"PATH": path} if path is not None else {})})

    def built(self, *options):
        done = self.run_it("--write-only=out", *options, path="")
        self.assertEqual(done.returncode, 0, done.stderr)
        stub = subprocess.run([sys.executable, "-c", STUB, self.at / "out" / "sst.py"], capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "tests/stubs/python")})
        self.assertEqual(stub.returncode, 0, stub.stderr)
        return json.loads(stub.stdout)

    def test_dimensions_become_merlins_topologies(self):
        for dims, npus, kind, shape in ((["Switch"], [16], "topoSingle", None), (["Ring"], [16], "topoTorus", "16"),
                                        (["Ring", "Ring"], [4, 4], "topoTorus", "4x4"),
                                        (["FullyConnected", "FullyConnected"], [4, 2], "topoHyperX", "4x2"),
                                        (["Switch", "Switch"], [4, 4], "topoFatTree", "4,4:4"),
                                        (["Switch", "FullyConnected", "FullyConnected"], [2, 4, 2], "topoDragonFly", None)):
            self.write(dims, npus)
            out = self.built()
            self.assertEqual((out["kind"], out["topology"].get("shape")), (kind, shape))
            self.assertEqual(out["topology"]["link_latency"], "500000ps")
            self.assertEqual(out["router"]["link_bw"], "53687091200B/s")
            count = 1
            for n in npus:
                count *= n
            self.assertEqual(sorted(p["rank"] for p in out["npus"].values()), list(range(count)))
        self.write(["Switch", "Switch"], [4, 4], bandwidth=[50.0, 25.0])
        self.assertEqual(self.built()["topology"]["shape"], "4,2:4")

    def test_named_topologies_and_mappings(self):
        self.write(["Switch"], [16])
        for text, kind in (("torus:4x2x2", "topoTorus"), ("fat-tree:4,1:4", "topoFatTree"), ("hyperx:4x2:2", "topoHyperX"),
                           ("dragonfly:2,4,3", "topoDragonFly"), ("switch", "topoSingle")):
            self.assertEqual(self.built(f"--physical-topology={text}", "--rank-mapping=random:5")["kind"], kind)
        program = (self.at / "out/sst.py").read_text()
        self.assertNotIn("HOSTS = [0,1,2,3", program)
        run = json.loads((self.at / "out/run.json").read_text())
        self.assertEqual(run["workload"], str(self.at.resolve() / "t"))

    def test_errors_say_what_to_do(self):
        self.write(["Switch"], [4])
        done = self.run_it(path="")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("E0966", done.stderr)
        self.assertIn("sst-elements", done.stderr)
        self.assertIn("--write-only", done.stderr)
        self.write(["Ring", "Switch"], [2, 2])
        done = self.run_it("--write-only=none")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("--physical-topology", done.stderr)
        self.assertFalse((self.at / "none").exists())

    def test_answers_and_failures_of_a_fake_sst(self):
        self.write(["Switch"], [2])
        fake = self.at / "sst"
        for script, status, text in (("exit 3", 5, "status 3"), ("exit 0", 5, "no result for NPU 0"),
                                     ("for last; do :; done; printf '{\"error\": \"NPU 0 waits\"}' > ${last%/*}/result.0.json", 4,
                                      "NPU 0 waits"), ("echo \"can't find requested element\"; exit 1", 5, "E0966")):
            fake.write_text(f"#!/bin/sh\n{script}\n")
            fake.chmod(0o755)
            done = self.run_it(f"--sst-binary={fake}", path=f"{self.at}:{os.environ['PATH']}")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(text, done.stderr)

    def test_recorded_runs_agree_within_5_percent(self):
        """Packets of 512 B: the last one's tail is not waited for, and messages fill whole flits of 64 B."""
        recorded = json.loads((ROOT / "tests/data/network/sst_runs.json").read_text())
        kinds = set()
        for run in recorded["runs"]:
            if any("physical" in option for option in run["options"]):
                continue
            kinds.add(run["collective"])
            self.assertEqual(max(npu["finish"] for npu in run["output"]["npus"]), run["finish_ns"])
            share = run["npus"] if run["collective"] == "all-gather" else 1
            self.write([run["topology"]], [run["npus"]], run["collective"], run["bytes"] // share)
            here = json.loads(self.run_it(backend="analytical").stdout)["npus"][0]["finish"]
            self.assertLess(abs(run["finish_ns"] / here - 1), 0.05, run["command"])
        self.assertEqual(kinds, set(COLLECTIVES))

    def test_a_real_run_where_sst_is_installed(self):
        if not (shutil.which("sst") and (HESPAS.parent / "sst").exists()):
            return
        self.write(["Ring"], [4])
        done = self.run_it("--details")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        here = json.loads(self.run_it(backend="analytical").stdout)
        self.assertLess(abs(out["npus"][0]["finish"] / here["npus"][0]["finish"] - 1), 0.05)
        self.assertTrue(out["critical_path"])


if __name__ == "__main__":
    unittest.main()
