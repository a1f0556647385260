"""`hespas serve`: figures that follow from datasheets, bounds, bad input, replay of recorded requests, speed."""
import csv
import json
import os
import pathlib
import resource
import tempfile
import time

from command import result, run

LOAD = ["--isl", 1024, "--osl", 1024]
H100 = ["serve", "llama3-8b", "--device", "H100_80GB"]


def closed_run_has_all_keys_and_is_fast():
    began = time.process_time()
    answer = result(*H100, *LOAD, "--concurrency", 64, "--slo", "ttft=2s,tpot=50ms", "--price", 2.5)
    assert time.process_time() - began < 1
    for key in ("model device devices parallelism precision engine ttft_s tpot_s itl_s e2e_s requests_per_s tokens_per_s "
                "tokens_per_s_per_device tokens_per_s_per_user goodput_per_s max_concurrency mean_batch preemptions "
                "utilisation memory step sigma cost_per_million_tokens warnings reproduce").split():
        assert key in answer, key
    assert set(answer["ttft_s"]) == {"mean", "p50", "p90", "p95", "p99"}
    assert abs(sum(answer["step"]["where_time_goes"].values()) - 1) < 1e-6
    hours = answer["devices"] / 3600
    assert abs(answer["cost_per_million_tokens"] * answer["tokens_per_s"] / (2.5 * hours * 1e6) - 1) < 1e-9
    # Little's law over the whole run.
    assert abs(answer["mean_requests"] / (answer["requests_per_s"] * answer["e2e_s"]["mean"]) - 1) < 0.01


def no_step_beats_the_datasheet():
    """A decode step reads layers, head and caches once; a prompt multiplies all weights of the layers."""
    weights, cache, bandwidth = 7.505e9 * 2, 131072, 3.35e12
    for batch in (1, 64):
        answer = result(*H100, "--isl", 1000, "--osl", 560, "--concurrency", batch, "--requests", batch)
        bound = (weights + 1280 * batch * cache) / bandwidth
        assert bound < answer["tpot_s"]["mean"] < 2 * bound, (batch, answer["tpot_s"], bound)
    alone = result(*H100, "--isl", 4096, "--osl", 2, "--concurrency", 1, "--requests", 1)
    assert alone["ttft_s"]["mean"] > 2 * 6.98e9 * 4096 / 989.5e12
    halves = [result("serve", "llama3-70b", "--device", "H100_80GB", "--devices", n, "--weights", "fp8", *LOAD,
                     "--concurrency", 1, "--requests", 1)["tpot_s"]["mean"] for n in (2, 4, 8)]
    assert halves[0] > halves[1] > halves[2] > halves[0] / 4


def memory_adds_up():
    memory = result(*H100, *LOAD, "--concurrency", 1, "--requests", 1)["memory"]
    assert abs(memory["capacity"] / (81559 * 2**20) - 1) < 0.002
    assert abs(memory["weights"] / 16.06e9 - 1) < 0.001
    assert memory["kv_bytes_per_token"] == 131072
    assert memory["kv_tokens"] == memory["kv_blocks"] * 16
    assert memory["weights"] + memory["workspace"] + memory["kv"] <= 0.9 * memory["capacity"]
    big = ["serve", "llama3-70b", "--device", "H100_80GB", *LOAD, "--concurrency", 1, "--requests", 1]
    assert result(*big)["max_concurrency"] == 0
    refused = run(*big, "--require-fit")
    assert refused.returncode == 4 and "E0719" in refused.stderr and "2 such devices hold it" in refused.stderr, refused.stderr


def four_bits_are_nine_sixteenths_of_eight():
    """nvfp4: a scale of 8 bits for 16 elements; a decode reads that much less of its cache."""
    eight, four = (result("serve", "llama3-8b", "--device", "B200_180GB", "--weights", "fp8", "--kv", kv, "--engine", "trtllm", "--isl", 16384, "--osl", 64,
                          "--concurrency", 32, "--requests", 32) for kv in ("fp8", "nvfp4"))
    assert four["memory"]["kv_bytes_per_token"] == 0.5625 * 2 * 32 * 1024
    saved = (eight["tpot_s"]["mean"] - four["tpot_s"]["mean"]) / (7 / 16 * 65536 * 32 * 16416 / 8e12)
    assert 0.9 < saved < 2, saved


