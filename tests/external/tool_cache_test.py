"""Answers of external tools are kept: by operation, shapes, types, content of the configuration and version of the tool."""

import json
import pathlib
import shutil
import tempfile
import unittest

import command

FAKE = command.ROOT / "tests/external/fake_tool.py"
BLOCKS = 6
# Equal matmuls in blocks that differ in nothing, and one of another shape.
PROGRAM = "func.func @main(%a: tensor<64x64xbf16>, %b: tensor<32x64xbf16>) -> (tensor<64x64xbf16>, tensor<32x64xbf16>) {\n" + "".join(
    f"  %{i + 1} = stablehlo.dot_general %{i if i else 'a'}, %a, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>\n"
    for i in range(BLOCKS)) + (
        "  %r = stablehlo.dot_general %b, %a, contracting_dims = [1] x [0] : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>\n"
        f"  return %{BLOCKS}, %r : tensor<64x64xbf16>, tensor<32x64xbf16>\n}}\n")
WORKER = """import json, sys
print(json.dumps({"ready": True, "name": "counting", "version": "VERSION", "costs": ["dot_general"]}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    open("CALLS", "a").write(request["operands"][0]["dtype"] + "\\n")
    print(json.dumps({"id": request["id"], "ok": True, "seconds": 1e-3}), flush=True)
"""


class Cache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = ["--cache", self.folder / "estimates.sqlite"]

    def estimate(self, estimator, *words, program=PROGRAM, environment=None):
        done = command.run("run", "-", "--optimise", "none", "--device", "TPUv3", "--num-npus", "1", "--network-backend", "none",
                           "--estimator", estimator, "--format", "json", *map(str, words), stdin=program, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("W0517", done.stderr)
        rows = {row["name"]: row for row in json.loads(done.stdout)["ops"]}
        return float(rows["stablehlo.dot_general"]["time_s"])

    def calls(self, name):
        path = self.folder / name
        return len(path.read_text().splitlines()) if path.exists() else 0


class Simulators(Cache):
    def onnxim(self, *words, tool=FAKE):
        (self.folder / "case.json").write_text(json.dumps({"stdout": "Total compute time 1000\n"}))
        return self.estimate("onnxim", "--tool-path", tool, "--tool-config", self.folder / "npu.json", *words,
                             environment={"HESPAS_FAKE_TOOL": str(self.folder / "case.json")})

    def test_equal_blocks_call_the_tool_once(self):
        (self.folder / "npu.json").write_text('{"core_freq": 1000}')
        for words in ([], ["--cache", "none"], ["--split", "linear"]):
            before = self.calls("seen.jsonl")
            self.assertAlmostEqual(self.onnxim(*words), (BLOCKS + 1) * 1e-6)
            self.assertEqual(self.calls("seen.jsonl") - before, 2, words)

    def test_a_kept_cache_calls_nothing(self):
        (self.folder / "npu.json").write_text('{"core_freq": 1000}')
        for split in ("individual", "linear"):
            first = self.onnxim("--split", split, *self.cache)
            before = self.calls("seen.jsonl")
            self.assertEqual(self.onnxim("--split", split, *self.cache), first)
            self.assertEqual(self.calls("seen.jsonl"), before)

    def test_another_configuration_or_tool_is_asked(self):
        config = self.folder / "npu.json"
        config.write_text('{"core_freq": 1000}')
        first = self.onnxim(*self.cache)
        config.write_text('{ "core_freq":1000 }')  # other bytes, the same content
        self.onnxim(*self.cache)
        self.assertEqual(self.calls("seen.jsonl"), 2)
        config.write_text('{"core_freq": 500}')
        self.assertAlmostEqual(self.onnxim(*self.cache), 2 * first)
        self.assertEqual(self.calls("seen.jsonl"), 4)
        newer = self.folder / "newer_tool.py"
        shutil.copy(FAKE, newer)
        newer.write_text(newer.read_text() + "# a new version\n")
        self.onnxim(*self.cache, tool=newer)
        self.assertEqual(self.calls("seen.jsonl"), 6)


class Workers(Cache):
    def worker(self, version):
        path = self.folder / "worker.py"
        path.write_text("#!/usr/bin/env python3\n" + WORKER.replace("VERSION", version).replace("CALLS", str(self.folder / "calls")))
        path.chmod(0o755)
        return f"exec:{path}"

    def test_a_new_version_and_new_types_are_asked(self):
        one = self.worker("1")
        for _ in range(2):
            self.assertAlmostEqual(self.estimate(one, *self.cache), (BLOCKS + 1) * 1e-3)
            self.assertEqual(self.calls("calls"), 2)
        self.estimate(one, *self.cache, program=PROGRAM.replace("bf16", "f32"))
        self.assertEqual((self.folder / "calls").read_text().split(), ["bf16"] * 2 + ["f32"] * 2)
        self.estimate(self.worker("2"), *self.cache)
        self.assertEqual(self.calls("calls"), 6)

    def test_the_content_of_a_configuration_counts(self):
        accelerator, script = self.folder / "accelerator.yaml", self.folder / "python"
        # A stand-in for Python that runs the counting worker whatever script it is given.
        self.worker("1")
        script.write_text(f"#!/bin/sh\nexec python3 {self.folder}/worker.py\n")
        script.chmod(0o755)
        for i, text in enumerate(["cells: 1\n", "cells: 1\n", "cells: 2\n"]):
            accelerator.write_text(text)
            self.estimate("zigzag_onnx", "--tool-path", script, "--tool-config", accelerator, *self.cache)
            self.assertEqual(self.calls("calls"), [2, 2, 4][i])


del Cache

if __name__ == "__main__":
    unittest.main()
