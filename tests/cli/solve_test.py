"""hespas solve: the value that meets a target, slopes, nearest misses, bad input."""
import json
import re
import unittest

import command
from command import LLAMA

DEVICE = ("--device", "A100_SXM_40GB")


def solve(*words, status=0):
    done = command.run("solve", LLAMA, *DEVICE, *words, "--format", "json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def run(*words):
    return command.result("run", LLAMA, *DEVICE, *words, "--no-what-if")


def refused(*words):
    done = command.run("solve", LLAMA, *DEVICE, *words)
    assert done.returncode == 2, (done.returncode, done.stderr)
    return done.stderr


class Solve(unittest.TestCase):
    def test_the_answer_meets_the_target_and_a_percent_less_does_not(self):
        found = solve("--find", "system.bandwidth", "--until", "exposed_communication < 10 %")
        self.assertTrue(found["met"])
        self.assertEqual(found["side"], "from")
        for factor, met in ((1, True), (0.99, False)):
            result = run("--set", f"system.bandwidth={found['value'] * factor}")
            self.assertEqual(result["exposed_communication_s"] / result["step_time_s"] < 0.1, met, factor)
        self.assertLess(found["slope"], 0)
        self.assertLess(found["elasticity"], 0)

    def test_the_slope_is_that_of_two_runs(self):
        found = solve("--find", "device.memory_bandwidth", "--until", "step_time < 85 ms")
        low, high = (run("--set", f"device.memory_bandwidth={found['value'] * f}")["step_time_s"] for f in (0.99, 1.01))
        self.assertAlmostEqual(found["slope"] * 0.02 * found["value"], high - low, delta=1e-3 * abs(high - low) + 1e-9)

    def test_what_cannot_be_met_tells_the_nearest_miss_and_exits_with_6(self):
        found = solve("--find", "system.bandwidth", "--until", "step_time < 1 ms", status=6)
        self.assertFalse(found["met"])
        nearest = min(p["value"] for p in found["points"])
        self.assertEqual(found["result"], nearest)

    def test_devices_and_batch_are_found_by_carrying_the_program_over(self):
        found = solve("--find", "devices", "--until", "exposed_communication > 4 %", "--between", "1,64")
        result = run("--retarget", str(int(found["value"])))
        self.assertGreater(result["exposed_communication_s"] / result["step_time_s"], 0.04)
        batch = solve("--find", "batch", "--until", "units_per_step > 100000", "--between", "1,64")
        self.assertGreater(batch["answer"]["units_per_step"], 100000)

    def test_the_text_says_what_the_numbers_say(self):
        question = ("--find", "system.bandwidth", "--until", "exposed_communication < 10 %")
        found = solve(*question)
        done = command.run("solve", LLAMA, *DEVICE, *question)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = dict(re.split(r"  +|(?<=bandwidth) ", line, maxsplit=1) for line in done.stdout.splitlines()[2:])
        self.assertEqual(said["system.bandwidth"], f"{found['value'] / 1e9:.3g} GB/s")
        self.assertRegex(said["gives"], r"^10\.0 % of the step, step time ")
        self.assertRegex(said["slope"], rf"by {found['elasticity']:+.2g} % there$")
        self.assertEqual(said["reproduce with"], f"hespas run ... --set system.bandwidth={found['value']!r}")
        missed = command.run("solve", LLAMA, *DEVICE, "--find", "system.bandwidth", "--until", "step_time < 1 ms")
        self.assertRegex(missed.stdout, r"^nothing between .* meets `step_time < 1 ms`; nearest:")

    def test_bad_questions_are_refused(self):
        for find, until, code, text in (("system.bandwith", "mfu > 1", "E1012", "did you mean"), ("devices", "mfuu > 1", "E1011", "did you mean"),
                                        ("devices", "mfu = 1", "E1011", "no < or >"), ("devices", "peak_memory < 10 %", "E1011", "% means nothing"),
                                        ("devices", "mfu > much", "E1011", "no quantity"), ("system.bandwidth[7]", "mfu > 1", "E0970", "dimensions"),
                                        ("device.calibration.nothing", "mfu > 1", "E0970", "no constant")):
            said = refused("--find", find, "--until", until)
            self.assertIn(code, said, (find, until))
            self.assertIn(text, said, (find, until))
        for between in ("1", "5,1", "0,1", "a,b", "1,inf"):
            self.assertIn("E1014", refused("--find", "system.bandwidth", "--until", "mfu > 1", "--between", between), between)


if __name__ == "__main__":
    unittest.main()