def bad_input_is_told():
    for code, status, words in [
            ("E0714", 2, ["serve", "llama9", "--device", "H100_80GB", *LOAD, "--concurrency", 1]),
            ("E0714", 2, ["serve", "a" * 300, "--device", "H100_80GB", *LOAD, "--concurrency", 1]),
            ("E0806", 2, ["serve", "llama3-8b", "--device", "H1000", *LOAD, "--concurrency", 1]),
            ("E0711", 2, [*H100, *LOAD]),
            ("E0711", 2, [*H100, "--isl", "x", "--osl", 1, "--rate", 1]),
            ("E0711", 2, [*H100, "--isl", "x", "--osl", 1, "--search", "--slo", "tpot=1s"]),
            ("E0711", 2, [*H100, "--isl", 1, "--osl", 1, "--arrivals", "x", "--search", "--slo", "ttft=1s"]),
            ("E0711", 2, [*H100, *LOAD, "--search", "--slo", "ttft=1s", "--requests", 0]),
            ("E0711", 2, [*H100, *LOAD, "--search", "--requests", -5]),
            ("E0720", 4, [*H100, "--isl", 200000, "--osl", 1, "--concurrency", 1]),
            ("E0720", 4, [*H100, "--isl", 200000, "--osl", 1, "--search", "--slo", "ttft=1s"]),
            ("E0718", 2, [*H100, *LOAD, "--concurrency", 1, "--tp", 3]),
            ("E0710", 2, ["serve", "--step-model", "a=-1", *LOAD, "--concurrency", 1]),
            ("E0718", 2, [*H100, *LOAD, "--concurrency", 1, "--weights", "mxfp4"]),
            ("E0718", 2, [*H100, *LOAD, "--concurrency", 1, "--kv", "nvfp4"]),
            ("E0718", 2, ["serve", "deepseek-v3", "--device", "B200_180GB", "--devices", 8, *LOAD, "--concurrency", 1, "--kv", "nvfp4"]),
            ("E0718", 2, [*H100, *LOAD, "--rate", -1]),
            ("E0718", 2, [*H100, *LOAD, "--rate", 1, "--memory-fraction", 2]),
            ("E0718", 2, [*H100, *LOAD, "--rate", 1, "--ep", 8]),
            ("E0717", 2, [*H100, *LOAD, "--concurrency", 1, "--engine", "vlm"])]:
        done = run(*words)
        assert done.returncode == status and code in done.stderr and "help:" in done.stderr, (words, done.stderr)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.csv")
        for empty in ("", "arrival_s,input_tokens,output_tokens\n"):
            trace.write_text(empty)
            told = run(*H100, "--trace", trace).stderr
            assert "E0712" in told and "help: columns" in told, told
        trace.write_text("arrival_s,input_tokens,output_tokens\n0,1,1\n1,x,1\n")
        assert f"{trace}:3" in run(*H100, "--trace", trace).stderr
        config = pathlib.Path(folder, "config.json")
        config.write_text('{"model_type": "rwkv"}')
        assert "E0715" in run("serve", config, "--device", "H100_80GB", *LOAD, "--concurrency", 1).stderr
        config.write_text('{"model_type": "llama", "hidden_size": 64}')
        missing = run("serve", config, "--device", "H100_80GB", *LOAD, "--concurrency", 1).stderr
        assert "E0716" in missing and "`intermediate_size` is missing" in missing, missing
    over = result(*H100, *LOAD, "--rate", 100, "--requests", 2000, "--overload")
    assert [w["code"] for w in over["warnings"]] == ["W0723"], over["warnings"]


def a_rate_above_the_capacity_names_it():
    """Constant steps of 10 ms for 8 requests of 20 tokens answer 40 a second (the prompt is in the first of 20 steps)."""
    words = ["serve", "--step-model", "a=10e-3", "--isl", 1, "--osl", 20, "--max-requests", 8, "--arrivals", "regular"]
    over = run(*words, "--rate", 50)
    assert over.returncode == 4 and "E0725" in over.stderr and "--overload" in over.stderr and not over.stdout, over.stderr
    capacity, remedy = (float(over.stderr.split(words)[1].split()[0]) for words in ("the server answers ", "take --rate "))
    assert abs(capacity / 40 - 1) < 0.01 and remedy == capacity, over.stderr
    assert result(*words, "--rate", 39)["warnings"] == []
    assert result(*words, "--rate", "inf")["warnings"] == []  # all at once is no rate
    assert [w["code"] for w in result(*words, "--rate", 50, "--overload")["warnings"]] == ["W0723"]
    searched = result(*words, "--rate", 50, "--search")
    assert len(searched["points"]) == 1 and not searched["points"][0]["meets_slo"]


