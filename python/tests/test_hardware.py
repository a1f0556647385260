"""Devices and systems made in Python."""
import pathlib
import pickle
import tempfile
import unittest

import hespas
from common import EXAMPLE, MATMUL, command, command_json


class Devices(unittest.TestCase):
    def test_presets_are_the_command_lines(self):
        self.assertIn("H100_80GB", hespas.devices())
        listed = [row["name"] for row in command_json("devices")]
        self.assertEqual(sorted(listed), sorted(hespas.devices()))
        self.assertEqual(hespas.Device("a100_sxm_40gb").name, "A100_SXM_40GB")

    def test_figures_are_in_base_units(self):
        device = hespas.Device("A100_SXM_40GB")
        self.assertEqual(device.memory_bandwidth, 1555e9)
        self.assertEqual(device.per_datatype_flops["bf16"], 312e12)
        self.assertEqual(device.clock_hz, 1.41e9)
        self.assertIn("NVIDIA", device.source_of("memory_bandwidth"))

    def test_a_device_of_two_figures(self):
        device = hespas.Device(name="mine", peak_flops="100 TFLOP/s", memory_bandwidth="2 TB/s")
        self.assertEqual((device.peak_flops, device.memory_bandwidth), (100e12, 2e12))
        self.assertIsNone(device.memory_capacity)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.json"
            device.save(path)
            self.assertEqual(hespas.estimate(EXAMPLE, device).ops, command_json("estimate", EXAMPLE, "--device", path))
            self.assertEqual(hespas.Device(path).to_dict(), device.to_dict())

    def test_a_changed_preset_changes_the_answer(self):
        faster = hespas.Device("A100_SXM_40GB", memory_bandwidth="3 TB/s")
        self.assertEqual(faster.name, "A100_SXM_40GB (changed)")
        before, after = (hespas.estimate(EXAMPLE, device, estimator="roofline").time_ps for device in ("A100_SXM_40GB", faster))
        self.assertLess(after, before)
        self.assertEqual(faster.replace(memory_bandwidth="1555 GB/s", name="A100_SXM_40GB"), hespas.Device("A100_SXM_40GB"))

    def test_copies_and_dicts(self):
        device = hespas.Device("H100_80GB")
        self.assertEqual(pickle.loads(pickle.dumps(device)), device)
        described = {"name": "d", "peak_flops": 1e12, "memory_bandwidth": 1e11}
        self.assertEqual(hespas.estimate(MATMUL, described).device, "d")

    def test_wrong_fields_are_named(self):
        for fields, word in (({"peak_flops": "1 TFLOP/s"}, "memory_bandwidth"), ({"peak_flops": -1, "memory_bandwidth": 1}, "peak_flops"),
                             ({"peak_flops": "1 GHz", "memory_bandwidth": 1}, "GHz")):
            with self.subTest(fields), self.assertRaises(hespas.InputError) as caught:
                hespas.Device(name="x", **fields)
            self.assertIn(word, str(caught.exception))


class Systems(unittest.TestCase):
    def test_a_preset(self):
        system = hespas.System("A100_SXM_40GB_4GPU_32")
        self.assertEqual((system.npus, system.npus_count, system.topology), (128, [4, 32], ["FullyConnected", "Switch"]))
        self.assertIn("A100_SXM_40GB_4GPU", hespas.systems())

    def test_made_of_fields_like_the_preset(self):
        made = hespas.System(name="A100_SXM_40GB_4GPU", topology="FullyConnected", npus=4, bandwidth=f"{100 * 2**30} B/s", latency="1 us",
                             system={"local-mem-bw": 1555.2})
        theirs = hespas.run(EXAMPLE, "A100_SXM_40GB", "A100_SXM_40GB_4GPU").to_dict()
        ours = hespas.run(EXAMPLE, "A100_SXM_40GB", made).to_dict()
        self.assertEqual(ours["communication_time_ps"], theirs["communication_time_ps"])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "made.json"
            made.save(path)
            done = command("check", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(hespas.System(path).npus, 4)

    def test_a_faster_network_is_faster(self):
        def time(bandwidth):
            system = hespas.System(topology=["Ring", "Switch"], npus=[2, 2], bandwidth=[bandwidth, "10 GB/s"], latency=["1 us", "5 us"])
            return hespas.run(EXAMPLE, "A100_SXM_40GB", system).communication_time_ps

        self.assertLess(time("200 GB/s"), time("20 GB/s"))

    def test_wrong_fields_are_named(self):
        with self.assertRaises(hespas.errors.E0955):
            hespas.System(topology=["Ring"], npus=[4], latency=["1 us"])
        with self.assertRaises(hespas.InputError):
            hespas.System(topology=["Moebius"], npus=[4], bandwidth=["1 GB/s"], latency=["1 us"])
        with self.assertRaises(hespas.errors.E0005):
            hespas.System(topology=["Ring"], npus=[4], bandwidth=["fast"], latency=["1 us"])
        with self.assertRaises(hespas.InputError):
            hespas.System(topology=["Ring"], npus=[4, 2], bandwidth=["1 GB/s"], latency=["1 us"])


if __name__ == "__main__":
    unittest.main()
