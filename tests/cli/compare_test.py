"""`hespas compare`: what matches, that differences add up, exit statuses, and predicted against profiled steps."""
import csv
import gzip
import json
import pathlib
import shutil
import tempfile
import unittest

from command import LLAMA, ROOT, result, run

PROFILES = ROOT / "tests/data/profiles"
NODE = ["--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU"]
CHAIN = """
  func.func @main(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {{
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    {more}
    return %2 : tensor<512x512xf32>
  }}
"""


def chain(op):
    return CHAIN.format(more=f"%2 = stablehlo.{op} %1 : tensor<512x512xf32>")


class CompareTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        for name in ("tanh", "sine"):
            (cls.folder / f"{name}.mlir").write_text(chain(name))
        for device in ("A100_SXM_40GB", "H100_80GB"):
            done = run("run", LLAMA, "--device", device, "--no-report", "--output", cls.folder / device)
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def adds_up(self, answer):
        """Blocks, groups, kinds and layers of every side add up to its step time, and so do the differences."""
        for i, side in enumerate(answer["sides"]):
            for rows in ("blocks", "groups", "kinds", *(["layers"] if answer["layers"] else [])):
                self.assertEqual(sum(row["time_ps"][i] for row in answer[rows]), side["step_time_ps"])
                self.assertEqual(sum(row["difference_ps"][i] for row in answer[rows]), side["difference_ps"])
            self.assertEqual(side["difference_ps"], side["step_time_ps"] - answer["sides"][0]["step_time_ps"])
        for rows in ("blocks", "groups", "kinds", "layers"):
            spreads = [max(row["time_ps"]) - min(row["time_ps"]) for row in answer[rows]]
            self.assertEqual(spreads, sorted(spreads, reverse=True))

    def test_results_of_runs_list_blocks_that_add_up_to_the_step(self):
        for device in ("A100_SXM_40GB", "H100_80GB"):
            answer = json.loads((self.folder / device / "result.json").read_text())
            times = answer["block_times"]
            self.assertEqual(len(times["time_ps"]), answer["blocks"]["total"])
            self.assertEqual(sum(times["time_ps"]) + times["idle_ps"], answer["step_time_ps"])
            self.assertEqual(times["idle_ps"], answer["idle_ps"])
            hashes = [s["hash"] for s in times["structures"]]
            self.assertEqual(len(set(hashes)), len(hashes))

    def test_files_and_devices_give_the_same_comparison(self):
        files = result("compare", self.folder / "A100_SXM_40GB/result.json", self.folder / "H100_80GB/result.json")
        devices = result("compare", LLAMA, "--device", "A100_SXM_40GB,H100_80GB")
        self.adds_up(files)
        self.adds_up(devices)
        self.assertEqual(devices["dimension"], "device")
        self.assertEqual([row["time_ps"] for row in files["blocks"]], [row["time_ps"] for row in devices["blocks"]])
        # The devices fuse differently, but what kernels write tells most of them.
        self.assertTrue(any(row["match"] in ("ops", "results") for row in devices["blocks"]))
        for side, answer in enumerate(devices["sides"]):
            alone = sum(row["time_ps"][side] for row in devices["unmatched"])
            self.assertLess(alone, 0.1 * answer["step_time_ps"], answer["label"])
        for side, name in zip(devices["sides"], ("A100_SXM_40GB", "H100_80GB")):
            self.assertEqual(side["step_time_ps"], json.loads((self.folder / name / "result.json").read_text())["step_time_ps"])

    def test_kernels_of_a_partitioned_program_match_those_of_xla(self):
        for name in ("resnet50_train_step_4_devices_1024_batch", "llama3-500m-4dev", "llama3-1b-4dev"):
            with self.subTest(name):
                programs = [ROOT / "data/workloads" / f"{name}{twin}.mlir.zst" for twin in ("", "-opt")]
                answer = result("compare", *programs, "--device", "A100_SXM_40GB", "--quiet")
                self.adds_up(answer)
                for side, each in enumerate(answer["sides"]):
                    alone = sum(row["time_ps"][side] for row in answer["unmatched"])
                    self.assertLess(alone, 0.1 * each["step_time_ps"], each["label"])

    def test_kernels_of_devices_that_fuse_differently_match_by_their_operations(self):
        for program in (LLAMA, ROOT / "data/workloads/bert-large-8dev.mlir.zst", ROOT / "data/workloads/resnet50_train_step_4_devices_1024_batch.mlir.zst"):
            with self.subTest(program.name):
                answer = result("compare", program, "--device", "H100_80GB,TPUv5p", "--quiet")
                self.adds_up(answer)
                for side, each in enumerate(answer["sides"]):
                    alone = sum(row["time_ps"][side] for row in answer["unmatched"])
                    self.assertLess(alone, 0.1 * each["step_time_ps"], each["label"])
                self.assertTrue({"ops", "parts"} <= {row["match"] for row in answer["blocks"]})
                for row in answer["blocks"]:
                    if row["match"] == "ops":
                        self.assertEqual(row["count"], [1, 1])
                    if row["match"] == "parts":
                        self.assertGreater(max(row["count"]), 1)

    def test_each_dimension_is_what_run_answers(self):
        program = self.folder / "tanh.mlir"
        for option, single, values in (("--estimators", "--estimator", ("roofline", "calibrated", "genz")),
                                       ("--optimise", "--optimise", ("none", "auto"))):
            with self.subTest(option):
                answer = result("compare", LLAMA, *NODE, option, ",".join(values))
                self.adds_up(answer)
                for side, value in zip(answer["sides"], values):
                    self.assertEqual(side["step_time_ps"], result("run", LLAMA, *NODE, single, value)["step_time_ps"])
        answer = result("compare", LLAMA, "--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU,H100_80GB_4GPU")
        self.adds_up(answer)
        self.assertEqual(answer["dimension"], "system")
        self.assertNotEqual(answer["sides"][1]["difference_ps"], 0)
        answer = result("compare", program, self.folder / "sine.mlir", "--optimise", "none", "--network-backend", "none")
        self.adds_up(answer)
        self.assertEqual(answer["dimension"], "program")

    def test_blocks_match_by_structure_then_order(self):
        answer = result("compare", self.folder / "tanh.mlir", self.folder / "sine.mlir", "--optimise", "none",
                        "--network-backend", "none", "--device", "A100_SXM_40GB")
        matched = [row for row in answer["blocks"] if row["matched"]]
        self.assertEqual({tuple(row["block"]) for row in matched if row["op"] == "stablehlo.dot_general"}, {(0, 0), (1, 1)})
        self.assertEqual({(row["op"], tuple(row["block"])) for row in answer["unmatched"]},
                         {("stablehlo.tanh", (2, None)), ("stablehlo.sine", (None, 2))})

    def test_layers_and_kinds_add_up(self):
        answer = result("compare", ROOT / "tests/data/hlo/mlp_dp.after.hlo.txt", "--device", "A100_SXM_40GB,H100_80GB")
        self.adds_up(answer)
        self.assertIn("log_softmax (backward) reduction", [row["op"] for row in answer["layers"]])

    def test_estimators_show_bounds_and_ratios(self):
        answer = result("compare", self.folder / "tanh.mlir", "--device", "A100_SXM_40GB", "--estimators", "roofline,calibrated",
                        "--network-backend", "none", "--optimise", "none")
        for row in answer["blocks"]:
            self.assertTrue(all(row["bound"]))
            self.assertAlmostEqual(row["ratio"][1], row["time_ps"][1] / row["time_ps"][0])

    def test_a_dump_of_xla_is_set_beside_our_kernels(self):
        dump = self.folder / "dump"
        dump.mkdir()
        for source, name in (("mlp_dp.after.hlo.txt", "module_0001.jit_step.sm_8.0_gpu_after_optimizations.txt"),
                             ("accepted.hlo.txt", "module_0001.jit_step.sm_8.0_gpu_after_optimizations-buffer-assignment.txt")):
            shutil.copy(ROOT / "tests/data/hlo" / source, dump / name)
        program = ROOT / "tests/data/hlo/mlp_dp.before.hlo.txt"
        answer = result("compare", program, "--xla-dump", dump, "--device", "A100_SXM_40GB")
        self.adds_up(answer)
        self.assertEqual(answer["dimension"], "compiler")
        self.assertEqual([side["label"] for side in answer["sides"]], ["Hespas", "XLA"])
        self.assertEqual(answer["sides"][1]["step_time_ps"], result("run", ROOT / "tests/data/hlo/mlp_dp.after.hlo.txt", "--device", "A100_SXM_40GB")["step_time_ps"])
        for words in ([program, program, "--xla-dump", dump], [program, "--xla-dump", dump, "--device", "A100_SXM_40GB,H100_80GB"]):
            self.assertEqual(run("compare", *words).returncode, 2)
        empty = run("compare", program, "--xla-dump", self.folder)
        self.assertIn("E0995", empty.stderr)

    def test_exactly_one_thing_varies(self):
        a100 = self.folder / "A100_SXM_40GB/result.json"
        program = self.folder / "tanh.mlir"
        for words in ([program], [program, "--device", "A100_SXM_40GB"], [a100], [a100, program],
                      [program, "--device", "A100_SXM_40GB,H100_80GB", "--estimators", "roofline,genz"],
                      [program, self.folder / "sine.mlir", "--optimise", "none,auto"],
                      [a100, a100, "--device", "A100_SXM_40GB,H100_80GB"], [program, "--optimise", "none,some"],
                      [a100, "--measured", PROFILES / "jax_cpu.trace.json.gz", "--device", "A100_SXM_40GB"]):
            with self.subTest(words):
                done = run("compare", *words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_fail_over(self):
        files = [self.folder / name / "result.json" for name in ("A100_SXM_40GB", "H100_80GB")]
        difference = result("compare", *files)["largest_difference_percent"]
        for words, status in ((["--fail-over", difference - 0.01], 6), (["--fail-over", difference + 0.01], 0), ([], 0)):
            with self.subTest(words):
                done = run("compare", *files, *words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual("E0993" in done.stderr, status == 6)
                self.assertIn("step time", done.stdout)
        self.assertEqual(run("compare", files[0], files[0], "--fail-over", "0").returncode, 0)

    def test_damaged_results_are_errors_that_help(self):
        good = json.loads((self.folder / "A100_SXM_40GB/result.json").read_text())
        def broken(change):
            copy = json.loads(json.dumps(good))
            change(copy)
            return json.dumps(copy)
        texts = {"E0801": "{ not json", "E0992": "{}", "E0990": broken(lambda r: r["block_times"]["time_ps"].append(1))}
        more = [broken(lambda r: r.pop("block_times")), broken(lambda r: r.update(step_time_ps=1)), broken(lambda r: r.update(device=3))]
        for code, text in [*texts.items(), *(("E0992", text) for text in more)]:
            with self.subTest(code):
                path = self.folder / "broken.json"
                path.write_text(text)
                done = run("compare", path, self.folder / "H100_80GB/result.json")
                self.assertEqual(done.returncode, 1)
                self.assertIn(code, done.stderr)
        self.assertEqual(run("compare", self.folder / "absent.json", self.folder / "none.json").returncode, 1)

    def test_output_forms(self):
        files = [self.folder / name / "result.json" for name in ("A100_SXM_40GB", "H100_80GB")]
        text = run("compare", *files).stdout
        self.assertLessEqual(len(text.splitlines()), 24)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(text.splitlines()[1], "calibrated estimator, calibrated network model, --optimise auto")
        for line in (r"step time \+-  +[\d.]+ ms +[\d.]+ ms", r"MFU / HFU  +[\d.]+ % / [\d.]+ % +[\d.]+ % / [\d.]+ %", r"peak memory  +.*GB, fits +.*GB, fits"):
            self.assertRegex(text, line)
        answer = result("compare", *files, "--output", self.folder / "out")
        self.assertEqual(json.loads((self.folder / "out/compare.json").read_text()), answer)
        page = (self.folder / "out/compare.html").read_text()
        for side in answer["sides"]:
            self.assertIn(side["label"], page)
        self.assertNotRegex(page, r'(src|href)="http')
        self.assertEqual(run("compare", *files, "--output", self.folder / "one.html").returncode, 0)
        self.assertEqual((self.folder / "one.html").read_text(), page)
        rows = list(csv.DictReader(run("compare", *files, "--format", "csv").stdout.splitlines()))
        self.assertEqual(rows[-1]["op"], "total")
        column = f"{answer['sides'][1]['label']} difference_ps"
        self.assertEqual(sum(int(row[column]) for row in rows[:-1]), int(rows[-1][column]))
        lines = run("compare", *files, "--format", "jsonl").stdout.splitlines()
        self.assertEqual(len(lines), len(rows))
        self.assertTrue(run("compare", *files, "--format", "md").stdout.startswith("| op |"))


class MeasuredTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.results = {}
        for name in ("hlo", "mlir"):
            out = cls.folder / name
            done = run("run", PROFILES / f"step.{name}.gz", "--device", "A100_SXM_40GB", "--network-backend", "none", "--no-report", "--output", out)
            assert done.returncode == 0, done.stderr
            cls.results[name] = out / "result.json"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def measured(self, name, trace):
        path = self.folder / "trace.json"
        if isinstance(trace, (list, dict)):
            path.write_text(json.dumps(trace))
            trace = path
        answer = result("compare", self.results[name], "--measured", trace)
        for i, side in enumerate(answer["sides"]):
            self.assertEqual(sum(row["time_ps"][i] for row in answer["blocks"]), side["step_time_ps"])
        return answer

    def test_jax_trace_of_a_compiled_program_matches_by_instruction(self):
        answer = self.measured("hlo", PROFILES / "jax_cpu.trace.json.gz")
        events = json.loads(gzip.decompress((PROFILES / "jax_cpu.trace.json.gz").read_bytes()))["traceEvents"]
        ops = {e["args"]["hlo_op"] for e in events if "hlo_op" in e.get("args", {}) and not e["name"].startswith("end: ")}
        rows = [row for row in answer["blocks"] if row["op"] != "idle"]
        self.assertEqual({row["match"] for row in rows}, {f"name: {op}" for op in ops})
        self.assertTrue(all(row["matched"] for row in rows))
        self.assertIn("more than predicted", answer["notes"][0])
        self.assertIn("100.0 % matches by name", answer["notes"][1])
        self.assertIn("of 5, the median", answer["notes"][2])

    def test_step_of_the_jax_trace_lies_between_annotations(self):
        events = json.loads(gzip.decompress((PROFILES / "jax_cpu.trace.json.gz").read_bytes()))["traceEvents"]
        ops = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if "hlo_op" in e.get("args", {}))
        steps = sorted(e["ts"] for e in events if "step_num" in e.get("args", {}))
        firsts = [min(ts for ts, _ in ops if ts >= step) for step in steps]
        lengths = sorted([b - a for a, b in zip(firsts, firsts[1:])] + [max(end for _, end in ops) - firsts[-1]])
        answer = self.measured("hlo", PROFILES / "jax_cpu.trace.json.gz")
        self.assertAlmostEqual(answer["sides"][1]["step_time_ps"] / 1e6, lengths[2], places=3)

    def test_jax_trace_of_the_framework_program_matches_by_kind_and_order(self):
        answer = self.measured("mlir", PROFILES / "jax_cpu.trace.json.gz")
        matmuls = [row for row in answer["blocks"] if row["kind"] == "matmul"]
        self.assertEqual(len(matmuls), 8)
        self.assertTrue(all(row["match"].startswith("order: ") for row in matmuls))

    def test_xprof_trace_of_gpus(self):
        names = [["dot_general.8", "jit(step)/jvp()/dot_general"], ["multiply_add_fusion.2", "jit(step)/transpose(jvp())/mul"]]
        events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:0"}},
                  {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "/device:GPU:1"}},
                  {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3, "args": {"name": "Steps"}},
                  {"ph": "M", "name": "thread_name", "pid": 1, "tid": 4, "args": {"name": "XLA Ops"}},
                  {"ph": "M", "name": "thread_name", "pid": 1, "tid": 5, "args": {"name": "Framework Ops"}}]
        for pid, thread, line in ((1, 7, "Stream #7(Compute)"), (1, 8, "Stream #8(Communication)"), (2, 7, "Stream #7(Compute)")):
            events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": thread, "args": {"name": line}})
        for step, base in enumerate((1000, 2000, 3200)):
            events.append({"ph": "X", "name": str(step), "pid": 1, "tid": 3, "ts": base, "dur": 500})
            # Made from the streams; they must not count again.
            events.append({"ph": "X", "name": "dot_general.8", "pid": 1, "tid": 4, "ts": base, "dur": 300})
            events.append({"ph": "X", "name": "dot", "pid": 1, "tid": 5, "ts": base, "dur": 300, "args": {"hlo_op": "dot_general.8"}})
            for i, (name, framework) in enumerate(names):
                events.append({"ph": "X", "name": f"kernel_{i}", "pid": 1, "tid": 7, "ts": base + 100 * i, "dur": 60,
                               "args": {"hlo_op": name, "name": framework, "hlo_module": "jit_step"}})
            # 40 us behind the second kernel, 20 us exposed.
            events.append({"ph": "X", "name": "ncclDevKernel_AllReduce_Sum_f32", "pid": 1, "tid": 8, "ts": base + 120, "dur": 60, "args": {"hlo_op": "all-reduce-start"}})
            events.append({"ph": "X", "name": "kernel_0", "pid": 2, "tid": 7, "ts": base, "dur": 10, "args": {"hlo_op": "dot_general.8"}})
        answer = self.measured("hlo", {"traceEvents": events})
        rows = {row["op"]: row for row in answer["blocks"]}
        self.assertEqual(answer["sides"][1]["step_time_ps"], 1_000_000_000)  # 180, 1,000 and 1,200 us; the median
        self.assertEqual(rows["dot_general.8"]["time_ps"][1], 60_000_000)
        self.assertEqual(rows["multiply_add_fusion.2"]["time_ps"][1], 60_000_000)
        self.assertEqual(rows["all_reduce"]["time_ps"][1], 20_000_000)
        self.assertEqual(rows["all_reduce"]["count"], [0, 1])
        self.assertEqual(rows["idle"]["time_ps"][1], 860_000_000)
        self.assertIn("the busiest of 2 devices", answer["notes"][2])

    def test_operations_inside_a_known_one_belong_to_it(self):
        events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "XLA Ops"}},
                  {"ph": "X", "name": "dot_general.8", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
                  {"ph": "X", "name": "inner.1", "pid": 1, "tid": 1, "ts": 10, "dur": 30},
                  {"ph": "X", "name": "while.77", "pid": 1, "tid": 1, "ts": 100, "dur": 50},
                  {"ph": "X", "name": "tanh.3", "pid": 1, "tid": 1, "ts": 110, "dur": 30}]
        rows = {row["op"]: row["time_ps"][1] for row in self.measured("hlo", events)["blocks"]}
        self.assertEqual(rows["dot_general.8"], 100_000_000)
        self.assertEqual(rows["tanh.3"], 30_000_000)
        self.assertNotIn("inner.1", rows)

    def test_framework_names_match(self):
        program = self.folder / "named.mlir"
        program.write_text("""
          func.func @main(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
            %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> loc("jit(f)/mlp_0/dot_general")
            %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> loc("jit(f)/mlp_1/dot_general")
            return %1 : tensor<512x512xf32>
          }""")
        run("run", program, "--device", "A100_SXM_40GB", "--optimise", "none", "--network-backend", "none", "--no-report", "--output", self.folder / "named")
        self.results["named"] = self.folder / "named/result.json"
        events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "XLA Ops"}},
                  {"ph": "X", "name": "gemm.2", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": {"tf_op": "jit(f)/mlp_1/dot_general:"}},
                  {"ph": "X", "name": "gemm.1", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"tf_op": "jit(f)/mlp_0/dot_general:"}}]
        rows = {row["op"]: row for row in self.measured("named", events)["blocks"]}
        self.assertEqual(rows["gemm.1"]["block"][0], 0)
        self.assertEqual(rows["gemm.2"]["block"][0], 1)
        self.assertEqual(rows["gemm.2"]["match"], "framework name: jit(f)/mlp_1/dot_general")

    def test_kineto_trace(self):
        """A kernel belongs to the step that launched it, even where the host ran ahead."""
        events = []
        for step, (host, device) in enumerate(((0, 100), (50, 400), (90, 720))):
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 9, "tid": 9, "ts": host, "dur": 39})
            for i, (name, at, dur, stream) in enumerate((("ampere_sgemm_128x64_nn", 0, 100, 7), ("void at::native::vectorized_elementwise_kernel<4>", 110, 40, 7),
                                                         ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 120, 80, 20), ("Memcpy DtoD (Device -> Device)", 210, 5, 7))):
                number = 10 * step + i
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": host + 1 + i, "dur": 1, "args": {"correlation": number}})
                events.append({"ph": "X", "cat": "gpu_memcpy" if "Memcpy" in name else "kernel", "name": name, "pid": 0, "tid": stream, "ts": device + at, "dur": dur,
                               "args": {"device": 0, "stream": stream, "correlation": number}})
        answer = self.measured("mlir", {"schemaVersion": 1, "traceEvents": events})
        self.assertEqual(answer["sides"][1]["step_time_ps"], 300_000_000)  # of 215, 300 and 320 us
        rows = {row["kind"]: row for row in answer["kinds"]}
        self.assertEqual(rows["matmul"]["time_ps"][1], 100_000_000)
        self.assertEqual(rows["elementwise"]["time_ps"][1], 40_000_000)
        self.assertEqual(rows["all_reduce"]["time_ps"][1], 50_000_000)
        self.assertEqual(rows["data movement"]["time_ps"][1], 5_000_000)
        self.assertEqual(rows["idle"]["time_ps"][1], 105_000_000)
        self.assertIn("Kineto", answer["notes"][2])

    def test_files_that_are_no_profile(self):
        for text, code in (("{}", "E0994"), ('{"traceEvents": [{"ph": "X", "ts": "x"}, 3]}', "E0994"), ("[1,", "E0801")):
            path = self.folder / "bad.json"
            path.write_text(text)
            done = run("compare", self.results["hlo"], "--measured", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(code, done.stderr)


if __name__ == "__main__":
    unittest.main()