def long_answers_are_no_queue():
    """A run's end is long where lengths vary: runs of 20,000 requests of the first lengths wait from 21 a second on, not at 20."""
    varied = ["--isl", "uniform:1:2000", "--osl", "exponential:300"]
    heavy = ["--isl", 500, "--osl", "lognormal:400:1.2"]
    for words in [[*varied, "--rate", 17], [*varied, "--rate", 20], [*heavy, "--rate", 10, "--requests", 200], [*heavy, "--rate", 14]]:
        answer = result(*H100, *words)
        assert answer["warnings"] == [], (words, answer["warnings"])
    for words, rate in [(varied, 30), (varied, 40), (heavy, 100), (["--isl", 1024, "--osl", 256], 30), (["--isl", 8192, "--osl", 16], 6),
                        (["--isl", 1024, "--osl", 256, "--devices", 2, "--tp", 1, "--disaggregate", "1:1"], 60)]:
        over = run(*H100, *words, "--rate", rate)
        assert over.returncode == 4 and f"{rate} requests/s arrive" in over.stderr, (words, over.stderr)
        remedy = float(over.stderr.split("take --rate ")[1].split()[0])
        assert remedy < rate and result(*H100, *words, "--rate", remedy)["warnings"] == [], (words, over.stderr)


def bursts_are_held_against_the_least_time_of_steps():
    """Steps of 1 ms a token, and more, answer less than one request of 54 computed tokens in 54 ms; all of the burst run at once."""
    words = ["serve", "--step-model", "a=10e-3,b=1e-3,p=1e-3", "--isl", 5, "--osl", 50, "--max-batched-tokens", 1000, "--requests", 100]
    over = run(*words, "--rate", 1e9)
    assert over.returncode == 4 and "E0725" in over.stderr, over.stderr
    capacity, remedy = (float(over.stderr.split(said)[1].split()[0]) for said in ("answers at most ", "take --rate "))
    assert 17 < capacity < 1 / 54e-3 and 0 < remedy <= capacity, over.stderr
    assert result(*words, "--rate", remedy)["warnings"] == []
    for allowed in [["--rate", "inf"], ["--rate", 1], ["--concurrency", 100]]:
        assert result(*words, *allowed)["warnings"] == [], allowed
    assert "E0725" in run(*H100, *LOAD, "--rate", 1e9, "--requests", 100).stderr


def searches_say_which_queues_grow():
    words = [*H100, "--isl", "uniform:1:2000", "--osl", "exponential:300", "--search", "--slo", "ttft=10s"]
    found = result(*words, "--rate", 10, "--requests", 200)
    assert [point["meets_slo"] for point in found["points"]] == [True]
    over = run(*words, "--rate", 40)
    assert "W0723" in over.stderr and "1 of 1 points" in over.stderr, over.stderr


def room_for_requests_takes_no_memory():
    words = ["serve", "--step-model", "a=5e-3,b=1e-5,c=1e-9,p=2e-6", "--isl", 100, "--osl", 10, "--search", "--slo", "tpot=20ms"]
    few, many = (result(*words, "--max-requests", most)["points"] for most in (20000, 100_000_000))
    assert few == many
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 400_000  # KB


def decode_steps_cost_the_captured_size():
    def matmul(engine, batch):
        answer = result(*H100, "--isl", 1, "--osl", 3, "--concurrency", batch, "--requests", batch, "--engine", engine)
        return [kernel["seconds"] for kernel in answer["step"]["decode_kernels"] if kernel["kernel"] == "gate-up"]
    for engine in ("trtllm", "vllm"):
        assert matmul(engine, 255) == matmul("trtllm", 129)  # the graph of 256 rows
    assert matmul("vllm", 129)[0] < 0.97 * matmul("vllm", 255)[0]  # of 136


def ranks_of_experts_replay_graphs_of_their_own_rows():
    def matmul(batch):
        answer = result("serve", "qwen3-30b-a3b", "--device", "H100_80GB", "--devices", 2, "--tp", 1, "--dp", 2, "--ep", 2, "--isl", 1, "--osl", 3,
                        "--concurrency", batch, "--requests", batch, "--engine", "trtllm")
        return [kernel["seconds"] for kernel in answer["step"]["decode_kernels"] if kernel["kernel"] == "qkv"]
    assert matmul(258) == matmul(510)  # 129 and 255 of each rank: the graph of 256 rows
    assert matmul(256)[0] < matmul(258)[0]


