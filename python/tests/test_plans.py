"""`hespas.plan`: its rows' meshes and compiler options in JAX, on pretended CPU devices."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from common import ROOT

ROW = {"name": "data=2,tensor=4", "step_time_s": 0.1, "xla_flags": ["--xla_gpu_enable_pipelined_all_gather=true",
                                                                  "--xla_gpu_all_gather_combine_threshold_bytes=1024"],
       "mesh": {"axis_names": ["data", "tensor"], "shape": [2, 4], "between_nodes": [1, 2], "within_nodes": [2, 2]}}


class Rows(unittest.TestCase):
    def test_options_are_what_compile_takes(self):
        import hespas

        self.assertEqual(hespas.PlanRow(ROW).compiler_options, {"xla_gpu_enable_pipelined_all_gather": True,
                                                                 "xla_gpu_all_gather_combine_threshold_bytes": 1024})

    def test_the_example_runs_on_pretended_devices(self):
        """It plans, takes the mesh and compiles on as many CPU devices as the plan is for."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
            done = subprocess.run([sys.executable, pathlib.Path(ROOT) / "examples/plan_and_run.py"], cwd=folder, env=environment, capture_output=True,
                                  text=True, check=False, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertIn("ran on 8 devices", done.stdout)


if __name__ == "__main__":
    unittest.main()
