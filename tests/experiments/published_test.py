"""Rows of data/published: their settings as MaxText's keys, and the programs that were made of them."""
import csv
import json
import sys
import unittest

import command

sys.path.insert(0, str(command.ROOT / "python/export"))

import published  # noqa: E402

FOLDER = command.ROOT / "data/published"


class Rows(unittest.TestCase):
    def setUp(self):
        with open(FOLDER / "rows.csv", newline="", encoding="utf-8") as file:
            self.rows = {row["id"]: row for row in csv.DictReader(file)}

    def embedding(self, name):
        return published.configuration(self.rows[name]).get("use_iota_embed", False)

    def test_scripts_that_embed_by_one_hot_rows(self):
        for name in ("dgxc-llama3-70b-bf16-128", "dgxc-pax5b-bf16-16", "maxtext-v5e-16b-1x256", "a3-llama2-7b-1vm", "v6e-gemma3-12b-1x256",
                     "v6e-gpt3-175b-bf16-256", "v5p-llama2-70b-1024", "jaxtoolbox-pax-126m-a100-xla-64", "mlperf41-v6e-gpt3-512"):
            self.assertTrue(self.embedding(name), name)
        for name in ("v5p-llama4-scout-1024", "v5p-llama4-maverick-256", "v5p-deepseek2-16b-8", "axlearn-fuji7b-v1-h100-256"):
            self.assertFalse(self.embedding(name), name)

    def test_runs_have_the_flags_that_their_sources_state(self):
        ticks = "--xla_gpu_enable_analytical_sol_latency_estimator=false"
        for name in ("a3-llama2-7b-1vm", "dgxc-pax5b-bf16-16", "jaxtoolbox-pax-5b-h100-te-256"):
            self.assertIn(ticks, published.xla_flags(self.rows[name]), name)
        self.assertNotIn(ticks, published.xla_flags(self.rows["dgxc-llama3-70b-bf16-128"]), "its profile tells the scheduler how long kernels take")
        for name, flag in (("dgxc-llama3-70b-bf16-128", "--xla_gpu_enable_triton_softmax_fusion=false"), ("jaxtoolbox-pax-5b-h100-te-256", "--xla_gpu_enable_triton_softmax_fusion=false"),
                           ("v6e-mistral-7b-8", "--xla_tpu_enable_sparse_core_collective_offload_all_reduce=true")):
            self.assertIn(flag, published.xla_flags(self.rows[name]), name)
        for name, graphs in (("dgxc-llama3-70b-bf16-128", False), ("a3-llama2-7b-1vm", False), ("jaxtoolbox-pax-5b-h100-te-256", False), ("dgxc-pax5b-bf16-16", True)):
            self.assertEqual("--xla_gpu_enable_command_buffer=" not in published.xla_flags(self.rows[name]), graphs, name)
        self.assertEqual(published.xla_flags(self.rows["v6e-gemma3-12b-2x256"]), [])
        for name, size in (("126m-a100-xla-64", 33554432), ("5b-h100-te-256", 51200)):
            self.assertIn(f"--xla_gpu_all_reduce_combine_threshold_bytes={size}", published.xla_flags(self.rows[f"jaxtoolbox-pax-{name}"]))

    def test_configurations_beside_programs_are_those_of_the_rows(self):
        written = sorted(path for path in (FOLDER / "programs").glob("*.yml") if path.stem in self.rows)
        self.assertGreater(len(written), 20)
        for path in written:
            keys = (line.split(": ", 1) for line in path.read_text().splitlines()[1:])
            self.assertEqual({key: json.loads(value) for key, value in keys}, published.configuration(self.rows[path.stem]), path.name)

    def test_programs_embed_as_their_rows_do(self):
        for name in ("v6e-mistral-7b-8", "maxtext-v5p-32b-1x128", "dgxc-pax5b-bf16-16", "axlearn-fuji7b-v1-v5p-256"):
            done = command.run("print", FOLDER / f"programs/{name}.mlir.zst")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotEqual("stablehlo.gather" in done.stdout, self.embedding(name), name)


if __name__ == "__main__":
    unittest.main()