def ranks_of_experts_have_schedulers_of_their_own():
    profile = json.loads(pathlib.Path(os.environ["HESPAS_ROOT"], "data/serving/engines/trtllm.json").read_text())
    profile["host"]["asynchronous"] = False

    def tpot(request_of_step):
        profile["host"]["request_of_step"] = request_of_step
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "engine.json")
            path.write_text(json.dumps(profile))
            return result("serve", "qwen3-30b-a3b", "--device", "H100_80GB", "--devices", 2, "--tp", 1, "--dp", 2, "--ep", 2, "--isl", 8, "--osl", 9,
                          "--concurrency", 8, "--requests", 8, "--engine", path)["tpot_s"]["mean"]
    assert abs(tpot("1 ms") - tpot("0 ms") - 4e-3) < 1e-6  # four requests of each rank


def memory_holds_graphs_tables_and_communicators():
    def workspace(model, engine, *words, device="B200_180GB"):
        return result("serve", model, "--device", device, "--isl", 8, "--osl", 8, "--concurrency", 1, "--requests", 1, "--engine", engine,
                      *words)["memory"]["workspace"]
    scout = workspace("llama4-scout", "trtllm", "--weights", "nvfp4")
    assert scout > 10_485_760 * 128 * 4
    assert scout == workspace("llama4-scout", "trtllm", "--weights", "nvfp4", "--context", 8192)  # a limit on requests
    # Ranks' largest buffers are logits of the whole vocabulary, so that connections alone differ: to one peer, to two.
    for device, engine, channels in (("B200_180GB", "vllm", 32), ("B200_180GB", "sglang", 32), ("H100_80GB", "trtllm", 24),
                                     ("L40S_48GB", "vllm", 0), ("MI300X", "vllm", 0)):
        one, two, four = (workspace("llama3-8b", engine, "--devices", n, "--dp", 1, device=device) for n in (1, 2, 4))
        assert two - one == four - two == channels * 12 * 2**20, (device, engine)
    few, many = (workspace("llama3-8b", "trtllm", "--max-requests", n) for n in (1024, 1025))
    assert 0 < many - few < 128256 * 11  # the same largest graph
    assert workspace("llama3-8b", "trtllm", "--max-requests", 2048) > 1.9 * (few - 1e9)


def workspace_is_the_peak_of_the_steps_program():
    """Bytes that a token more takes at the widest point, and a sampled row."""
    def workspace(model, engine, tokens, requests=16, *words):
        return result("serve", model, "--device", "H100_80GB", "--isl", 8, "--osl", 8, "--concurrency", 1, "--requests", 1, "--engine", engine,
                      "--max-batched-tokens", tokens, "--max-requests", requests, *words)["memory"]["workspace"]

    def of_token(*words):
        return (workspace(*words[:2], 8192, 16, *words[2:]) - workspace(*words[:2], 4096, 16, *words[2:])) / 4096
    width, mlp = 4096, 14336
    # While the MLP activates: the residual stream, gate and up, and their product.
    assert of_token("llama3-8b", "vllm") == 2 * (width + 3 * mlp)
    # Python holds the input, gate and up while the last matmul runs.
    assert of_token("llama3-8b", "trtllm") == 2 * (3 * width + 3 * mlp)
    # In 8 bits the last matmul reads what is activated once more, quantised.
    assert of_token("llama3-8b", "trtllm", "--weights", "fp8") == 2 * (3 * width + 3 * mlp) + mlp
    # Eight chosen rows in each of the experts' two buffers, their sum, and the residual stream.
    assert of_token("qwen3-30b-a3b", "vllm") == 2 * 2048 * (8 + 8 + 2)
    # Few tokens, many requests: logits in 16 bits and twice in 32, and the tokens.
    assert workspace("llama3-8b", "vllm", 1024, 1024) - workspace("llama3-8b", "vllm", 1024, 512) == 512 * (128256 * 10 + 4)
    # SGLang's fraction is of weights and cache: the workspace lies beside it.
    memory = result(*H100, *LOAD, "--concurrency", 1, "--requests", 1, "--engine", "sglang")["memory"]
    assert abs((memory["weights"] + memory["kv"]) / memory["capacity"] - 0.88) < 1e-5, memory


def ranks_of_experts_have_limits_of_their_own():
    words = ["serve", "qwen3-30b-a3b", "--device", "H100_80GB", "--devices", 2, "--tp", 1, "--dp", 2, "--ep", 2, "--isl", 8, "--osl", 200,
             "--concurrency", 32, "--requests", 32, "--max-requests", 4]
    batches = [result(*words, "--engine", engine)["mean_batch"] for engine in ("vllm", "trtllm", "sglang")]
    assert 7 < batches[0] <= 8 and 7 < batches[1] <= 8 and 3.5 < batches[2] <= 4, batches


