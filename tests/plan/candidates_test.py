"""Candidates, networks and answers of `hespas plan`, without any program."""
import json
import os
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
os.environ.setdefault("HESPAS_COMMAND", str(pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"))
sys.path[:0] = [str(ROOT / "python/plan"), str(ROOT / "python/export")]

import answer  # noqa: E402
import bounds  # noqa: E402
import candidates  # noqa: E402
import commands  # noqa: E402
import costs  # noqa: E402
import floors  # noqa: E402
import megatron  # noqa: E402
import network  # noqa: E402
import options  # noqa: E402
import search  # noqa: E402
import stages  # noqa: E402
import why  # noqa: E402
from candidates import Candidate, factorisations, places, powers  # noqa: E402
from environments import Refused  # noqa: E402


class Spaces(unittest.TestCase):
    def test_factorisations(self):
        found = list(factorisations(12, ("a", "b")))
        self.assertEqual([sizes["a"] * sizes["b"] for sizes in found], [12] * 6)
        self.assertEqual(len(list(factorisations(512, ("a", "b", "c", "d", "e")))), 715)  # 9 twos over 5 axes: C(13, 4)

    def test_each_order_of_filling_a_node_counts_once(self):
        self.assertEqual(places({"tensor": 8, "fsdp": 64}, 8), [(("fsdp", 64),), (("fsdp", 8), ("tensor", 8))])
        self.assertEqual(places({"tensor": 2, "fsdp": 32}, 8), [(("fsdp", 8),), (("fsdp", 4), ("tensor", 2))])
        self.assertEqual(places({"tensor": 4}, 8), [()])

    def test_powers(self):
        self.assertEqual((powers(24), powers(7)), ([1, 2, 4, 8], [1]))

    def test_the_configurations_own_microbatch_counts(self):
        """Also a larger one than the search would try; not one that does not divide the share."""
        self.assertEqual(candidates.microbatch_sizes(24, 0), [1, 2, 4, 8])
        self.assertEqual([candidates.microbatch_sizes(64, own)[-1] for own in (32, 12, 0.5)], [32, 16, 16])
        self.assertEqual(candidates.microbatch_sizes(5, 2.5), [1, 5], "half a sequence is no part of a batch")


class Networks(unittest.TestCase):
    def test_nodes_and_stages(self):
        net = network.network_of("H100_80GB 8x64 ib=400Gbit/s", "H100_80GB", 512)
        self.assertEqual((net.node, [level.devices for level in net.levels]), (8, [8, 64]))
        self.assertEqual(net.of(32), "H100_80GB 8x4 ib=400Gbit/s")
        self.assertEqual(net.of(4), "H100_80GB 4x1 ib=400Gbit/s")
        self.assertIsNone(net.of(12))
        self.assertEqual((net.between(4).bandwidth, net.between(8).bandwidth), (450e9, 50e9))
        for devices in (4, 32):
            self.assertEqual(int(network.figures_of("systems", net.of(devices))["npus"]), devices)

    def test_parts_of_a_node(self):
        """Eight devices that lie in eight nodes, as those of an axis between nodes do whose node others fill."""
        net = network.network_of("H100_80GB 8x64 ib=400Gbit/s", "H100_80GB", 512)
        self.assertEqual([net.of(8, inside) for inside in (8, 2, 1)], [f"H100_80GB {counts} ib=400Gbit/s" for counts in ("8x1", "2x4", "1x8")])
        self.assertEqual([level.bandwidth for level in network.network_of(net.of(8, 1), "H100_80GB", 8).levels], [50e9])

    def test_chips_of_several_devices(self):
        """Counts of TPU7x_core are chips of two devices, which have a link of their own beside those of the axes."""
        net = network.network_of("TPU7x_core 4x4x8", "TPU7x_core", 256)
        self.assertEqual((net.dies, net.node, [level.devices for level in net.levels]), (2, 256, [2, 4, 4, 8]))
        for devices, name in ((2, "1x1x1"), (8, "4x1x1"), (128, "4x4x4"), (256, "4x4x8")):
            self.assertEqual(net.of(devices), f"TPU7x_core {name}")
            self.assertEqual(int(network.figures_of("systems", net.of(devices))["npus"]), devices)
        self.assertIsNone(net.of(1))
        slices = network.network_of("TPU7x_core 4x4x8 slices=2", "TPU7x_core", 512)
        self.assertEqual((slices.dies, slices.node), (2, 256))
        self.assertEqual(network.network_of("TPUv5p 2x2x2", "TPUv5p", 8).dies, 1)

    def test_no_device_takes_in_more_than_all_its_links(self):
        for name, device, devices, rates in (("H100_80GB 8x64 ib=400Gbit/s", "H100_80GB", 512, (450, 50)), ("MI300X 8x2", "MI300X", 16, (7 * 64, 50)),
                                             ("TPUv5p 4x4x4", "TPUv5p", 64, (600,)), ("TPU7x_core 4x4x4 slices=2", "TPU7x_core", 256, (600, 300, 6.25))):
            self.assertAlmostEqual(network.network_of(name, device, devices).all_links / 1e9, sum(rates), 3)

    def test_reference_networks(self):
        """Those of `--system auto`: also of devices that are no power of two, and slices by their axes."""
        for device, devices, levels in (("H100_80GB", 512, [8, 64]), ("H100_80GB", 24, [8, 3]), ("GB200_192GB", 144, [72, 2]), ("TPUv5e", 512, [16, 16, 2]),
                                        ("TPUv5e", 32, [4, 8]), ("TPUv5p", 64, [4, 4, 4])):
            net = network.network_of("auto", device, devices)
            self.assertEqual((net.devices, [level.devices for level in net.levels]), (devices, levels))
        with self.assertRaises(Refused):
            network.network_of("auto", "H100_80GB", 12)

    def test_a_network_of_another_size(self):
        with self.assertRaises(Refused):
            network.network_of("H100_80GB 8x4", "H100_80GB", 16)


class Indivisible(unittest.TestCase):
    FACTS = types.SimpleNamespace(layers=6, cycle=1, dense=0, sequence=1000, leaves=(), indivisible=lambda sizes: f"heads of 4 over tensor={sizes['tensor']}" if sizes.get("tensor", 1) > 4 else None)

    def test_the_reason_has_the_dimension_and_the_axis(self):
        space = candidates.Space(16, 8, 6, candidates.AXES, ("full",), (("1f1b", 1),))
        for sizes, said in (({"data": 2, "fsdp": 2}, "a batch of 6 over data=2, fsdp=2"), ({"context": 16}, "a sequence of 1000 over context=16"),
                            ({"tensor": 8}, "heads of 4 over tensor=8"), ({"pipeline": 4}, "6 layers over pipeline=4"), ({"pipeline": 3, "data": 2}, None)):
            self.assertEqual(candidates.indivisible(space, self.FACTS, sizes), said)
            self.assertEqual(candidates.refusal(space, self.FACTS, sizes) is None, said is None)


class Questions(unittest.TestCase):
    def test_a_misspelt_setting_gets_a_suggestion(self):
        with self.assertRaises(Refused) as refused:
            why.wanted("tensor=8,pipline=2", candidates.AXES, [])
        self.assertIn("did you mean `pipeline`? settings are ", refused.exception.help)


class Variants(unittest.TestCase):
    def test_ring_attention_is_for_a_context_axis(self):
        flat, divided = Candidate((("fsdp", 8),), (), 1, 1, "full"), Candidate((("fsdp", 2), ("context", 4)), (), 1, 1, "full")
        self.assertEqual([each.flags for each in costs.variants(flat, costs.FLAGS, True)], ["pipelined"])
        found = costs.variants(divided, costs.FLAGS, True)
        self.assertEqual([(each.flags, each.ring) for each in found], [("pipelined", False), ("", True), ("pipelined", True)])
        self.assertEqual([each.settings().get("context_parallel_strategy") for each in found], [None, "ring", "ring"])
        self.assertEqual({costs.plain(each) for each in found}, {divided})
        self.assertEqual(costs.variants(divided, (), False), [])


class Floors(unittest.TestCase):
    FIGURES = {"forward_s": 5.0, "backward_s": 11.0, "layers_s": 12.0, "layers_forward_s": 4.0, "exposed_communication_s": 3.0}

    def time(self, candidate, level=floors.FINE, **how):
        problem = types.SimpleNamespace(facts=types.SimpleNamespace(cycle=1, dense=0, alike=lambda stages: 8 // stages), keys={"scan_layers": True})
        return floors.time(problem, candidate, level, self.FIGURES, **how)

    def asked(self, level, *sizes):
        """The program's keys, and whether one device's goes through XLA."""
        facts = types.SimpleNamespace(layers=8, cycle=1, dense=0)
        net = network.Network("H100_80GB 8", 8, (network.Level(8, 1.0, 0.0),))
        problem = costs.Problem({"scan_layers": True, "weight_dtype": "float32", "first_num_dense_layers": 0}, facts, net, {}, {}, {}, 1.0, 1.0, 1.0, 1.0, 0.0)
        found = floors.request(problem, Candidate(sizes, (), 1, 2, "full"), level)
        return dict(found.keys), found.through_xla

    def test_two_layers_stand_for_all(self):
        """Eight layers; of logits that wait for gathers nothing is left. While 1F1B fills and drains, the other stage passes forward and backward."""
        self.assertEqual(self.time(Candidate((("fsdp", 8),), (), 1, 2, "full")), 2 * (4 * 12 + 1))
        self.assertEqual(self.time(Candidate((("pipeline", 2),), (), 1, 3, "full", schedule="1f1b")), 3 * (2 * 12 + 4) + 2 * 4 + 2 * 8)

    def test_what_layers_exchange_may_be_hidden(self):
        self.assertEqual(self.time(Candidate((("fsdp", 8),), (), 1, 2, "full"), hidden=True), 2 * (4 * 9 + 1))
        self.assertEqual(self.time(Candidate((("pipeline", 2),), (), 1, 3, "full", schedule="1f1b"), hidden=True), 3 * (2 * 9 + 1) + 2 * 1 + 2 * 5)

    def test_the_coarse_program_has_no_work_that_fsdp_divides(self):
        """A loop cuts weights out of stacks, of which each of eight devices has an eighth. Layers without a loop hide what they exchange."""
        keys, _ = self.asked(floors.COARSE, ("fsdp", 8))
        self.assertEqual((keys["scan_layers"], keys["weight_dtype"], keys["logits_dot_in_fp32"], keys["ici_fsdp_parallelism"]), (False, "bfloat16", False, 1))
        keys, _ = self.asked(floors.FINE, ("fsdp", 8))
        self.assertEqual((keys["scan_layers"], keys["weight_dtype"], keys["ici_fsdp_parallelism"]), (True, "float32", 8))
        self.assertEqual(self.time(Candidate((("fsdp", 8),), (), 1, 2, "full"), floors.COARSE), 2 * (4 * 9 + 1))
        self.assertEqual(self.time(Candidate((("fsdp", 8),), (), 1, 2, "full"), floors.COARSE, guess=True), 2 * (4 * 12 + 1))

    def test_one_device_stands_for_several_as_xla_leaves_its_program(self):
        """A stage on one device is estimated as JAX lowers it."""
        for level in floors.LEVELS:
            self.assertEqual([self.asked(level, *sizes)[1] for sizes in ((("fsdp", 8),), (("data", 8),), (("pipeline", 8),))], [True, True, False])
        one, other = (floors.kind(Candidate((("pipeline", 4), (axis, 2)), (), 1, 2, "full"), floors.COARSE) for axis in ("data", "fsdp"))
        self.assertNotEqual(one, other)

    def test_zero_2_divides_gradients_that_the_fine_program_has(self):
        self.assertEqual([self.held("data", zero=zero) for zero in range(3)], [[True, True], [True, True], [True, False]])

    def test_fsdp_divides_the_quantising_that_the_coarse_program_has(self):
        self.assertEqual([self.held(axis, quantization="fp8") for axis in ("fsdp", "data")], [[False, True], [True, True]])

    @staticmethod
    def held(axis, zero=0, quantization=""):
        problem = types.SimpleNamespace(keys={"quantization": quantization})
        return [floors.holds(problem, Candidate(((axis, 8),), (), 1, 2, "full", zero), level) for level in floors.LEVELS]


class Wires(unittest.TestCase):
    def test_what_a_device_takes_in(self):
        """16 devices of an axis, of which 4 share a node: 15/16 of all, and each node brings 3/4 of it in by 4 devices."""
        wire = bounds.Wire(Candidate((("fsdp", 16), ("tensor", 2)), (("fsdp", 4),), 1, 1, "full"))
        wire.add(("fsdp",), 1600.0)
        self.assertEqual((wire.all, wire.outside), (1500.0, 300.0))
        wire.add(("tensor",), 100.0)
        self.assertEqual((wire.all, wire.outside), (1550.0, 300.0))


class Devices(unittest.TestCase):
    def test_a_tpu_is_one_by_its_family(self):
        with tempfile.TemporaryDirectory() as folder:
            own = pathlib.Path(folder) / "mine.json"
            own.write_text(json.dumps({"name": "mine", "family": "tpu"}))
            self.assertEqual([options.is_tpu(str(device)) for device in (own, "TPUv5p", "H100_80GB")], [True, True, False])


class Stages(unittest.TestCase):
    def facts(self, layers, cycle=1, dense=0):
        return types.SimpleNamespace(layers=layers, cycle=cycle, dense=dense, sequence=1, leaves=(), indivisible=lambda sizes: None)

    def test_longer_ones_lie_between_the_ends(self):
        for layers, count, expected in ((10, 4, [2, 3, 3, 2]), (11, 4, [3, 3, 3, 2]), (5, 4, [1, 2, 1, 1]), (8, 4, [2] * 4), (3, 2, [2, 1])):
            self.assertEqual(stages.stage_layers(self.facts(layers), count), expected)
        self.assertEqual(stages.stage_layers(self.facts(10, 2), 4), [2, 4, 2, 2])

    def test_each_stage_has_its_program(self):
        parts = [stages.part_of(self.facts(10), at, 4) for at in range(4)]
        self.assertEqual(parts, ["first", "longer", "longer", "last"])
        self.assertEqual([stages.layers_of(self.facts(10), part, 4) for part in (*parts, "middle", "kept", "frozen")], [2, 3, 3, 2, 2, 3, 2])

    def test_they_are_asked_for(self):
        net = dict(devices=8, node=8, batch=64, axes=("pipeline", "data"), remats=("full",), schedules=(("1f1b", 1), ("zb-h1", 1), ("interleaved", 2)))
        for layers, cycle, dense, found in ((10, 1, 0, {"1f1b"}), (6, 1, 0, set()), (10, 3, 0, set()), (10, 1, 2, set())):
            facts = self.facts(layers, cycle, dense)
            for uneven in (False, True):
                every, _ = candidates.candidates(candidates.Space(**net, uneven=uneven), facts)
                self.assertEqual({each.schedule for each in every if each.stages == 8}, found if uneven else set(), (layers, cycle, dense, uneven))


class Pipelines(unittest.TestCase):
    FIGURES = {"forward_s": 1.0, "backward_s": 2.0, "step_time_s": 3.5, "step_time_sigma_s": 0.0, "exposed_communication_s": 0.0, "energy_j": 0.0, "peak_memory_bytes": 1,
               "output_bytes": 1}

    def step(self, microbatches, bandwidth):
        facts = types.SimpleNamespace(layers=2, cycle=1, sequence=1, width=1, accumulated=lambda sizes, count: 10.0)
        net = network.Network("auto", 2, (network.Level(2, float("inf"), 0.0, "Switch"),))
        problem = costs.Problem({}, facts, net, {}, {}, {}, 1.0, 1.0, bandwidth, 1.0, 0.0)
        candidate = Candidate((("pipeline", 2),), (), 1, microbatches, "full", 0, "1f1b")
        return costs.figures(problem, candidate, dict.fromkeys(("first", "last", "kept"), self.FIGURES))["step_time_s"]

    def test_each_of_several_microbatches_adds_its_gradients_to_sums(self):
        """Backward passes of (m + p - 1) microbatches in turn; the update of half a second is once a step."""
        self.assertAlmostEqual(self.step(4, float("inf")), 5 * 3 + 0.5)
        self.assertAlmostEqual(self.step(4, 100.0), 5 * (3 + 0.1) + 0.5)
        self.assertAlmostEqual(self.step(1, 100.0), 2 * 3 + 0.5)


class Commands(unittest.TestCase):
    def test_they_repeat_what_follows_the_dashes(self):
        keys = {"first_num_dense_layers": 0}
        problem = costs.Problem(keys, None, network.Network("auto", 4, ()), {}, {}, {}, 0.0, 1.0, 1.0, 1.0, 0.0)
        candidate = Candidate((("fsdp", 4),), (), 1, 1, "full")
        arguments = types.SimpleNamespace(device="H100_80GB", run_options=["--flash-attention", "--set", "clock=1.5 GHz"])
        text = commands.text_of(problem, arguments, {"name": str(candidate), "candidate": candidate})
        self.assertIn("--flash-attention --set 'clock=1.5 GHz'", text)


class Megatron(unittest.TestCase):
    def test_no_kernel_is_in_a_cuda_graph(self):
        facts = types.SimpleNamespace(layers=2, cycle=1, dense=0)
        problem = costs.Problem({"first_num_dense_layers": 0}, facts, network.Network("auto", 2, ()), {}, {}, {}, 0.0, 1.0, 1.0, 1.0, 0.0)
        whole = Candidate((("data", 2),), (), 1, 2, "full")
        staged = Candidate((("pipeline", 2),), (), 1, 2, "full", 0, "1f1b")
        for candidate, parts in ((whole, {"whole", "two", "three"}), (staged, {"first", "last", "kept"})):
            found = megatron.requests(problem, candidate)
            self.assertEqual(set(found), parts)
            for request in found.values():
                self.assertEqual(request.flags, ("--xla_gpu_enable_command_buffer=",))
                self.assertIn("--xla-flag=--xla_gpu_enable_command_buffer=", request.asked("", "H100_80GB")["run"])


class Answers(unittest.TestCase):
    ROWS = [{"name": name, "step_time_s": step, "sigma_s": 0.1, "peak_memory_bytes": memory} for name, step, memory in
            (("a", 1.0, 50), ("b", 1.05, 60), ("c", 1.2, 40), ("d", 1.2, 40), ("e", 2.0, 45), ("f", 3.0, 10))]

    def test_the_front_has_what_nothing_beats_in_both(self):
        self.assertEqual([row["name"] for row in answer.front(self.ROWS)], ["a", "c", "f"])

    def test_ties_are_within_a_standard_deviation(self):
        self.assertEqual([answer.tied(row, self.ROWS[0]) for row in self.ROWS], [True, True, False, False, False, False])

    def miss(self, reasons):
        """Of configurations that need so much at least, of 80 bytes, and were left out for such a reason."""
        problem = types.SimpleNamespace(capacity=80.0)
        found = types.SimpleNamespace(rows=[], failed=[], problem=problem, reasons={name: reason for name, (_, reason) in reasons.items()})
        with mock.patch.object(bounds, "memory", lambda problem, name: reasons[name][0]):
            return answer.nearest_miss(found)

    def test_the_nearest_miss_is_one_that_memory_rules_out(self):
        small, large = (12.0, search.UNDIVIDED), (100.0, "weights and optimiser state do not fit")
        message, help_text = self.miss({"small": small, "large": large, "larger": (200.0, large[1])})
        self.assertTrue(message.endswith(" or more: large"), message)
        self.assertIn("take 1.25 times the memory", help_text)
        message, help_text = self.miss({"small": small, "other": small, "waits": (12.0, search.NOT_VISITED)})
        self.assertEqual(message, f"no configuration was estimated; of 2 of 3: {search.UNDIVIDED}")
        self.assertNotIn("memory", help_text)

    def test_meshes_in_jax(self):
        candidate = Candidate((("pipeline", 4), ("fsdp", 16), ("tensor", 8)), (("fsdp", 16),), 1, 8, "full", 0, "1f1b")
        self.assertEqual(commands.mesh(candidate, 8), {"axis_names": ["pipeline", "fsdp", "tensor"], "shape": [4, 16, 8], "between_nodes": [4, 16, 1],
                                                    "within_nodes": [1, 1, 8]})

    def test_small_stages_share_a_node(self):
        found = commands.mesh(Candidate((("pipeline", 8), ("data", 2)), (), 1, 8, "full", 0, "1f1b"), 8)
        self.assertEqual((found["between_nodes"], found["within_nodes"]), ([2, 1], [4, 2]))


if __name__ == "__main__":
    unittest.main()
