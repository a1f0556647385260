"""Plans of the user's own programs, with answers that are known instead of XLA's partitioner: what the objective decides."""
import asyncio
import os
import pathlib
import sys
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
sys.path[:0] = [str(ROOT / "python/plan"), str(ROOT / "python/export")]

import own_rows  # noqa: E402
from own_program import compared  # noqa: E402
from own_rows import Choice, estimated  # noqa: E402

QUICK, FRUGAL, SLOW = (Choice("step.mlir", (), (("data", data), ("tensor", 8 // data))) for data in (1, 2, 4))


def result(step, energy, peak=1):
    """What `hespas run` says of a step."""
    return {"result": {"throughput": None, "step_time_s": step, "step_time_sigma_s": None, "model_flops_utilisation": None, "peak_memory_bytes": peak, "memory_capacity_bytes": 10,
                       "exposed_communication_s": 0.0, "compute_time_s": step, "energy_j": energy, "flops": 1, "price_per_hour": 3600}}


class Estimated(unittest.TestCase):
    def answers(self, known, **options):
        """Rows and errors of all known choices; those with XLA's flags are what a function makes of the answer without."""
        arguments = types.SimpleNamespace(**{"objective": "tokens_per_s", "device": "H100_80GB", "devices": 8, "system": "auto", "run_options": [], "on": "", "workers": 0, "top": 1,
                                             "capacity": 0, "price": 0, "programs": pathlib.Path("programs"), **options})
        asked = self.asked = []

        class Workers:
            def __init__(self, *_):
                pass

            async def __aenter__(self):
                return self

            async def __aexit__(self, *_):
                pass

            async def ask(self, request):
                plain = next(choice for choice in known if dict(choice.sizes) == request["sizes"])
                asked.append((plain, bool(request["run"])))
                return known[plain][bool(request["run"])]

        with mock.patch.object(own_rows, "Workers", Workers), mock.patch.dict(os.environ, {"HESPAS_COMMAND": "hespas"}):
            return asyncio.run(estimated(arguments, pathlib.Path("."), list(known)))

    def test_the_objective_picks_what_is_tried_with_flags(self):
        """The quick one needs more energy than the frugal one; flags make either faster for more energy, or slower for less."""
        for flagged, kept in ((result(0.5, 30), "tokens_per_s"), (result(2.5, 1), "energy")):
            known = {QUICK: (result(1, 20), flagged), FRUGAL: (result(2, 10), flagged)}
            for objective, best in (("tokens_per_s", QUICK), ("energy", FRUGAL)):
                with self.subTest(objective=objective, kept=kept):
                    rows, _ = self.answers(known, objective=objective)
                    self.assertEqual([choice for choice, flags in self.asked if flags], [best])
                    self.assertEqual(any(choice.flags for choice in rows), objective == kept)

    def test_the_objective_picks_the_row_of_why(self):
        rows, failed = self.answers({choice: (each, each) for choice, each in ((QUICK, result(1, 20)), (FRUGAL, result(2, 10)), (SLOW, result(3, 30)))})
        for objective, best in (("step_time_s", QUICK), ("energy_j", FRUGAL)):
            self.assertEqual(compared([QUICK, FRUGAL, SLOW], [QUICK, FRUGAL, SLOW], rows, failed, objective)[0]["name"], str(best))


if __name__ == "__main__":
    unittest.main()