def a_configuration_is_a_model():
    config = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
              "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
              "quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized",
                                      "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}}}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "config.json")
        path.write_text(json.dumps(config))
        own = result("serve", path, "--device", "H100_80GB", *LOAD, "--concurrency", 4)
    named = result("serve", "llama-3.1-8b-instruct", "--device", "H100_80GB", "--weights", "fp8", *LOAD, "--concurrency", 4)
    assert own["precision"]["weights"] == "fp8" and own["tpot_s"] == named["tpot_s"]


def search_finds_a_layout_that_keeps_the_limits():
    found = result(*H100, "--devices", 4, "--isl", 512, "--osl", 128, "--search", "--slo", "ttft=1s,tpot=30ms")
    best = [point for point in found["points"] if point["best"]]
    assert len(best) == 1 and best[0]["meets_slo"] and best[0]["rate"] > 1, found["points"]
    check = result(*H100, "--devices", 4, "--tp", best[0]["parallelism"]["tp"], "--pp", best[0]["parallelism"]["pp"],
                   "--dp", best[0]["parallelism"]["dp"], "--isl", 512, "--osl", 128, "--rate", best[0]["rate"])
    assert check["tpot_s"]["p99"] < 0.045
    with tempfile.TemporaryDirectory() as folder:
        result(*H100, "--devices", 2, "--isl", 512, "--osl", 128, "--search", "--output", folder)
        assert "<circle" in pathlib.Path(folder, "report.html").read_text() and json.loads(pathlib.Path(folder, "search.json").read_text())
    front = [point for point in found["points"] if point["pareto"]]
    assert front and all(a["tokens_per_s_per_user"] != b["tokens_per_s_per_user"] or a is b for a in front for b in front)


def searches_are_deterministic_and_their_parts_are_the_whole():
    words = [*H100, "--devices", 4, "--isl", 512, "--osl", 64, "--search", "--arrivals", "regular"]
    first, second = (result(*words, "--slo", "ttft=1s,tpot=30ms")["points"] for _ in range(2))
    assert first == second
    # Regular arrivals that four replicas take in turn are regular for each.
    fixed = [point for point in result(*words, "--rate", 8, "--requests", 400)["points"] if point["parallelism"]["dp"] == 4][0]
    whole = result(*H100, "--devices", 4, "--tp", 1, "--dp", 4, "--isl", 512, "--osl", 64, "--arrivals", "regular", "--rate", 8, "--requests", 400)
    assert fixed["rate"] == 8 and abs(fixed["tpot_s"] / whole["tpot_s"]["mean"] - 1) < 1e-9
    assert abs(fixed["tokens_per_s_per_device"] / whole["tokens_per_s_per_device"] - 1) < 0.02


def searches_lose_no_point_of_the_front():
    """What bounds leave out is beaten: layouts that are searched alone, where fewer are left out, have the same front."""
    words = [*H100, "--devices", 8, "--isl", 512, "--osl", 128, "--search", "--slo", "ttft=1s,tpot=30ms"]
    whole = result(*words)
    assert whole["dominated"] > 0 and whole["candidates"] == whole["excluded"] + whole["dominated"] + len(whole["points"]), whole
    alone = [point for tp in (1, 2, 4, 8) for pp in (1, 2, 4, 8) if tp * pp <= 8 for point in result(*words, "--tp", tp, "--pp", pp)["points"]]
    rates = lambda point: (point["tokens_per_s_per_user"], point["tokens_per_s_per_device"])
    front = {rates(a) for a in alone if not any(b is not a and rates(b)[0] >= rates(a)[0] and rates(b)[1] >= rates(a)[1] for b in alone)}
    assert {rates(point) for point in whole["points"] if point["pareto"]} == front


def searched_rates_are_sustained():
    """A batch of 50 short requests ends before a queue is seen; the rate must still be one that the server keeps up with."""
    words = [*H100, "--isl", 128, "--osl", 16]
    capacity = result(*words, "--concurrency", 512, "--requests", 5000)["requests_per_s"]
    for requests in (50, 500):
        point = result(*words, "--requests", requests, "--slo", "ttft=500ms,tpot=50ms", "--search")["points"][0]
        assert 0.7 * capacity < point["rate"] < 1.1 * capacity, (point, capacity)
        assert abs(point["tokens_per_s_per_device"] / (16 * point["rate"]) - 1) < 1e-9, point


