"""Pipeline schedules of `hespas plan` against programs of stages (MPMD), whose sends and receives `hespas run` simulates on a network: time and memory."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
sys.path.insert(0, str(ROOT / "python/plan"))

from pipeline import Stage, run  # noqa: E402
from schedules import Schedule  # noqa: E402

STAGES, MICROBATCHES, ROWS, WIDTH = 4, 8, 2048, 2048
BANDWIDTH, LATENCY = 100.0, 1000.0  # GB/s and ns: what passes between stages takes a quarter of a forward pass
TRANSFER = 2 * ROWS * WIDTH / (BANDWIDTH * 1e9) + LATENCY * 1e-9
CHUNKS = {"gpipe": 1, "1f1b": 1, "interleaved": 2}


def answered(*words):
    done = subprocess.run([HESPAS, "run", *words, "--device", "H100_80GB", "--split", "linear", "--format", "json", "-q", "--no-what-if"], check=True, capture_output=True,
                          text=True, timeout=600)
    return json.loads(done.stdout)


class Stages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.folder = pathlib.Path(place.name)
        system = json.loads((ROOT / "tests/whole/free_transfers.json").read_text(encoding="utf-8"))
        system["network"] |= {"bandwidth": [BANDWIDTH], "latency": [LATENCY]}
        cls.system = cls.folder / "system.json"
        cls.system.write_text(json.dumps(system))
        cls.programs = {name: cls.exported(name) for name in CHUNKS}
        cls.whole = {name: cls.simulated(programs) for name, programs in cls.programs.items()}
        cls.forward = cls.simulated(cls.exported("gpipe", training="false"))["compute_time_s"] / MICROBATCHES

    @classmethod
    def exported(cls, name, **settings):
        own = {"rows": ROWS, "width": WIDTH, "stages": STAGES, "microbatches": MICROBATCHES, **settings}
        words = [word for key, value in own.items() for word in ("--set", f"{key}={value}")]
        folder = cls.folder / "-".join((name, *settings))
        subprocess.run([HESPAS, "export", f"pipeline-{name}-mpmd", "--stage", "lowered", "--output", folder, *words], check=True, capture_output=True, timeout=600)
        return sorted(folder.glob("*.mlir"))

    @classmethod
    def simulated(cls, programs):
        return answered(*programs, "--system", cls.system, "--network-model", "plain")

    def schedule(self, name):
        """Of the plan, with the passes' times in the programs."""
        forward, both = self.forward * CHUNKS[name], self.whole[name]["compute_time_s"] / MICROBATCHES
        return run(Schedule(name, STAGES, MICROBATCHES, CHUNKS[name]), [Stage(forward, both - forward)] * STAGES, TRANSFER)

    def test_they_take_as_long(self):
        for name in CHUNKS:
            with self.subTest(name):
                step, work = self.whole[name]["step_time_s"], self.whole[name]["compute_time_s"]
                self.assertGreater(step, 1.2 * work)  # there is a bubble, and transfers
                # A forward pass takes here what a program without backward passes does: 1.1 % of the step for 1F1B.
                self.assertAlmostEqual(max(self.schedule(name).ends) / step, 1, delta=0.02)

    def test_each_stage_holds_as_much(self):
        """What a microbatch keeps is the difference between the programs that hold all and some of them."""
        held = {name: self.schedule(name).held for name in CHUNKS}
        peaks = {name: [answered(each)["peak_memory_bytes"] for each in programs] for name, programs in self.programs.items()}
        kept = (peaks["gpipe"][0] - peaks["1f1b"][0]) / (held["gpipe"][0] - held["1f1b"][0])
        self.assertGreater(peaks["1f1b"][0], 2 * peaks["1f1b"][-1])
        for name, each in peaks.items():
            for at, peak in enumerate(each):
                with self.subTest(name, stage=at):
                    said = each[0] - CHUNKS[name] * kept * (held[name][0] - held[name][at])
                    self.assertAlmostEqual(said / peak, 1, delta=0.05)


if __name__ == "__main__":
    unittest.main()
