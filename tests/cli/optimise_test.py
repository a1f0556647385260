"""`hespas optimise`: module, counts, explanations, and what comes back in."""

import gzip
import json
import re
import tempfile
import unittest

import command

PROGRAM = command.LLAMA
# A dot of which each of four devices keeps a quarter
SCATTERED = """
module @scattered attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x16xbf16>, %w: tensor<16x32xbf16>) -> tensor<8x8xbf16> {
    %dot = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xbf16>, tensor<16x32xbf16>) -> tensor<8x32xbf16>
    %sum = "stablehlo.all_reduce"(%dot) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) : (tensor<8x32xbf16>) -> tensor<8x32xbf16>
    %starts = stablehlo.constant dense<[0, 8, 16, 24]> : tensor<4xi32>
    %own = stablehlo.partition_id : tensor<ui32>
    %one = stablehlo.dynamic_slice %starts, %own, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %start = stablehlo.reshape %one : (tensor<1xi32>) -> tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %out = stablehlo.dynamic_slice %sum, %zero, %start, sizes = [8, 8] : (tensor<8x32xbf16>, tensor<i32>, tensor<i32>) -> tensor<8x8xbf16>
    return %out : tensor<8x8xbf16>
  }
}
"""
# As JAX writes it, and as XLA does
RAGGED_CALL = """
module @ragged attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<64x4xf32>, %out: tensor<96x4xf32>, %o: tensor<2xi64>) -> tensor<96x4xf32> {
    %r = stablehlo.custom_call @ragged_all_to_all(%x, %out, %o, %o, %o, %o) {api_version = 4 : i32, backend_config = {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}
      : (tensor<64x4xf32>, tensor<96x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<96x4xf32>
    return %r : tensor<96x4xf32>
  }
}
"""
RAGGED_HLO = """
HloModule ragged, num_partitions=2

ENTRY main {
  x = f32[64,4] parameter(0)
  out = f32[96,4] parameter(1)
  o = s64[2] parameter(2)
  ROOT r = f32[96,4] ragged-all-to-all(x, out, o, o, o, o), replica_groups={{0,1}}
}
"""
# A ring shift beside a matmul that does not need it
SHIFTED = """
module @shifted attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
    %next = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}>
      : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %here = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %there = stablehlo.dot_general %next, %here, contracting_dims = [1] x [0] : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    return %there : tensor<4096x4096xbf16>
  }
}
"""