def searched_rates_are_the_highest():
    """The search begins near its bounds, far above what mixed steps would allow or far below; either way 1.2 times the rate misses a limit."""
    for layout in (["--disaggregate", "1:7"], ["--disaggregate", "4:4"], ["--dp", 8]):
        words = [*H100, "--devices", 8, "--tp", 1, "--pp", 1, *layout, "--isl", 1000, "--osl", 300, "--slo", "ttft=1s,tpot=25ms", "--search"]
        rate = result(*words)["points"][0]["rate"]
        keeps = [result(*words, "--rate", rate * factor, "--requests", 8000)["points"][0]["meets_slo"] for factor in (0.95, 1.2)]
        assert keeps == [True, False], (layout, rate, keeps)


def searched_rates_do_not_depend_on_the_lengths_drawn():
    """Answers that differ in length take times that differ; only a queue shows that a server does not follow."""
    long = result("serve", "llama3-70b", "--device", "H100_80GB", "--devices", 8, "--tp", 8, "--isl", 1024, "--osl", "lognormal:1000:3", "--search",
                  "--slo", "ttft=3s,tpot=60ms", "--requests", 50)
    assert long["points"][0]["rate"] > 1, long
    rates = [result(*H100, "--isl", 512, "--osl", "exponential:200", "--search", "--slo", "tpot=200ms", "--seed", seed)["points"][0]["rate"] for seed in (1, 6)]
    assert all(30 < rate < 50 for rate in rates), rates


def searches_count_what_is_answered():
    words = [*H100, "--isl", "uniform:1:9000", "--osl", 100, "--context", 4000, "--slo", "tpot=50ms", "--search", "--format", "json"]
    done = run(*words)
    assert done.stderr.count("W0722") == 1, done.stderr
    point = json.loads(done.stdout)["points"][0]
    share = point["tokens_per_s_per_device"] / (100 * point["rate"])
    assert abs(share - 3900 / 9000) < 0.1, point


def older_engines_read_caches_for_each_query_head():
    def token(model, engine, *words):
        return result("serve", model, "--device", "H100_80GB", "--isl", 1024, "--osl", 1024, "--concurrency", 32, "--requests", 32, "--engine", engine,
                      *words)["tpot_s"]["mean"]
    assert token("llama3-8b", "trtllm-0.11") > 1.15 * token("llama3-8b", "trtllm")
    assert token("llama2-7b", "trtllm-0.11") < 1.1 * token("llama2-7b", "trtllm")  # each query head has keys of its own
    ranks = ["--devices", 4, "--in-process"]
    assert token("llama3-8b", "trtllm-0.5", *ranks) > 1.02 * token("llama3-8b", "trtllm-0.11", *ranks)  # NCCL sums


def rotating_attention_costs_its_traffic_beyond_the_field_model():
    """Such devices' attention has no time of rotating and writing, so that the engines' kernels cost the same there."""
    with tempfile.TemporaryDirectory() as folder:
        apart = json.loads(pathlib.Path(os.environ["HESPAS_ROOT"], "data/serving/engines/trtllm.json").read_text()) | {"rotating_attention": False}
        profile = pathlib.Path(folder, "apart.json")
        profile.write_text(json.dumps(apart))
        for device, alike in (("V100_32GB", True), ("TPUv5p", True), ("H100_80GB", False)):
            words = ["serve", "llama3-8b", "--device", device, "--isl", 512, "--osl", 32, "--concurrency", 4, "--requests", 4, "--engine"]
            times = [result(*words, engine)["tpot_s"]["mean"] for engine in ("trtllm", profile)]
            assert (times[0] == times[1]) == alike, (device, times)


