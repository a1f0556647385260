"""`hespas.plan`: its rows' meshes and compiler options in JAX, on pretended CPU devices."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

from common import ROOT

ROW = {"name": "data=2,tensor=4", "step_time_s": 0.1, "xla_flags": ["--xla_gpu_enable_pipelined_all_gather=true",
                                                                  "--xla_gpu_all_gather_combine_threshold_bytes=1024"],
       "mesh": {"axis_names": ["data", "tensor"], "shape": [2, 4], "between_nodes": [1, 2], "within_nodes": [2, 2]}}


class Rows(unittest.TestCase):
    def test_options_are_what_compile_takes(self):
        import hespas

        self.assertEqual(hespas.PlanRow(ROW).compiler_options, {"xla_gpu_enable_pipelined_all_gather": True,
                                                                 "xla_gpu_all_gather_combine_threshold_bytes": 1024})

    def test_axes_that_nodes_cut_across_follow_the_devices(self):
        import hespas

        jax = types.SimpleNamespace(devices=lambda: list(range(24)), sharding=types.SimpleNamespace(Mesh=lambda devices, names: (devices.tolist(), names)))
        row = {"mesh": {"axis_names": ["data", "tensor"], "shape": [8, 3], "between_nodes": None, "within_nodes": None}}
        with unittest.mock.patch.dict(sys.modules, {"jax": jax}):
            self.assertEqual(hespas.PlanRow(row).mesh, ([[3 * at, 3 * at + 1, 3 * at + 2] for at in range(8)], ("data", "tensor")))

    def test_the_example_runs_on_pretended_devices(self):
        """It plans, takes the mesh and compiles on as many CPU devices as the plan is for."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
            done = subprocess.run([sys.executable, pathlib.Path(ROOT) / "examples/plan_and_run.py"], cwd=folder, env=environment, capture_output=True,
                                  text=True, check=False, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertIn(" ran on 8 devices", done.stdout)
        self.assertIn(" of a function ran on 8 devices", done.stdout)

    def test_what_is_no_program_is_refused(self):
        import hespas

        with self.assertRaises(hespas.errors.E0950):
            hespas.plan(3, "H100_80GB", 8)
        with self.assertRaisesRegex(ValueError, "arguments= is of functions"):
            hespas.plan("llama3-8b", "H100_80GB", 8, arguments=[1.0])


    def test_lists_of_settings_are_values_to_try(self):
        import hespas
        from hespas import planning

        asked = []
        with unittest.mock.patch.object(planning, "answer_of", lambda words: asked.extend(words) or json.dumps({"best": [ROW], "front": [ROW], "funnel": {}, "why": None})):
            plan = hespas.plan("step.py:build", "H100_80GB", 8, axes=("data", "tensor"), settings={"remat": ["none", "full"], "width": 64})
        self.assertEqual(plan[0].name, "data=2,tensor=4")
        self.assertEqual([value for option, value in zip(asked, asked[1:]) if option == "--set"], ["remat=none,full", "width=64"])


class Numbers(unittest.TestCase):
    """Devices of a program, which the partitioner numbers by their places on the mesh."""

    def setUp(self):
        folder = str(pathlib.Path(ROOT) / "python/export")
        sys.path.insert(0, folder)
        self.addCleanup(sys.path.remove, folder)

    def test_an_axis_between_nodes_has_devices_of_all_nodes(self):
        from carry_over import placed
        from models.mesh_rules import device_order

        order = device_order({"tensor": 2}, {"data": 2})  # two nodes of two devices: tensor between them
        hlo = ("a = all-reduce(b), replica_groups={{0,1},{2,3}}\nc = all-gather(d), replica_groups=[2,2]<=[2,2]T(1,0)\n"
               "e = collective-permute(f), source_target_pairs={{0,1},{1,0}}\n"
               "%t = s32[4]{0} constant({10, 11, 12, 13})\ng = s32[1] dynamic-slice(%t, id)\n")
        found = placed(hlo, order)
        self.assertIn("replica_groups={{0,2},{1,3}}\n", found)
        self.assertIn("replica_groups={{0,1},{2,3}}\n", found)
        self.assertIn("source_target_pairs={{0,2},{2,0}}", found)
        self.assertIn("constant({10,12, 11, 13})".replace(" ", ""), found.replace(" ", ""))
        self.assertEqual(placed(hlo, device_order({"data": 2}, {"tensor": 2})), hlo)


if __name__ == "__main__":
    unittest.main()