class Optimise(unittest.TestCase):
    def test_the_printed_module_reads_back_with_the_same_counts(self):
        counts = command.run("optimise", PROGRAM, "--format", "json")
        module = command.run("optimise", PROGRAM)
        again = command.run("optimise", "-", "--optimise", "none", "--format", "json", stdin=module.stdout)
        first, second = json.loads(counts.stdout), json.loads(again.stdout)
        for key in ("kernels", "flops", "bytes_accessed", "collectives"):
            self.assertEqual(first[key], second[key], key)
        self.assertIn("fusion", first["passes"])
        self.assertEqual(second["passes"], [])

    def test_flags_of_xla_set_how_much_is_combined(self):
        def collectives(*words):
            return {entry["op"]: entry["count"] for entry in command.result("optimise", PROGRAM, *words)["collectives"]}

        self.assertEqual(collectives()["all-gather"], 10)
        flag = "--xla-flag=--xla_gpu_all_gather_combine_threshold_bytes="
        self.assertEqual(collectives(flag + "31457280")["all-gather"], 12)
        self.assertEqual(collectives(flag + "0", "--xla-flag=--xla_gpu_reduce_scatter_combine_threshold_bytes=0"),
                         {"all-gather": 100, "all-reduce": 4, "reduce-scatter": 51})

    def test_flags_of_xla_form_triton_matmuls_and_leave_the_order_alone(self):
        triton = "--xla-flag=--xla_gpu_enable_triton_gemm="
        self.assertEqual(command.result("optimise", PROGRAM, triton + "false")["kernels"]["library_calls"], 166)
        result = command.result("optimise", PROGRAM, triton + "true", "--xla-flag=--xla_gpu_enable_latency_hiding_scheduler=false")
        self.assertEqual(result["kernels"]["library_calls"], 0)
        self.assertIn("triton-matmuls", result["passes"])
        self.assertNotIn("schedule", result["passes"])
        rows = json.loads(command.run("optimise", PROGRAM, triton + "true", "--explain", "--op", "exponential", "--format", "json").stdout)
        self.assertTrue(any("matmul" in row["kernel"] for row in rows), rows[:3])
        self.assertFalse(any("triton-matmuls" in row["reason"] for row in rows), "an op in a matmul kernel is not left out")

    def test_a_flag_of_xla_keeps_collectives_in_the_stream_of_the_computation(self):
        def answer(kinds, *words):
            flag = f"--xla-flag=--xla_gpu_disable_async_collectives={kinds}"
            return json.loads(command.run("run", PROGRAM, "--device", "H100_80GB", flag, "--format", "json", *words).stdout)

        for words in ([], ["--collective-streams", "group"], ["--network-model", "plain"], ["--network-backend", "analytical-aware"], ["--estimator", "roofline"]):
            beside, kept = answer("alltoall", *words), answer("allcollectives", *words)
            self.assertGreater(beside["overlap_ps"], 0, words)
            self.assertEqual(kept["overlap_ps"], 0, words)
            self.assertGreater(kept["step_time_ps"], beside["step_time_ps"], words)
        refused = command.run("optimise", PROGRAM, "--xla-flag=--xla_gpu_disable_async_collectives=gathers")
        self.assertIn("names no collectives by `gathers`", refused.stderr)

    def test_permutes_stay_in_the_stream_of_the_computation_too(self):
        def answer(kinds, *words):
            flag = f"--xla-flag=--xla_gpu_disable_async_collectives={kinds}"
            done = command.run("run", "-", "--device", "H100_80GB", flag, "--format", "json", *words, stdin=SHIFTED)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        for words in ([], ["--collective-streams", "group"], ["--network-model", "plain"], ["--network-backend", "analytical-aware"], ["--network-backend", "simgrid"]):
            beside, kept = answer("alltoall", *words), answer("collectivepermute", *words)
            self.assertGreater(beside["overlap_ps"], 0, words)
            self.assertEqual(kept["overlap_ps"], 0, words)
            self.assertAlmostEqual(kept["step_time_ps"] / (beside["step_time_ps"] + beside["overlap_ps"]), 1, delta=1e-6, msg=words)
        with tempfile.TemporaryDirectory() as folder:
            system = ("--system", "H100_80GB_4GPU", "--network-model", "calibrated", "--device", "H100_80GB")
            step = answer("collectivepermute", *system[:4], "--output", folder)
            ranks = command.result("simulate", f"--workload-configuration={folder}/dev", f"--comm-group-configuration={folder}/comm_group.json", *system)["npus"]
        self.assertEqual(max(rank["finish"] for rank in ranks), step["step_time_ps"])
        self.assertEqual(ranks[0]["overlap"], 0)

    def test_names_of_collectives_are_those_of_xla_in_any_case(self):
        def marked(program, kinds):
            flag = f"--xla-flag=--xla_gpu_disable_async_collectives={kinds}"
            done = command.run("optimise", "-", "--device", "H100_80GB", flag, stdin=program)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.count("hespas.synchronous")

        for program in (RAGGED_CALL, RAGGED_HLO):
            self.assertEqual(marked(program, "alltoall"), 0)
            for kinds in ("raggedalltoall", "RAGGEDALLTOALL", "AllReduce,RaggedAllToAll", "ALLCOLLECTIVES"):
                self.assertEqual(marked(program, kinds), 1, kinds)

    def test_written_traces_keep_collectives_in_the_stream_of_the_computation(self):
        for model in ("calibrated", "plain"):
            with tempfile.TemporaryDirectory() as folder:
                words = ("--system", "H100_80GB_4GPU", "--device", "H100_80GB", "--network-model", model)
                flag = "--xla-flag=--xla_gpu_disable_async_collectives=allcollectives"
                step = command.result("run", PROGRAM, *words, flag, "--output", folder)
                files = (f"--workload-configuration={folder}/dev", f"--comm-group-configuration={folder}/comm_group.json")
                ranks = command.result("simulate", *files, *words)["npus"]
            unit = 1 if model == "calibrated" else 1000  # plain answers are in nanoseconds
            self.assertEqual(max(rank["finish"] for rank in ranks), (step["step_time_ps"] + unit // 2) // unit, model)
            self.assertEqual(ranks[0].get("overlap", 0), 0, model)

    def test_large_results_are_scattered_part_by_part_on_tpus(self):
        def scattered(*words):
            text = command.run("optimise", "-", *words, stdin=SCATTERED).stdout
            shapes = re.findall(r"reduce_scatter.*?\}\)(?: \{hespas\.asynchronous\})? : \(tensor<(\w+)xbf16>\)", text, re.DOTALL)
            return len(re.findall('"stablehlo.dot_general"', text)), shapes, text.count("hespas.asynchronous")

        def overlap(*words):
            return json.loads(command.run("run", "-", "--device", "TPUv5p", *words, "--format", "json", stdin=SCATTERED).stdout)["overlap_ps"]

        flag = "--xla-flag=--xla_jf_spmd_threshold_for_windowed_einsum_mib="
        self.assertEqual(scattered("--device", "TPUv5p", flag + "0"), (4, ["2x32"] * 4, 4))
        self.assertGreater(overlap(flag + "0"), 0)
        self.assertEqual(overlap(), 0)
        for words in ([], [flag + "1000000"], ["--disable", "windowed-einsum", flag + "0"]):
            self.assertEqual(scattered("--device", "TPUv5p", *words), (1, ["8x32"], 0), words)

    def test_written_traces_keep_what_computation_runs_beside(self):
        system = ("--system", "TPUv5p 2x2", "--device", "TPUv5p", "--format", "json")
        with tempfile.TemporaryDirectory() as folder:
            done = command.run("run", "-", *system, "--xla-flag=--xla_jf_spmd_threshold_for_windowed_einsum_mib=0", "--output", folder, stdin=SCATTERED)
            run = json.loads(done.stdout)
            again = command.run("simulate", f"--workload-configuration={folder}/dev", f"--comm-group-configuration={folder}/comm_group.json", *system, "--network-model", "calibrated")
            ranks = json.loads(again.stdout)["npus"]
        self.assertGreater(run["overlap_ps"], 0)
        self.assertEqual(max(rank["finish"] for rank in ranks), run["step_time_ps"])
        self.assertEqual(ranks[0]["overlap"], run["overlap_ps"])

    def test_sparse_cores_carry_the_sums_that_flags_name(self):
        def marks(*words):
            text = command.run("optimise", "-", "--device", "TPUv6e", *(f"--xla-flag=--xla_tpu_enable_sparse_core_collective_offload_{word}" for word in words), stdin=SCATTERED).stdout
            return re.findall(r"hespas\.sparse_core = (\w+)", text)

        self.assertEqual(marks(), [])
        self.assertEqual(marks("all_reduce=true"), ["true"])
        self.assertEqual(marks("all_reduce=true", "reduce_scatter=false"), ["false"])
        self.assertEqual(marks("reduce_scatter=true"), ["true"])

    def test_flags_that_nothing_follows_are_refused(self):
        for words in (["--xla-flag=--xla_gpu_enable_command_buffer=FUSION"], ["--xla-flag=--xla_gpu_enable_command_buffer"], ["--xla-flag=--xla_gpu_disable_async_collectives"], ["--xla-flag=--xla_gpu_graph_level=1"], ["--xla-flag=--xla_gpu_autotune_level=x"], ["--xla-flag=--xla_gpu_enable_triton_gemm=yes"], ["--xla-flag=--xla_gpu_all_reduce_combine_threshold_bytes=1k"],
                      ["--xla-flag=--xla_gpu_all_reduce_combine_threshold_bytes"],
                      ["--optimise", "none", "--xla-flag=--xla_gpu_all_reduce_combine_threshold_bytes=1"],
                      ["--optimise", "none", "--device", "TPUv3", "--xla-flag=--xla_gpu_enable_command_buffer="],
                      ["--device", "TPUv3", "--xla-flag=--xla_gpu_all_reduce_combine_threshold_bytes=1"],
                      ["--device", "TPUv5e", "--xla-flag=--xla_tpu_enable_sparse_core_collective_offload_all_reduce=true"],
                      ["--device", "TPUv5p", "--xla-flag=--xla_jf_spmd_threshold_for_windowed_einsum_mib=1k"],
                      ["--xla-flag=--xla_jf_spmd_threshold_for_windowed_einsum_mib=1"]):
            done = command.run("optimise", PROGRAM, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("error[E0919]", done.stderr)
        done = command.run("optimise", PROGRAM, "--xla-flag=--xla_gpu_all_reduce_combine_treshold_bytes=1", "--xla-flag=--xla_other=1")
        self.assertIn("did you mean `--xla_gpu_all_reduce_combine_threshold_bytes`", done.stderr)
        self.assertEqual(done.stderr.count("error[E0919]"), 2)

    def test_without_command_buffers_each_kernel_starts_alone(self):
        def seconds(program, *words, stdin=None):
            done = command.run("run", program, "--device", "H100_80GB", "--format", "json", *(f"--xla-flag=--xla_gpu_{word}" for word in words), stdin=stdin)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["compute_time_ps"]

        with_graphs = seconds(PROGRAM)
        without = seconds(PROGRAM, "enable_command_buffer=")
        self.assertGreater(without, 1.001 * with_graphs)
        self.assertEqual(seconds(PROGRAM, "graph_level=0"), without)
        module = command.run("optimise", PROGRAM, "--device", "H100_80GB").stdout
        self.assertEqual(seconds("-", stdin=module), with_graphs)
        self.assertEqual(seconds("-", "enable_command_buffer=", stdin=module), without)

    def test_an_optimised_program_is_left_alone(self):
        module = command.run("optimise", PROGRAM)
        again = command.run("optimise", "-", "--format", "json", stdin=module.stdout)
        self.assertEqual(json.loads(again.stdout)["passes"], [])

    def test_every_explanation_names_a_kernel_and_a_reason(self):
        lines = command.run("optimise", PROGRAM, "--explain", "--format", "jsonl").stdout.splitlines()
        explained = set()
        for row in map(json.loads, lines):
            self.assertTrue((row["kernel"].startswith("kernel ") or row["kernel"] == "none") and row["reason"], row)
            explained.update(re.findall(r"\(line (\d+)\)$", row["op"]))
        with gzip.open(PROGRAM, "rt") as file:
            text = file.read().splitlines()
        main = next(i for i, line in enumerate(text) if "@main" in line)
        ops = {str(i + 1) for i, line in enumerate(text) if i > main and re.match(r"    %\w+(:\d+)? = ", line)}
        self.assertEqual(ops - explained, set())

    def test_every_kernel_has_a_number_that_explain_takes(self):
        lines = command.run("optimise", PROGRAM, "--device", "A100_SXM_40GB", "--explain").stdout.splitlines()[1:]
        kernels = [line.split()[0] for line in lines]
        self.assertEqual(sorted(map(int, kernels)), list(range(len(kernels))))
        library = next(line for line in lines if " matmul " in line)
        fused = next(line for line in lines if " matmul " not in line)
        for line, wanted in ((library, "matmul"), (fused, "fused")):
            with self.subTest(line):
                number, micro = line.split()[0], re.search(r" (\d+\.\d{3})  ", line)[1]
                answer = command.result("explain", PROGRAM, "kernel", number, "--device", "A100_SXM_40GB")
                self.assertIn(wanted, json.dumps(answer))
                self.assertAlmostEqual(int(re.search(r"(\d+) ps", answer["facts"]["time"])[1]) / 1e6, float(micro), places=2)
                self.assertTrue(answer["factors"] and answer["operations"])
        done = command.run("explain", PROGRAM, "kernel", len(kernels), "--device", "A100_SXM_40GB")
        self.assertIn(f"there is no kernel {len(kernels)}; the program has {len(kernels)}", done.stderr)
        # An op's explanation names the kernel by the same number.
        entry = json.loads(command.run("optimise", PROGRAM, "--device", "A100_SXM_40GB", "--explain", "--op", "exponential", "--format", "json").stdout)[0]
        number = re.match(r"kernel (\d+)", entry["kernel"])[1]
        answer = command.result("explain", PROGRAM, "kernel", number, "--device", "A100_SXM_40GB")
        self.assertIn("exponential", json.dumps(answer["operations"]))

    def test_one_op_is_explained_by_name_or_line(self):
        def explained(*ops):
            result = command.run("optimise", PROGRAM, "--explain", "--format", "jsonl", "--op", *ops)
            self.assertEqual(result.returncode, 0, result.stderr)
            return [json.loads(line) for line in result.stdout.splitlines()]

        exponentials = explained("exponential")
        self.assertEqual({row["op"].split()[0] for row in exponentials}, {"stablehlo.exponential"})
        self.assertEqual(exponentials, explained("stablehlo.exponential"))
        line = re.search(r"line (\d+)", exponentials[0]["op"]).group(1)
        self.assertIn(exponentials[0], explained(line))
        self.assertLess(len(explained(line)), len(exponentials))

    def test_an_op_that_is_not_there_is_wrong_usage(self):
        result = command.run("optimise", PROGRAM, "--explain", "--op", "exponental")
        self.assertEqual(result.returncode, 2)
        self.assertIn("E0544", result.stderr)
        self.assertIn("exponential", result.stderr)

    def test_kernels_can_be_taken_apart(self):
        module = command.run("optimise", PROGRAM, "--format", "stablehlo").stdout
        self.assertNotIn("mhlo.fusion", module)
        self.assertNotIn("__cublas", module)
        counts = command.run("optimise", "-", "--optimise", "none", "--format", "json", stdin=module)
        self.assertEqual(json.loads(counts.stdout)["kernels"]["fusions"], 0)

    def test_without_xlas_compiler_the_exact_mode_says_how_to_get_it(self):
        result = command.run("optimise", PROGRAM, "--optimise", "xla",
                             environment={"HESPAS_XLA_PYTHON": "", "XDG_CACHE_HOME": "/nonexistent"})
        self.assertEqual(result.returncode, 5)
        self.assertIn("scripts/python_env.sh cuda", result.stderr)

    def test_an_unknown_pass_is_wrong_usage(self):
        result = command.run("optimise", PROGRAM, "--disable", "fuson")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean `fusion`", result.stderr)


if __name__ == "__main__":
    unittest.main()