def own_steps_are_a_table():
    """A lone request: a prompt, then decodes; a mixed step reads weights once. Programs of the table run on the device."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "steps.csv")
        table.write_text("phase,batch,context,seconds\nprefill,1,100,0.05\nprefill,1,200,0.1\ndecode,1,100,0.01\ndecode,1,300,0.03\ndecode,3,300,0.05\n")
        words = ["serve", "--step-table", table, "--in-process", "--scheduler-steps", 1000000]  # next to no host
        lone = result(*words, "--isl", 150, "--osl", 101, "--concurrency", 1, "--requests", 1)
        assert abs(lone["ttft_s"]["mean"] - 0.075) < 1e-6, lone["ttft_s"]
        assert abs(lone["tpot_s"]["mean"] - 0.0200 - 0.5 * 0.0001) < 1e-6, lone["tpot_s"]  # contexts of 151 to 250
        assert "W0988" in run(*words, "--isl", 400, "--osl", 9, "--concurrency", 1, "--requests", 1).stderr
        assert "E0718" in run(*words, "--step-model", "a=1", "--isl", 1, "--osl", 1, "--concurrency", 1).stderr
        assert "none: the times of whole steps" in run(*words, "--isl", 1, "--osl", 2, "--concurrency", 1, "--explain").stdout
        table.write_text("phase,batch,context\ndecode,1,1\n")
        assert "E0944" in run(*words, "--isl", 1, "--osl", 2, "--concurrency", 1).stderr
        for rows in ("", "prefill,1,1,0.1\n", "decode,1,1,1e300\n"):  # no decode, or none that can be
            table.write_text("phase,batch,context,seconds\n" + rows)
            for more in (["--concurrency", 1], ["--search", "--slo", "tpot=1s"]):
                assert "E0944" in run(*words, "--isl", 1, "--osl", 2, *more).stderr, rows
        table.write_text("phase,batch,context,seconds\nprefill,1,1,0.1\ndecode,1,1,0.01\ndecode,2,2,0.01\n")
        searched = [*words, "--isl", 10, "--osl", 2, "--search", "--devices", 4]
        several = run(*searched)
        assert several.returncode == 2 and "E0718" in several.stderr and "--step-table" in several.stderr, several.stderr
        assert run(*searched, "--tp", 4, "--pp", 1).stderr.count("W0988") == 1
        program = pathlib.Path(folder, "decode.mlir")
        program.write_text("func.func @main(%x: tensor<64x8192xbf16>, %w: tensor<8192x8192xbf16>) -> tensor<64x8192xbf16> {\n"
                           "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x8192xbf16>\n"
                           "  return %0 : tensor<64x8192xbf16>\n}\n")
        table.write_text("phase,batch,context,seconds\ndecode,1,1,0.01\n")
        without = run(*words, "--isl", 1, "--osl", 2, "--concurrency", 1)
        assert without.returncode == 1 and "E0944" in without.stderr and "no row of prompts" in without.stderr, without.stderr
        table.write_text("phase,batch,context,seconds,bind\nprefill,1,1,0,\ndecode,1,1,0.01,zzz\n")
        bound = run(*words, "--isl", 1, "--osl", 2, "--concurrency", 1)
        assert bound.returncode == 1 and "E0944" in bound.stderr and "`zzz`" in bound.stderr, bound.stderr
        table.write_text(f"phase,batch,context,seconds,program\nprefill,1,1,0,\ndecode,1,1,,{program}\n")
        own = result("serve", "--step-table", table, "--device", "H100_80GB", "--in-process", "--isl", 1, "--osl", 2, "--concurrency", 1, "--requests", 1)
        step = result("run", program, "--device", "H100_80GB")["step_time_s"]
        assert abs(own["step"]["decode_s"] / step - 1) < 1e-9, (own["step"], step)
        load = ["--device", "H100_80GB", "--in-process", "--isl", 1, "--osl", 2, "--concurrency", 1, "--requests", 1]
        programs = ["--prefill", f"{program}:1:1", "--decode", f"{program}:1:1", f"{program}:64:1"]
        same = result("serve", *programs, *load)
        assert same["step"]["decode_s"] == own["step"]["decode_s"] and same["ttft_s"]["mean"] > step, same["ttft_s"]
        decode = ["--decode", f"{program}:1:1"]
        form = "is not PROGRAM:BATCH:CONTEXT"
        for wrong, told in ((decode, "--decode alone gives no steps of prompts"), (programs[:2], "--prefill alone gives no decode steps"),
                            (["--prefill", program, *decode], f"`{program}` {form}"), (["--prefill", ":1:1", *decode], f"`:1:1` {form}"),
                            (["--prefill", f"{program}:0:1", *decode], f"`{program}:0:1` {form}"), ([*programs, "llama3-8b"], f"`llama3-8b` {form}"),
                            ([*programs, "--step-table", table], "E0718"), ([*programs, "--step-model", "a=1e-3"], "--prefill or --decode both"),
                            ([*programs, "--search", "--slo", "tpot=1s", "--devices", 4], "--prefill and --decode have the steps of one layout")):
            refused = run("serve", *wrong, *load)
            assert refused.returncode and told in refused.stderr and "help:" in refused.stderr, refused.stderr
            assert "--step-table" in wrong or "table" not in refused.stderr.replace("--step-table", ""), refused.stderr


def searches_leave_out_the_warm_up():
    with tempfile.TemporaryDirectory() as folder:
        lengths = pathlib.Path(folder, "lengths.csv")
        lengths.write_text("1000\n" * 2 + "10\n" * 98)
        # With this seed long answers, which take a second, are among the first hundred requests alone.
        words = ["serve", "--step-model", "a=1e-3", "--isl", 10, "--osl", f"file:{lengths}", "--requests", 200, "--warm-up", 100, "--seed", 5]
        assert result(*words, "--rate", 1, "--slo", "e2e=0.5s")["e2e_s"]["p99"] < 0.5
        assert result(*words, "--search", "--slo", "e2e=0.5s")["points"][0]["rate"] > 1


def contexts_and_processes_are_chosen():
    long = ["serve", "llama2-7b", "--device", "H100_80GB", "--isl", 5000, "--osl", 10, "--concurrency", 1, "--requests", 1]
    assert "E0720" in run(*long).stderr
    near = result(*long, "--context", 8192, "--in-process")["ttft_s"]["mean"]
    assert abs(result(*long, "--context", 8192)["ttft_s"]["mean"] - near - 0.0156) < 1e-6
    refused = run("serve", "llama3-405b", "--device", "H100_80GB", *LOAD, "--concurrency", 1, "--require-fit")
    assert "16 such devices hold it" in refused.stderr, refused.stderr
    assert result("serve", "llama3-405b", "--device", "H100_80GB", "--devices", 16, *LOAD, "--concurrency", 1)["max_concurrency"] > 0


def explanation_and_price():
    answer = result(*H100, *LOAD, "--concurrency", 16, "--price", "2.5 EUR")
    assert answer["currency"] == "EUR"
    step = answer["step"]
    assert abs(sum(kernel["seconds"] for kernel in step["decode_kernels"]) / step["decode_s"] - 1) < 1e-3
    told = run(*H100, *LOAD, "--concurrency", 16, "--explain").stdout
    assert "gate-up" in told and "attention of decodes" in told, told
    assert "--price" in run(*H100, *LOAD, "--concurrency", 1, "--price", "-1").stderr


def replays_recorded_requests():
    """data/measured/serving.csv.gz has the means of what was recorded; the 4090's blocks are those that vLLM printed."""
    trace = pathlib.Path(__file__).resolve().parents[2] / "data/measured/serving_requests.csv.gz"
    for name, ttft, tpot, words in [
            ("vllm-rtxpro6000-llama-3.1-8b", 7.097, 0.03246, ["llama3-8b", "--device", "RTX_PRO_6000_96GB", "--max-requests", 128]),
            ("vllm-rtx4090-llama-3.1-8b", 65.46, 0.03245, ["llama3-8b", "--device", "RTX_4090_24GB", "--kv-blocks", 2588])]:
        answer = result("serve", *words, "--max-batched-tokens", 2048, "--trace", trace, "--trace-run", name)
        assert abs(answer["tpot_s"]["mean"] / tpot - 1) < 0.15 and abs(answer["ttft_s"]["mean"] / ttft - 1) < 0.25, answer
        assert (answer["preemptions"] > 0) == ("4090" in name)


