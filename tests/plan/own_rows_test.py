"""Plans of the user's own programs, with answers that are known instead of XLA's partitioner: what the objective decides, and what --why says."""
import asyncio
import contextlib
import io
import os
import pathlib
import sys
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
sys.path[:0] = [str(ROOT / "python/plan"), str(ROOT / "python/export")]

import own_layouts  # noqa: E402
import own_program  # noqa: E402
import own_rows  # noqa: E402
import own_text  # noqa: E402
import page  # noqa: E402
from environments import Refused  # noqa: E402
from own_layouts import layouts  # noqa: E402
from own_program import compared  # noqa: E402
from own_rows import Choice, estimated  # noqa: E402
from remesh import remeshed  # noqa: E402

QUICK, FRUGAL, SLOW = (Choice("step.mlir", (), (("data", data), ("tensor", 8 // data))) for data in (1, 2, 4))


def result(step, energy, peak=1):
    """What `hespas run` says of a step."""
    return {"result": {"throughput": None, "step_time_s": step, "step_time_sigma_s": None, "model_flops_utilisation": None, "peak_memory_bytes": peak, "memory_capacity_bytes": 10,
                       "exposed_communication_s": 0.0, "compute_time_s": step, "energy_j": energy, "flops": 1, "price_per_hour": 3600}}


class Layouts(unittest.TestCase):
    def test_orders_differ_in_what_lies_between_nodes(self):
        sizes = (("data", 4), ("stage", 1), ("tensor", 8))
        self.assertEqual(layouts(sizes, 8), [sizes, (("tensor", 8), ("stage", 1), ("data", 4))])
        self.assertEqual(len(layouts(sizes, 32)), 1)  # one node
        self.assertEqual(len(layouts((("a", 2), ("b", 2), ("c", 2)), 4)), 3)  # which of them is outside
        names = [str(Choice("step.mlir", (), order, node=8)) for order in layouts(sizes, 8)]
        self.assertEqual(names, ["data=4,tensor=8,between_nodes=data:4", "tensor=8,data=4,between_nodes=tensor:4"])
        self.assertEqual(own_layouts.mesh((("tensor", 8), ("data", 4)), 8), {"axis_names": ["tensor", "data"], "shape": [8, 4], "between_nodes": [4, 1], "within_nodes": [2, 4]})

    def test_axes_that_nodes_cut_across_have_no_parts(self):
        """On three nodes of eight, tensor groups are devices 0-2, 3-5, 6-8: the third lies on two nodes."""
        choice = Choice("step.mlir", (), (("data", 8), ("tensor", 3)), node=8)
        self.assertEqual(choice.mesh, {"axis_names": ["data", "tensor"], "shape": [8, 3], "between_nodes": None, "within_nodes": None})
        self.assertEqual((str(choice), choice.between), ("data=8,tensor=3", ""))
        self.assertIn("<p>Nodes cut across these axes (data 8, tensor 3)", page.mapping(choice.mesh))
        even = Choice("step.mlir", (), (("tensor", 3), ("data", 8)), node=8).mesh
        self.assertEqual((even["between_nodes"], even["within_nodes"]), ([3, 1], [1, 8]))
        self.assertNotIn("<p>", page.mapping(even))

    def test_the_programs_mesh_takes_the_order(self):
        text = 'module @m attributes {mhlo.num_partitions = 8 : i32} { sdy.mesh @mesh = <["data"=8, "spare"=1, "tensor"=1]> }'
        self.assertIn('<["tensor"=4, "data"=2, "spare"=1]>', remeshed(text, {"data": 2, "tensor": 4}, ["tensor", "data"]))
        self.assertIn('<["data"=2, "spare"=1, "tensor"=4]>', remeshed(text, {"data": 2, "tensor": 4}))


class Dimensions(unittest.TestCase):
    TEXT = ('sdy.mesh @mesh = <["rows"=8, "columns"=1, "idle"=1]>\nfunc.func public @main(%arg0: tensor<12x4096xbf16> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, '
            '[{"rows", "columns"}, {}]>}, %arg1: tensor<7xf32>, %arg2: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"rows":(1)2}, {?}]>}) -> (tensor<4096xbf16> {sdy.sharding = '
            '#sdy.sharding<@mesh, [{"columns"}]>})')

    def test_axes_and_dimensions(self):
        self.assertEqual(own_text.axes_of(self.TEXT), ["rows", "columns"])
        dimensions = own_text.divided(self.TEXT)
        self.assertEqual(dimensions, [(12, ("rows", "columns")), (4096, ("columns",))])
        self.assertEqual([own_text.indivisible(dimensions, {"rows": rows, "columns": columns}) for rows, columns in ((4, 1), (2, 4), (8, 1))], ["", "12 over rows=2,columns=4", "12 over rows=8"])


class Exports(unittest.TestCase):
    """Of a function, with answers of `hespas export` that are known."""
    SHARD = "error: Sharding S implies that array axis 0 is partitioned 4 times, but the dimension size is 5\n"
    JIT = "error: One of pjit outputs was given the sharding of S, which implies that the global size of its dimension 0 should be divisible by 4, but it is equal to 5\n"

    def exported(self, said, axes="rows,columns", arg=()):
        """What becomes of 4 devices where export says this, mesh by mesh: the meshes, the status and stderr."""
        answers, meshes, told = iter(said), [], io.StringIO()

        def run(command, **_):
            meshes.append(command[command.index("--axes") + 1])
            error = next(answers)
            return types.SimpleNamespace(returncode=5 if error else 0, stderr=error, stdout="" if error else "step.mlir\n")

        arguments = types.SimpleNamespace(model="step.py", axes=axes, devices=4, arg=list(arg), set=[])
        with mock.patch.object(own_program.subprocess, "run", run), mock.patch.dict(os.environ, {"HESPAS_COMMAND": "hespas"}), contextlib.redirect_stderr(told):
            try:
                own_program.exported(arguments, own_program.named_axes(axes), "scratch")
                status = 0
            except Refused as refusal:
                status = refusal.status
        return meshes, status, told.getvalue()

    def test_the_error_is_that_of_the_mesh_that_ended_it(self):
        every = ["rows=4,columns=1", "rows=2,columns=2", "rows=1,columns=4"]
        other = "error: no module named `flax`\n"
        for uneven in (self.SHARD, self.JIT):
            self.assertEqual(self.exported([uneven, ""]), (every[:2], 0, ""))
            self.assertEqual(self.exported([uneven, other]), (every[:2], 5, other))
            self.assertEqual(self.exported([uneven, self.SHARD, self.JIT]), (every, 5, uneven))

    def test_meshes_that_do_not_divide_what_is_given_are_not_exported(self):
        self.assertEqual(self.exported([""], arg=["bf16[8,6]@-,rows", "f32[1]"]), (["rows=2,columns=2"], 0, ""))
        self.assertEqual(self.exported([self.SHARD], arg=["bf16[5]@rows+columns"]), (["rows=4,columns=1"], 5, self.SHARD))

    def test_no_axis_is_refused(self):
        for axes in ("", ","):
            self.assertEqual(self.exported([], axes=axes), ([], 2, ""))


class Estimated(unittest.TestCase):
    def answers(self, known, visited=None, alike=(), **options):
        """Estimates of known choices, which have an answer without XLA's flags and one with them."""
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
            return asyncio.run(estimated(arguments, pathlib.Path("."), list(known) if visited is None else visited, list(alike)))

    def test_the_objective_picks_what_is_tried_with_flags(self):
        """The quick one needs more energy than the frugal one; flags make either faster for more energy, or slower for less."""
        for flagged, kept in ((result(0.5, 30), "tokens_per_s"), (result(2.5, 1), "energy")):
            known = {QUICK: (result(1, 20), flagged), FRUGAL: (result(2, 10), flagged)}
            for objective, best in (("tokens_per_s", QUICK), ("energy", FRUGAL)):
                with self.subTest(objective=objective, kept=kept):
                    found = self.answers(known, objective=objective)
                    self.assertEqual([choice for choice, flags in self.asked if flags], [best])
                    self.assertEqual(any(choice.flags for choice in found.rows), objective == kept)

    def test_the_objective_picks_the_row_of_why(self):
        found = self.answers({choice: (each, each) for choice, each in ((QUICK, result(1, 20)), (FRUGAL, result(2, 10)), (SLOW, result(3, 30)))})
        for objective, best in (("step_time_s", QUICK), ("energy_j", FRUGAL)):
            self.assertEqual(compared([QUICK, FRUGAL, SLOW], found, objective)[0]["name"], str(best))

    def test_why_tries_others_where_what_was_visited_failed_or_does_not_fit(self):
        for what, said in (({"error": "no such axis"}, "failed"), (result(1, 1, peak=11), "estimated, but does not fit")):
            known = {QUICK: (result(1, 1), result(1, 1)), FRUGAL: (what, what), SLOW: (result(3, 3), result(2, 3))}
            found = self.answers(known, [QUICK, FRUGAL], [FRUGAL, SLOW])
            row, were = compared([FRUGAL, SLOW], found, "step_time_s")
            self.assertEqual((row["name"], were), (f"{SLOW},flags=pipelined", {said: 1, "not visited": 1}))
            self.assertEqual([found.outcome(choice) for choice in known], ["estimated", said, "estimated"])
            self.answers(known, [QUICK, FRUGAL], [QUICK, SLOW])
            self.assertNotIn((SLOW, False), self.asked)  # one that fits was visited

    def test_why_refuses_with_an_error_of_what_was_asked_for(self):
        many = [Choice("step.mlir", (), (("data", 1 << at), ("tensor", 1))) for at in range(4, 14)]
        known = {QUICK: (result(1, 1), {"error": "flags"}), SLOW: ({"error": "another's"},) * 2} | {choice: ({"error": "its own"},) * 2 for choice in many}
        for alike, said in ((many, "none of 6 that were tried of the 10 configurations"), (many[:2], "none of the 2 configurations")):
            found = self.answers(known, [QUICK, SLOW], alike)
            with self.assertRaises(Refused) as refusal:
                compared(alike, found, "step_time_s")
            self.assertIn(f"{said} asked for can be estimated", str(refusal.exception))
            self.assertEqual(refusal.exception.help, f"{alike[0]}: its own")


if __name__ == "__main__":
    unittest.main()
