"""Pipeline schedules of `hespas plan` against closed forms: Narayanan et al. 2021 (1F1B, interleaved), Qi et al. 2023 (zero bubble), DeepSeek-V3."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["HESPAS_ROOT"]) / "python/plan"))

from pipeline import Stage, run  # noqa: E402
from schedules import Schedule, bubble, in_flight  # noqa: E402

FORWARD, BACKWARD, WEIGHTS = 1.0, 2.0, 1.0
KINDS = (("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("interleaved", 4), ("zb-h1", 1), ("dualpipe", 1))


def runs():
    for stages in (2, 4, 8):
        for microbatches in (stages, 2 * stages, 4 * stages):
            for name, chunks in KINDS:
                schedule = Schedule(name, stages, microbatches, chunks)
                if not schedule.possible:
                    continue
                yield schedule, run(schedule, [Stage(FORWARD, BACKWARD, WEIGHTS)] * stages)


class Schedules(unittest.TestCase):
    def test_every_stage_does_all_its_work(self):
        for schedule, made in runs():
            for busy in made.busy:
                self.assertAlmostEqual(busy, schedule.microbatches * (FORWARD + BACKWARD), msg=schedule)

    def test_the_bubble_is_that_of_the_closed_form(self):
        for schedule, made in runs():
            self.assertAlmostEqual(max(made.ends) - made.busy[0], bubble(schedule, FORWARD, BACKWARD, WEIGHTS), msg=schedule)

    def test_interleaved_bubble_as_a_part_of_the_work(self):
        """(p - 1) / (v m), Narayanan et al. 2021, section 2.2.2."""
        made = run(Schedule("interleaved", 4, 8, 2), [Stage(FORWARD, BACKWARD)] * 4)
        self.assertAlmostEqual((max(made.ends) - made.busy[0]) / made.busy[0], 3 / (2 * 8))

    def test_microbatches_in_flight(self):
        for schedule, made in runs():
            stages, count = schedule.stages, schedule.microbatches
            for at, held in enumerate(made.held):
                most = {"gpipe": count, "1f1b": min(count, stages - at), "zb-h1": min(count, stages), "dualpipe": stages + 1}
                if schedule.name in most:
                    self.assertAlmostEqual(held, most[schedule.name], msg=(schedule, at))
                else:
                    whole = min(count * schedule.chunks, 2 * (stages - 1 - at) + (schedule.chunks - 1) * stages + 1)
                    self.assertAlmostEqual(held, whole / schedule.chunks, msg=(schedule, at))

    def test_the_first_device_holds_what_the_closed_form_says(self):
        for schedule, made in runs():
            self.assertAlmostEqual(made.held[0], in_flight(schedule), msg=schedule)

    def test_transfers_delay_the_ramps(self):
        """Each way, what crosses all stages once waits for p - 1 transfers."""
        free = run(Schedule("gpipe", 4, 1), [Stage(FORWARD, BACKWARD)] * 4)
        slow = run(Schedule("gpipe", 4, 1), [Stage(FORWARD, BACKWARD)] * 4, transfer=0.5)
        self.assertAlmostEqual(max(slow.ends) - max(free.ends), 2 * 3 * 0.5)

    def test_the_slowest_stage_sets_the_pace(self):
        stages = [Stage(FORWARD, BACKWARD)] * 3 + [Stage(2 * FORWARD, 2 * BACKWARD)]
        made = run(Schedule("1f1b", 4, 32), stages)
        self.assertAlmostEqual(max(made.ends), 32 * 2 * (FORWARD + BACKWARD) + 3 * (FORWARD + BACKWARD))


if __name__ == "__main__":
    unittest.main()