def outputs_are_equal_for_equal_seeds():
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for name in "ab":
            out = pathlib.Path(folder, name)
            result(*H100, "--isl", "lognormal:500:1", "--osl", "geometric:100", "--rate", 5, "--requests", 200, "--output", out)
            rows = list(csv.DictReader((out / "requests.csv").open()))
            assert len(rows) == 200 and "The first 200 steps" in (out / "report.html").read_text()
            texts.append((out / "requests.csv").read_bytes() + (out / "timeline.csv").read_bytes())
        assert texts[0] == texts[1]


for test in [closed_run_has_all_keys_and_is_fast, no_step_beats_the_datasheet, memory_adds_up, four_bits_are_nine_sixteenths_of_eight, bad_input_is_told, a_rate_above_the_capacity_names_it, bursts_are_held_against_the_least_time_of_steps,
             long_answers_are_no_queue, searches_say_which_queues_grow, room_for_requests_takes_no_memory, decode_steps_cost_the_captured_size, ranks_of_experts_replay_graphs_of_their_own_rows,
             ranks_of_experts_have_schedulers_of_their_own, memory_holds_graphs_tables_and_communicators, workspace_is_the_peak_of_the_steps_program,
             ranks_of_experts_have_limits_of_their_own, a_configuration_is_a_model, search_finds_a_layout_that_keeps_the_limits, searches_are_deterministic_and_their_parts_are_the_whole,
             searches_lose_no_point_of_the_front, searched_rates_are_sustained, searched_rates_are_the_highest, searched_rates_do_not_depend_on_the_lengths_drawn,
             searches_count_what_is_answered, older_engines_read_caches_for_each_query_head,
             rotating_attention_costs_its_traffic_beyond_the_field_model, own_steps_are_a_table, searches_leave_out_the_warm_up,
             contexts_and_processes_are_chosen, explanation_and_price, replays_recorded_requests, outputs_are_equal_for_equal_seeds]:
    test()
    print("ok", test.__name__)
