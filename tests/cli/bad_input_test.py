"""What goes wrong for users: each mistake has its own error with a remedy, and leaves no half-written file."""
import csv
import json
import os
import pathlib
import re
import tempfile
import unittest

from command import FIXTURES, LLAMA, fixture, run

ADD = """func.func @main(%a: tensor<{shape}>) -> tensor<{shape}> {{
  %0 = stablehlo.add %a, %a : tensor<{shape}>
  return %0 : tensor<{shape}>
}}
"""


DEVICE = {"HESPAS_DEVICE": "A100_SXM_80GB"}  # most mistakes here are about something else
os.environ.update(DEVICE)


class BadInput(unittest.TestCase):
    def test_a_device_must_be_named(self):
        try:
            del os.environ["HESPAS_DEVICE"]
            self.fails("run", LLAMA, status=2, says=("E0927", "--device NAME", "H100_80GB"))
            for words in (("estimate", LLAMA), ("estimate", "--kernels", "kernels.csv"), ("trace", LLAMA, "--output", "traces")):
                self.fails(*words, status=2, says=("E0927", "--device NAME"))
            named = run("estimate", LLAMA, "--system", "A100_SXM_40GB_4GPU")
            self.assertEqual((named.returncode, "x A100_SXM_40GB (" in named.stdout), (0, True), named.stderr)
        finally:
            os.environ.update(DEVICE)

    def test_a_system_names_its_device(self):
        try:
            del os.environ["HESPAS_DEVICE"]
            for system in ("A100_SXM_40GB_4GPU", "A100_SXM_40GB 4"):
                told = run("run", LLAMA, "--system", system, "--format", "json")
                self.assertEqual(json.loads(told.stdout)["device"], "A100_SXM_40GB", told.stderr)
            self.fails("run", LLAMA, "--system", "no such system", status=2, says=("E0806", "E0927"))
            broken = '{"device": "H100_80GB", "network": {"topology": ["Ring"], "npus_count": [4], "bandwidth": [0], "latency": [1]}}'
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(broken)
                file.flush()
                for command in ("run", "explain"):
                    told = self.fails(command, LLAMA, "--system", file.name, says=(f"{file.name}:1:", "above 0"))
                    self.assertNotIn("E0927", told)
                    self.fails(command, LLAMA, "--system", "H100_80GB 8 ib=400Gbit/s", status=2, says=("E0823", "8x4"))
            explained = run("explain", LLAMA, "all_gather", "--system", "H100_80GB 4")
            self.assertIn("450 GB/s  system H100_80GB 4", explained.stdout)
        finally:
            os.environ.update(DEVICE)

    def fails(self, *words, status=1, says=(), stdin=None, **more):
        done = run(*words, stdin=stdin, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"error\[E\d{4}\]")
        for text in says:
            self.assertIn(text, done.stderr)
        return done.stderr

    def program(self, text, *words, **more):
        return self.fails("run", "-", "--network-backend", "none", *words, stdin=text, **more)

    def test_missing_file(self):
        self.fails("run", "no/such/file.mlir", says=("no/such/file.mlir", "No such file"))

    def test_folder_instead_of_a_file(self):
        self.fails("run", FIXTURES, says=("Is a directory",))

    def test_empty_file(self):
        self.program("", says=("empty",))

    def test_binary_garbage(self):
        self.program("\x01\x02garbage\x00\x7f" * 40, says=("help:",))

    def test_damaged_gzip(self):
        with tempfile.NamedTemporaryFile(suffix=".gz") as file:
            file.write(LLAMA.read_bytes()[:5000])
            file.flush()
            self.fails("run", file.name, says=("damaged gzip",))

    def test_truncated_module(self):
        text = fixture("jax_example")
        self.program(text[: len(text) // 2])

    def test_syntax_error_has_a_place_and_a_caret(self):
        stderr = self.program(ADD.format(shape="4xf32").replace("%a, %a", "%a %a"), says=("-:2:", "^"))
        self.assertIn("stablehlo.add %a %a", stderr)

    def test_misspelt_op_is_suggested(self):
        self.program(ADD.format(shape="4xf32").replace("stablehlo.add", "stablehlo.ad"), says=("stablehlo.add",))

    def test_no_main_names_what_there_is(self):
        self.program(ADD.format(shape="4xf32").replace("@main", "@other"), says=("main", "other"))

    def test_wrong_shape_is_refused(self):
        self.program(ADD.format(shape="4xf32").replace("tensor<4xf32> {", "tensor<5xf32> {"))

    def test_dynamic_shape_is_a_warning(self):
        done = run("run", "-", "--network-backend", "none", stdin=ADD.format(shape="?x4xf32"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("W0512", done.stderr)

    def test_token_and_quantised_types(self):
        token = """func.func @main() -> !stablehlo.token {
  %0 = stablehlo.create_token : !stablehlo.token
  return %0 : !stablehlo.token
}
"""
        self.assertEqual(run("run", "-", "--network-backend", "none", stdin=token).returncode, 0)
        quantised = ADD.format(shape="4x!quant.uniform<i8:f32, 1.0:0>")
        self.assertEqual(run("run", "-", "--network-backend", "none", stdin=quantised).returncode, 0)

    def test_op_without_a_rule(self):
        text = ADD.format(shape="4xf32").replace("stablehlo.add %a, %a :", '"my.op"(%a) :').replace(
            ": tensor<4xf32>\n", ": (tensor<4xf32>) -> tensor<4xf32>\n", 1)
        done = run("run", "-", "--network-backend", "none", stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("my.op", done.stderr)
        self.fails("run", "-", "--network-backend", "none", "--strict", stdin=text, status=3, says=("my.op",))

    def test_unknown_device_and_system(self):
        self.fails("run", LLAMA, "--device", "A100_SXM_40G", status=2, says=("did you mean `A100_SXM_40GB`",))
        self.fails("run", LLAMA, "--system", "A100_SXM_40GB_4GP", status=2, says=("did you mean",))

    def test_malformed_device_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "device.json"
            path.write_text('{\n  "name": "mine",\n  "peak_flops": 1e12,,\n}\n', encoding="utf-8")
            self.fails("run", LLAMA, "--device", path, says=("device.json:3:",))
            path.write_text('{"name": "x", "peak_flops": 1e12, "memory_bandwith": 1e12}', encoding="utf-8")
            self.fails("run", LLAMA, "--device", path, says=("memory_bandwidth",))

    def test_malformed_network_file(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "network.yml").write_text("topology: [ Ring\nnpus_count: [ 4 ]\n", encoding="utf-8")
            (pathlib.Path(folder) / "system.json").write_text("{}", encoding="utf-8")
            self.fails("run", LLAMA, "--system", folder, says=("network.yml:",))

    def test_system_of_another_size(self):
        told = self.fails("run", LLAMA, "--system", "A100_SXM_40GB_8GPU", status=2, says=("8", "--retarget 8"))
        self.assertTrue(told.splitlines()[0].startswith("error[E0906]"), told)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"network": {"topology": ["Ring"],\n"npus_count": [8],\n"bandwidth": ["50 GB/s"], "latency": ["1 us"]}}')
            file.flush()
            self.fails("run", LLAMA, "--system", file.name, status=2, says=(f"{file.name}:2:1: error[E0906]", "npus_count"))
        for count in ("0", "-1"):
            self.fails("run", LLAMA, f"--devices={count}", status=2, says=("--devices", f"`{count}` is not a number above 0"))
        self.fails("run", LLAMA, "--devices", "8", "--retarget", "4", status=2, says=("--devices", "--retarget"))

    def test_collectives_of_more_devices_than_the_system_has(self):
        with tempfile.TemporaryDirectory() as folder:
            table, alone = pathlib.Path(folder) / "table.csv", pathlib.Path(folder) / "alone.json"
            table.write_text("op,dtype,N,bytes,timing\nall-reduce,bf16,4,1048576,\nall-reduce,bf16,16,1048576,\nall-reduce,bf16,16,1048576,stream\n", encoding="utf-8")
            alone.write_text('{"device": "H100_80GB"}', encoding="utf-8")
            for system, line, known in (("H100_80GB_4GPU", 3, [True, False, False]), (alone, 4, [True, True, False]), ("H100_80GB 8x2 ib=400Gbit/s", None, [True] * 3)):
                with self.subTest(system):
                    done = run("estimate", "--collectives", table, "--system", system)
                    self.assertEqual([bool(row["predicted_us"]) for row in csv.DictReader(done.stdout.splitlines())], known)
                    self.assertEqual(re.findall(r"table\.csv:(\d+):.*W0561", done.stderr), [str(line)] if line else [])

    def test_settings_that_the_model_does_not_use_are_named(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('''{"network": {"topology": ["Ring"], "npus_count": [4], "bandwidth": ["50 GB/s"], "latency": ["1 us"]},
"system": {"scheduling-policy": "LIFO", "endpoint-delay": "10 ns", "all-reduce-implementation": ["ring"]}}''')
            file.flush()
            told = run("run", LLAMA, "--system", file.name)
            self.assertEqual(told.stderr.count("W0908"), 1, told.stderr)
            self.assertRegex(told.stderr, r":2:.*W0908.*: the network model does not use .*all-reduce-implementation")
            for key in ("scheduling-policy", "endpoint-delay"):
                self.assertIn(key, told.stderr)
            self.assertNotIn("W0908", run("run", LLAMA, "--system", file.name, "--network-model", "plain").stderr)

    def test_too_few_npus(self):
        self.fails("run", LLAMA, "--num-npus", "2", status=2, says=("--num-npus",))

    def test_program_without_communication(self):
        done = run("run", FIXTURES / "test_no_comm_graph.mlir.gz")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("run", FIXTURES / "test_no_comm_graph.mlir.gz", "--system", "A100_SXM_40GB_4GPU")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("W0901", done.stderr)

    def test_misspelt_words(self):
        self.fails("rnu", status=2, says=("did you mean `run`",))
        self.fails("run", LLAMA, "--devcie", "X", status=2, says=("did you mean `--device`",))
        self.fails("run", LLAMA, "--split", "liner", status=2, says=("did you mean `linear`",))
        self.fails("run", LLAMA, "--estimator", "rofline", status=2, says=("roofline",))
        self.fails("explain", "E9999", status=2)

    def test_unwritable_output_leaves_nothing(self):
        with tempfile.NamedTemporaryFile() as file:
            self.fails("run", LLAMA, "--output", file.name, says=("folder",))
            self.fails("run", LLAMA, "--output", os.path.join(file.name, "below"))

    def test_full_disk_keeps_older_files_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("run", LLAMA, "--output", folder).returncode, 0)
            before = {p.name: p.read_bytes() for p in pathlib.Path(folder).iterdir()}
            self.fails("run", LLAMA, "--split", "linear", "--output", folder, largest_file=1000,
                       says=("cannot write",))
            after = {p.name: p.read_bytes() for p in pathlib.Path(folder).iterdir()}
            self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
