"""What reports call kernels: the framework's names where the program has them, what a kernel holds where not."""
import json
import pathlib
import re
import tempfile
import unittest

from command import LLAMA, ROOT, result, run

DEVICE = ["--device", "H100_80GB"]
GENERIC = re.compile(r"(mhlo|stablehlo)\.|^fusion|custom_call|async_(start|done)")


def layer(i, before):
    scope = f"jit(step)/jvp(layers/{i})"
    return f"""
  %g{i} = "stablehlo.all_gather"(%w{i}) <{{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = {i + 1}, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}}> : (tensor<512x2048xbf16>) -> tensor<2048x2048xbf16> loc("{scope}/mlp/dot_general"(#file))
  %d{i} = stablehlo.dot_general %{before}, %g{i}, contracting_dims = [1] x [0] : (tensor<4096x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<4096x2048xbf16> loc("{scope}/mlp/dot_general"(#file))
  %t{i} = stablehlo.tanh %d{i} : tensor<4096x2048xbf16> loc("{scope}/mlp/tanh"(#file))
  %x{i} = stablehlo.multiply %t{i}, %d{i} : tensor<4096x2048xbf16> loc("{scope}/mlp/mul"(#file))"""


def program(layers=3):
    arguments = ", ".join(["%x: tensor<4096x2048xbf16>", *(f"%w{i}: tensor<512x2048xbf16>" for i in range(layers))])
    body = "".join(layer(i, f"x{i - 1}" if i else "x") for i in range(layers))
    return f"""#file = loc("model.py":3:1)
module @jit_step attributes {{mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}} {{
func.func @main({arguments}) -> tensor<4096x2048xbf16> {{{body}
  return %x{layers - 1} : tensor<4096x2048xbf16>
}}
}}
"""


def without_names(text):
    return re.sub(r' loc\("jit.*', "", text)


class NamesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        (cls.folder / "named.mlir").write_text(program())
        (cls.folder / "unnamed.mlir").write_text(without_names(program()))

    def named(self, *words):
        return result("run", self.folder / "named.mlir", *DEVICE, *words)

    def test_layers_are_told_by_default(self):
        layers = {row["name"]: row["time_ps"] for row in self.named()["where_time_goes"]["by_layer"]}
        self.assertLessEqual({"layers/0", "layers/1", "layers/2"}, set(layers))
        self.assertGreater(layers["layers/1"], 0.2 * sum(layers.values()))

    def test_kernels_of_layers_are_one_row(self):
        kernels = {row["name"]: row for row in self.named()["kernels"]}
        self.assertEqual(kernels["layers/*/mlp matmul 4096x2048x2048"]["count"], 3)
        self.assertTrue([name for name in kernels if re.fullmatch(r"layers/\*/mlp all-gather [0-9.]+ MB", name)], kernels)
        self.assertIn("layers/*/mlp fused tanh·multiply bf16[4096,2048]", kernels)
        total = sum(row["time_ps"] for row in kernels.values())
        answer = self.named()
        self.assertAlmostEqual(total, answer["compute_time_ps"] + answer["communication_time_ps"], delta=1e-6 * total)

    def test_the_terminal_and_the_critical_path_name_them(self):
        done = run("run", self.folder / "named.mlir", *DEVICE)
        self.assertIn("layers/*/mlp matmul 4096x2048x2048", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80, done.stdout)
        done = run("run", self.folder / "named.mlir", *DEVICE, "--output", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("layers/1/mlp matmul 4096x2048x2048", page)

    def test_timelines_name_them(self):
        done = run("run", self.folder / "named.mlir", *DEVICE, "--format", "chrome-json")
        names = {event["name"] for event in json.loads(done.stdout)["traceEvents"] if event["ph"] == "X"}
        self.assertIn("layers/1/mlp matmul 4096x2048x2048", names)
        self.assertTrue([name for name in names if re.fullmatch(r"layers/./mlp all-gather [0-9.]+ MB", name)], names)
        run("run", self.folder / "named.mlir", *DEVICE, "--output", self.folder / "out")
        (trace,) = self.folder.glob("out/*.pftrace")
        self.assertIn(b"layers/1/mlp matmul 4096x2048x2048", trace.read_bytes())

    def test_names_change_no_figure(self):
        named, unnamed = self.named(), result("run", self.folder / "unnamed.mlir", *DEVICE)
        for key in ("step_time_ps", "compute_time_ps", "exposed_communication_ps", "flops", "bytes_accessed", "blocks", "peak_memory_bytes"):
            self.assertEqual(named[key], unnamed[key], key)
        self.assertEqual(unnamed["where_time_goes"]["by_layer"], [])

    def test_without_names_the_content_tells(self):
        for words in (["--optimise", "xla-gpu"], ["--optimise", "none"]):
            with self.subTest(words):
                for row in result("run", LLAMA, *DEVICE, *words)["kernels"][:20]:
                    self.assertNotRegex(row["name"], GENERIC)

    def test_programs_that_commands_write_keep_them(self):
        for words in (["optimise", "--device", "H100_80GB"], ["retarget", "--devices", "8"]):
            with self.subTest(words):
                done = run(words[0], self.folder / "named.mlir", *words[1:])
                self.assertEqual(done.returncode, 0, done.stderr)
                (self.folder / "written.mlir").write_text(done.stdout)
                rows = result("run", self.folder / "written.mlir", *DEVICE)["kernels"]
                self.assertIn("layers/*/mlp matmul 4096x2048x2048", [row["name"] for row in rows])

    def test_hlo_metadata_tells(self):
        (self.folder / "step.hlo").write_text("""HloModule step, is_scheduled=true
%fused (p: f32[1024,1024]) -> f32[1024,1024] {
  %p = f32[1024,1024]{1,0} parameter(0)
  %t = f32[1024,1024]{1,0} tanh(%p), metadata={op_name="jit(step)/layers_2/mlp/tanh"}
  ROOT %m = f32[1024,1024]{1,0} multiply(%t, %p), metadata={op_name="jit(step)/layers_2/mlp/mul" source_file="model.py"}
}
ENTRY %main (x: f32[1024,1024]) -> f32[1024,1024] {
  %x = f32[1024,1024]{1,0} parameter(0)
  ROOT %f = f32[1024,1024]{1,0} fusion(%x), kind=kLoop, calls=%fused, metadata={op_name="jit(step)/layers_2/mlp/mul"}
}
""")
        answer = result("run", self.folder / "step.hlo", *DEVICE)
        self.assertEqual(answer["kernels"][0]["name"], "layers_*/mlp fused tanh·multiply f32[1024,1024]")
        self.assertEqual(answer["where_time_goes"]["by_layer"][0]["name"], "layers_2")

    def test_bytecode_tells(self):
        answer = result("run", ROOT / "tests/data/names/named.mlirbc", *DEVICE)
        self.assertIn("layers/*/mlp matmul 512x512x512", [row["name"] for row in answer["kernels"]])
        self.assertLessEqual({"layers/0", "layers/1"}, {row["name"] for row in answer["where_time_goes"]["by_layer"]})


if __name__ == "__main__":
    unittest.main()
