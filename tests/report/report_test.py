"""What report.html and result.json say of a run: sums, what-if rows that the command line confirms, size."""
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from command import LLAMA, FIXTURES, result, run  # noqa: E402

DEVICE = ["--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU"]
RESNET = FIXTURES / "resnet_50_train_step_4_devices_1024_batch.mlir.gz"
RUNS = {
    "optimised": [LLAMA, *DEVICE],
    "as it is": [LLAMA, *DEVICE, "--optimise", "none"],
    "linear": [LLAMA, *DEVICE, "--optimise", "none", "--split", "linear", "--estimator", "roofline"],
    "resnet": [RESNET, *DEVICE, "--optimise", "none", "--estimator", "roofline"],
    "no network": [LLAMA, "--device", "A100_SXM_40GB", "--network-backend", "none"],
}


def page_data(path):
    """The data in the page, and the page."""
    page = path.read_text()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)), page


def chain(length):
    """A program of that many different blocks."""
    lines = [f"    %{i + 1} = stablehlo.slice %arg0 [0:{i + 1}] : (tensor<{length}xf32>) -> tensor<{i + 1}xf32>" for i in range(length)]
    return "\n".join(["module @chain {", f"  func.func @main(%arg0: tensor<{length}xf32>) -> tensor<{length}xf32> {{", *lines,
                      f"    return %{length} : tensor<{length}xf32>", "  }", "}"])


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_where_time_goes_adds_up_to_step_time_times_devices(self):
        for name, words in RUNS.items():
            with self.subTest(name):
                answer = result("run", *words)
                where = answer["where_time_goes"]
                self.assertEqual(where["total_ps"], answer["step_time_ps"] * answer["npus"])
                for kind in ("by_kind", "by_bound"):
                    self.assertEqual(sum(row["time_ps"] for row in where[kind]), where["total_ps"])
                bounds = {row["name"]: row["time_ps"] for row in where["by_bound"]}
                self.assertEqual(bounds.get("network", 0), answer["exposed_communication_ps"] * answer["npus"])

    def test_layers_of_names_add_up_too(self):
        text = """
          func.func @main(%arg0: tensor<64x64xf32>) -> tensor<64x64xf32> {
            %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#a)
            %1 = stablehlo.tanh %0 : tensor<64x64xf32> loc("jit(f)/decoder/layers_1/tanh"("m.py":3:1))
            return %1 : tensor<64x64xf32>
          }
          #a = loc("jit(f)/transpose(jvp(decoder))/layers_0/mlp/dot_general")
        """
        where = result("run", "-", "--device", "A100_SXM_40GB", "--optimise", "none", stdin=text)["where_time_goes"]
        self.assertEqual({row["name"] for row in where["by_layer"]}, {"layers_0", "layers_1"})
        self.assertEqual(sum(row["time_ps"] for row in where["by_layer"]), where["total_ps"])

    def test_layers_of_hlo_metadata(self):
        text = """HloModule m
          ENTRY e {
            x = f32[64,64] parameter(0)
            ROOT t = f32[64,64] tanh(x), metadata={op_type="tanh" op_name="jit(f)/jvp(decoder)/layers_5/tanh"}
          }
        """
        where = result("run", "-", "--device", "A100_SXM_40GB", "--optimise", "none", stdin=text)["where_time_goes"]
        self.assertEqual([row["name"] for row in where["by_layer"]], ["layers_5"])

    def test_each_what_if_row_is_what_the_command_answers(self):
        for name in ("optimised", "resnet"):
            answer = result("run", *RUNS[name], "--output", self.folder / name)
            self.assertGreaterEqual(len(answer["what_if"]), 6)
            for row in answer["what_if"]:
                with self.subTest(f"{name}: {row['name']}"):
                    self.assertEqual(result("run", *RUNS[name], *row["options"].split())["step_time_ps"], row["step_time_ps"])

    def test_page_holds_the_result_and_every_block(self):
        answer = result("run", *RUNS["optimised"], "--no-what-if", "--output", self.folder)
        data, page = page_data(self.folder / "report.html")
        written = json.loads((self.folder / "result.json").read_text())
        self.assertEqual(len(written.pop("block_times")["time_ps"]), answer["blocks"]["total"])  # the page has columns of its own
        self.assertEqual(data["run"], written)
        self.assertEqual(len(data["blocks"]["id"]), answer["blocks"]["compute"])
        self.assertEqual(len(data["distinct"]["time"]), answer["blocks"]["unique"])
        self.assertEqual(len(data["collectives"]), answer["blocks"]["communication"])
        pricings = [pricing for use in written["collectives"] for pricing in use["pricings"]]
        self.assertGreater(len(pricings), 0)
        for pricing in pricings + data["collectives"]:
            self.assertEqual((pricing["model"], pricing["levels"]), ("calibrated", "dimension 0: 4 ranks"))
            self.assertTrue(pricing["algorithm"] and pricing["bound"], pricing)
        intervals = data["timeline"]["classes"][0]
        self.assertEqual(sum(intervals["compute"]["duration"]), answer["compute_time_ps"])
        self.assertEqual(sum(intervals["communication"]["duration"]), answer["communication_time_ps"])
        self.assertNotRegex(page.split("<script>")[0], r'(src|href)="http')

    def test_critical_path_adds_up_to_the_step(self):
        answer = result("run", *RUNS["optimised"], "--no-what-if", "--output", self.folder)
        data, _ = page_data(self.folder / "report.html")
        self.assertEqual(sum(row[4] for row in data["path"]), answer["step_time_ps"])

    def test_ten_thousand_different_blocks_stay_below_five_megabytes(self):
        done = run("run", "-", "--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU", "--optimise", "none", "--no-what-if", "--quiet",
                   "--output", self.folder, stdin=chain(10_000))
        self.assertEqual(done.returncode, 0, done.stderr)
        data, page = page_data(self.folder / "report.html")
        self.assertEqual(len(data["blocks"]["id"]), 10_000)
        self.assertLess(len(page.encode()), 5e6)

    def test_names_in_the_program_cannot_leave_the_data(self):
        text = 'func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.tanh %a : tensor<4xf32> loc("x</script><script>alert(1)//layers_1/@PROGRAM@")\n' \
               "  return %0 : tensor<4xf32>\n}\n"
        done = run("run", "-", "--device", "A100_SXM_80GB", "--optimise", "none", "--no-what-if", "--output", self.folder, stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, page = page_data(self.folder / "report.html")
        self.assertNotIn("<script>alert", page)

    def test_bad_changes_are_usage_errors_that_help(self):
        for change, word in (("device.memory_bandwith=2x", "device.memory_bandwidth"), ("device.peak_flops", "="), ("device.peak_flops=fast", "fast"),
                             ("device.launch_time=2x", "2x")):
            with self.subTest(change):
                done = run("run", LLAMA, *DEVICE, "--set", change)
                self.assertEqual(done.returncode, 2)
                self.assertIn("E0970", done.stderr)
                self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
