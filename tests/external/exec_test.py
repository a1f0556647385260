"""`--estimator exec:PATH`: the two examples, and workers that misbehave."""

import json
import pathlib
import tempfile
import unittest

import command

GREETING = json.dumps({"ready": True, "name": "bad", "version": "1", "costs": ["dot_general"]})
EXAMPLE = command.ROOT / "examples/estimators/bandwidth.py"
PROGRAM = """module {
  func.func @main(%a: tensor<256x512xbf16>, %b: tensor<512x128xbf16>) -> tensor<256x128xbf16> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x128xbf16>) -> tensor<256x128xbf16>
    %1 = stablehlo.add %0, %0 : tensor<256x128xbf16>
    return %1 : tensor<256x128xbf16>
  }
}
"""
FLOPS, BYTES = 2 * 256 * 512 * 128, 2 * (256 * 512 + 512 * 128 + 256 * 128)


def estimate(estimator, *more):
    return command.run("estimate", "-", "--optimise", "none", "--device", "A100_SXM_40GB", "--estimator", estimator,
                       "--format", "json", *more, stdin=PROGRAM)


def times(done):
    return {row["op"]: row for row in json.loads(done.stdout)}


class Examples(unittest.TestCase):
    def check(self, path):
        done = estimate(f"exec:{path}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        rows, calibrated = times(done), times(estimate("calibrated"))
        peak, bandwidth = 312e12, 1555e9
        expected = max(FLOPS / (0.5 * peak), BYTES / bandwidth)
        self.assertAlmostEqual(float(rows["stablehlo.dot_general"]["time_s"]) / expected, 1, delta=1e-3)
        self.assertEqual(rows["stablehlo.add"]["time_s"], calibrated["stablehlo.add"]["time_s"])

    def test_python(self):
        self.assertLessEqual(len(EXAMPLE.read_text().splitlines()), 40)
        self.check(EXAMPLE)

    def test_cpp(self):
        self.check(command.BIN / "bandwidth_estimator")


class Result(unittest.TestCase):
    def test_says_who_costed_what(self):
        done = command.result("run", "-", "--optimise", "none", "--device", "A100_SXM_40GB", "--num-npus", "1", "--network-backend", "none",
                              "--estimator", f"exec:{EXAMPLE}", stdin=PROGRAM)
        self.assertEqual({row["name"]: row["costed_by"] for row in done["ops"]},
                         {"stablehlo.dot_general": {"exec": 1}, "stablehlo.add": {"calibrated": 1}})


class Requests(unittest.TestCase):
    def test_a_matmul_has_its_old_name_too(self):
        with tempfile.TemporaryDirectory() as folder:
            path, answer = pathlib.Path(folder, "worker.sh"), json.dumps({"id": 1, "ok": True, "seconds": 1})
            path.write_text(f"#!/bin/sh\necho '{GREETING}'\nread line\necho \"$line\" > {folder}/request\necho '{answer}'\nread line\n")
            path.chmod(0o755)
            self.assertEqual(estimate(f"exec:{path}").stderr, "")
            request = json.loads(pathlib.Path(folder, "request").read_text())
        self.assertEqual(request["matmul"], {"b": 1, "m": 256, "n": 128, "k": 512})
        self.assertEqual(request["product"], request["matmul"])


class Misbehaving(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def worker(self, body):
        path = pathlib.Path(self.folder.name) / "worker.sh"
        path.write_text("#!/bin/sh\ncd " + self.folder.name + "\necho start >> starts\n" + body)
        path.chmod(0o755)
        return f"exec:{path}"

    def starts(self):
        return len((pathlib.Path(self.folder.name) / "starts").read_text().splitlines())

    def falls_back(self, body, said, starts, *more):
        done = estimate(self.worker(body), *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("W0517", done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(times(done), times(estimate("calibrated")))
        self.assertEqual(self.starts(), starts)

    def test_one_that_dies_is_started_once_more(self):
        self.falls_back(f"echo '{GREETING}'\nread line\nexit 1\n", "ended without an answer", 2)

    def test_one_that_hangs_is_killed(self):
        self.falls_back(f"echo '{GREETING}'\nread line\nsleep 100\n", "silent for 0.5 s", 2, "--tool-timeout", "0.5")

    def test_nonsense_is_no_answer(self):
        self.falls_back(f"echo '{GREETING}'\nwhile read line; do echo 42; done\n", "it answered `42`", 2)

    def test_a_refusal_is_taken_at_its_word(self):
        refusal = json.dumps({"id": 1, "ok": False, "message": "too large"})
        self.falls_back(f"echo '{GREETING}'\nwhile read line; do echo '{refusal}'; done\n", "too large", 1)

    def test_one_recovers_after_its_restart(self):
        answer = json.dumps({"id": 1, "ok": True, "seconds": 0.25})
        script = (f"echo '{GREETING}'\nread line\nif [ $(wc -l < starts) = 1 ]; then exit 1; fi\n"
                  f"echo '{answer}'\nread line\n")
        done = estimate(self.worker(script))
        self.assertEqual(done.stderr, "")
        self.assertEqual(float(times(done)["stablehlo.dot_general"]["time_s"]), 0.25)
        self.assertEqual(self.starts(), 2)

    def test_a_program_that_does_not_greet_is_refused(self):
        done = estimate("exec:/bin/echo")
        self.assertEqual(done.returncode, 5)
        self.assertIn("E0572", done.stderr)
        missing = estimate("exec:/nowhere/estimator")
        self.assertEqual(missing.returncode, 5)
        self.assertIn("/nowhere/estimator", missing.stderr)


if __name__ == "__main__":
    unittest.main()
