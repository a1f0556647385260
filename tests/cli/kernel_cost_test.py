"""`--cost`: what the user tells about a custom kernel, by name on the command line and in a JSON file; what stays unknown is in the headline."""
import json
import pathlib
import tempfile
import unittest

from command import run

PROGRAM = """
module {
  func.func @main(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %0 = stablehlo.custom_call @my_kernel(%a) {backend_config = ""} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %1 = stablehlo.tanh %0 : tensor<1024x1024xf32>
    return %1 : tensor<1024x1024xf32>
  }
}
"""
OPTIONS = ("--device", "H100_80GB", "--network-backend", "none")


def ask(*words, form="json"):
    done = run("run", "-", *OPTIONS, *words, "--format", form, stdin=PROGRAM)
    return done, json.loads(done.stdout) if form == "json" and done.returncode == 0 else done.stdout


class KernelCost(unittest.TestCase):
    def test_an_unknown_kernel_is_in_the_headline_with_its_share(self):
        _, answer = ask()
        [kernel] = answer["unknown_kernels"]
        self.assertEqual((kernel["name"], kernel["count"], kernel["bytes"]), ("my_kernel", 1, 2 * 4 * 1024**2))
        self.assertEqual(kernel["share_of_ops"], 0.5)
        self.assertEqual(kernel["share_of_bytes"], 0.5)
        _, text = ask(form="table")
        self.assertIn("Warning: the cost of my_kernel is NOT KNOWN: 50.0 % of operations, 50.0 % of bytes.", " ".join(text.split()))
        self.assertLess(text.index("my_kernel"), text.index("step time"))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_the_command_line_tells_its_work(self):
        done, answer = ask("--cost", "my_kernel=flops:2e12,bytes:300MB")
        self.assertEqual((done.stderr, answer["unknown_kernels"]), ("", []))
        self.assertAlmostEqual(answer["flops"], 2e12, delta=1e8)
        self.assertEqual(answer["bytes_accessed"], 300_000_000 + 2 * 4 * 1024**2)
        self.assertGreater(answer["step_time_s"], 2e12 / 1e15)

    def test_a_file_tells_its_work(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "costs.json")
            path.write_text(json.dumps({"my_kernel": {"flops": 2e12, "bytes": "300MB"}}))
            _, of_file = ask("--cost", path)
            _, of_option = ask("--cost", "my_kernel=flops:2e12,bytes:300MB")
        for key in ("step_time_ps", "flops", "bytes_accessed"):
            self.assertEqual(of_file[key], of_option[key])

    def test_a_name_that_matches_nothing_is_warned_of(self):
        done, answer = ask("--cost", "my_kernal=flops:2e12")
        self.assertEqual(done.returncode, 0)
        self.assertIn("W0987", done.stderr)
        self.assertIn("no custom call `my_kernal`", done.stderr)
        self.assertIn("`my_kernel`", done.stderr)  # the one that is meant
        self.assertEqual([kernel["name"] for kernel in answer["unknown_kernels"]], ["my_kernel"])

    def test_what_is_no_cost_is_refused(self):
        for text in ("my_kernel=flops:fast", "my_kernel=2e12", "my_kernel=watts:3", "my_kernel=", "=flops:1", "nofile.json", "my_kernel=flops:-1"):
            with self.subTest(text):
                done = run("run", "-", *OPTIONS, "--cost", text, stdin=PROGRAM)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("E0947", done.stderr)


if __name__ == "__main__":
    unittest.main()
