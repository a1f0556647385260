"""timeline.pftrace read back with the classes of PyPI `perfetto`: every slice, flow, track and counter, and sums equal to result.json."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"


def in_locked_environment():
    """Starts this file again with the Python that has `perfetto`."""
    if os.environ.get("HESPAS_IN_ENVIRONMENT"):
        return
    python = subprocess.run([ROOT / "scripts/python_env.sh", "perfetto"], check=True, capture_output=True, text=True).stdout.strip()
    os.execve(python, [python, *sys.argv], dict(os.environ, HESPAS_IN_ENVIRONMENT="1"))


in_locked_environment()
from perfetto.protos.perfetto.trace import perfetto_trace_pb2  # noqa: E402

EVENT = perfetto_trace_pb2.TrackEvent
PROGRAMS = {
    "llama": [ROOT / "examples/llama3-100m-4dev.mlir.gz", "--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU"],
    "resnet": [ROOT / "tests/data/fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz", "--device", "A100_SXM_40GB", "--system",
               "A100_SXM_40GB_4GPU", "--estimator", "roofline", "--optimise", "none"],
}


class Trace:
    """The packets with interned names resolved."""

    def __init__(self, path):
        self.packets = perfetto_trace_pb2.Trace.FromString(path.read_bytes()).packet
        self.tracks = {p.track_descriptor.uuid: p.track_descriptor for p in self.packets if p.HasField("track_descriptor")}
        self.names = {}
        self.keys = {}
        self.texts = {}
        self.begins = []
        self.ends = []
        for packet in self.packets:
            data = packet.interned_data
            self.names.update((n.iid, n.name) for n in data.event_names)
            self.keys.update((n.iid, n.name) for n in data.debug_annotation_names)
            self.texts.update((n.iid, n.str.decode()) for n in data.debug_annotation_string_values)
            if not packet.HasField("track_event"):
                continue
            event = packet.track_event
            if event.type == EVENT.TYPE_SLICE_BEGIN:
                self.begins.append((packet.timestamp, event, self.names[event.name_iid], self.arguments(event)))
            elif event.type == EVENT.TYPE_SLICE_END:
                self.ends.append((packet.timestamp, event))

    def arguments(self, event):
        return {self.keys[a.name_iid]: a.int_value if a.HasField("int_value") else self.texts[a.string_value_iid]
                for a in event.debug_annotations}


class TimelineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.runs = {}
        for name, words in PROGRAMS.items():
            subprocess.run([HESPAS, "run", *map(str, words), "--no-what-if", "--output", cls.folder / name], check=True, capture_output=True)
            cls.runs[name] = (Trace(cls.folder / name / "timeline.pftrace"), json.loads((cls.folder / name / "result.json").read_text()))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def each(self):
        for name, (trace, result) in self.runs.items():
            with self.subTest(name):
                yield trace, result

    def test_sequence_starts_with_cleared_state_and_all_packets_belong_to_it(self):
        for trace, _ in self.each():
            self.assertEqual({p.trusted_packet_sequence_id for p in trace.packets}, {1})
            self.assertEqual(trace.packets[0].sequence_flags, perfetto_trace_pb2.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
            for packet in trace.packets:
                if packet.track_event.name_iid:
                    self.assertEqual(packet.sequence_flags, perfetto_trace_pb2.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE)

    def test_every_track_has_a_parent_that_is_a_process(self):
        for trace, _ in self.each():
            for track in trace.tracks.values():
                if not track.HasField("process"):
                    self.assertTrue(trace.tracks[track.parent_uuid].HasField("process"))
            self.assertLessEqual({e.track_uuid for _, e, _, _ in trace.begins}, set(trace.tracks))

    def test_slices_are_matched_monotonic_and_do_not_nest(self):
        for trace, _ in self.each():
            depth = collections.Counter()
            last = 0
            for packet in trace.packets:
                if not packet.HasField("track_event"):
                    continue
                self.assertGreaterEqual(packet.timestamp, last)
                last = packet.timestamp
                step = {EVENT.TYPE_SLICE_BEGIN: 1, EVENT.TYPE_SLICE_END: -1}.get(packet.track_event.type, 0)
                depth[packet.track_event.track_uuid] += step
                self.assertIn(depth[packet.track_event.track_uuid], (0, 1))
            self.assertEqual(set(depth.values()), {0})

    def test_flows_have_both_ends_in_order(self):
        for trace, _ in self.each():
            starts = {flow: at for at, event, _, _ in trace.begins for flow in event.flow_ids}
            ends = {flow: at for at, event, _, _ in trace.begins for flow in event.terminating_flow_ids}
            self.assertEqual(set(starts), set(ends))
            self.assertTrue(starts)
            for flow, at in starts.items():
                self.assertLessEqual(at, ends[flow])

    def test_sums_equal_the_result(self):
        for trace, result in self.each():
            sums = collections.Counter()
            ends = {}
            for _, event, _, arguments in trace.begins:
                name = trace.tracks[event.track_uuid].name
                process = trace.tracks[event.track_uuid].parent_uuid
                sums[process, name == "compute"] += arguments["duration_ps"]
                ends[process] = max(ends.get(process, 0), arguments["start_ps"] + arguments["duration_ps"])
            for process, end in ends.items():
                self.assertEqual(sums[process, True], result["compute_time_ps"])
                # Both programs run one communication at a time.
                self.assertEqual(sums[process, False], result["communication_time_ps"])
                self.assertEqual(end, result["step_time_ps"])

    def test_slices_carry_what_the_block_is(self):
        for trace, _ in self.each():
            for _, event, name, arguments in trace.begins:
                self.assertTrue(name)
                self.assertLessEqual({"duration_ps", "start_ps", "block", "bytes", "bound"}, set(arguments))
            self.assertTrue(any(a.get("flops", 0) > 0 for _, _, _, a in trace.begins))
            self.assertTrue(any(":" in a.get("location", "") for _, _, _, a in trace.begins))

    def counter(self, trace, name):
        """Of one process: time in ns and value."""
        process = min(t.parent_uuid for t in trace.tracks.values() if t.name == name)
        track = next(u for u, t in trace.tracks.items() if t.name == name and t.parent_uuid == process)
        return [(p.timestamp, p.track_event.double_counter_value if p.track_event.HasField("double_counter_value") else p.track_event.counter_value)
                for p in trace.packets if p.track_event.type == EVENT.TYPE_COUNTER and p.track_event.track_uuid == track]

    def test_memory_counter_is_that_of_the_result(self):
        for trace, result in self.each():
            self.assertIsNotNone(result["peak_memory_bytes"])
            self.assertEqual(max(value for _, value in self.counter(trace, "memory")), result["peak_memory_bytes"])

    def test_power_counter_adds_up_to_the_energy(self):
        for trace, result in self.each():
            points = self.counter(trace, "power")
            joules = sum(watts * (until - at) * 1e-9 for (at, watts), (until, _) in zip(points, points[1:]))
            self.assertEqual((points[0][0], points[-1][0]), (0, result["step_time_ps"] // 1000))
            self.assertAlmostEqual(joules / result["energy_j"], 1, delta=0.01)
            idle = points[-1][1]
            self.assertTrue(all(watts >= idle for _, watts in points))
            self.assertLessEqual(max(watts for _, watts in points), 400 + 1e-6)  # its TDP

    def test_chrome_json_has_the_same_slices(self):
        for name, (trace, result) in self.runs.items():
            done = subprocess.run([HESPAS, "run", *map(str, PROGRAMS[name]), "--no-what-if", "--format", "chrome-json"], check=True, capture_output=True)
            events = json.loads(done.stdout)["traceEvents"]
            slices = [e for e in events if e["ph"] == "X"]
            self.assertEqual(sorted(e["args"]["duration_ps"] for e in slices), sorted(a["duration_ps"] for _, _, _, a in trace.begins))
            for category, key in (("compute", "compute_time_ps"), ("communication", "communication_time_ps")):
                self.assertEqual(sum(e["args"]["duration_ps"] for e in slices if e["cat"] == category), result[key])
            for event in slices:
                self.assertAlmostEqual(event["dur"] * 1e6, event["args"]["duration_ps"], delta=0.5)
            threads = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
            self.assertLessEqual({(e["pid"], e["tid"]) for e in slices}, threads)
            self.assertEqual(sorted(e["id"] for e in events if e["ph"] == "s"), sorted(e["id"] for e in events if e["ph"] == "f"))
            counters = collections.Counter(e["name"] for e in events if e["ph"] == "C")
            self.assertEqual(set(counters), {"memory", "power"})


if os.environ.get("TRACE_PROCESSOR"):  # its binary comes from no package registry
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    class TraceProcessorTest(unittest.TestCase):
        SUM = """select track.name = 'compute' as compute, count(*) as slices, sum(args.int_value) as total
                 from slice join args using (arg_set_id) join track on slice.track_id = track.id
                 where args.key = 'debug.duration_ps' group by 1"""

        def test_its_sql_gives_the_same_sums(self):
            for name, words in PROGRAMS.items():
                with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                    subprocess.run([HESPAS, "run", *map(str, words), "--no-what-if", "--output", folder], check=True, capture_output=True)
                    path = pathlib.Path(folder, "timeline.pftrace")
                    wanted = collections.Counter()
                    trace = Trace(path)
                    for _, event, _, arguments in trace.begins:
                        wanted[int(trace.tracks[event.track_uuid].name == "compute")] += arguments["duration_ps"]
                    processor = TraceProcessor(trace=str(path), config=TraceProcessorConfig(bin_path=os.environ["TRACE_PROCESSOR"]))
                    self.assertEqual({row.compute: row.total for row in processor.query(self.SUM)}, dict(wanted))
                    processor.close()


if __name__ == "__main__":
    unittest.main()
