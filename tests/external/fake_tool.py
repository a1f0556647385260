#!/usr/bin/env python3
"""Plays recorded calls of an external simulator: checks arguments, folder and input, prints what the tool printed.

HESPAS_FAKE_TOOL names a JSON file: {"layers": text, "stdout": text, "status": n, "signal": n, "sleep": s}; what it was called with
is written beside it as `seen.json`.
"""
import json
import os
import pathlib
import signal
import sys
import time

case = pathlib.Path(os.environ["HESPAS_FAKE_TOOL"])
play = json.loads(case.read_text())
seen = {"arguments": sys.argv[1:], "folder": os.getcwd()}
home = os.environ.get("ONNXIM_HOME")
if home is not None:
    seen["model"] = (pathlib.Path(home) / "models/op/op.onnx").read_bytes().hex()
    seen["config"] = json.loads(pathlib.Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
    seen["list"] = json.loads(pathlib.Path(sys.argv[sys.argv.index("--models_list") + 1]).read_text())
else:
    seen["layers"] = pathlib.Path("layers.txt").read_text()
with open(case.parent / "seen.jsonl", "a") as file:
    file.write(json.dumps(seen) + "\n")
time.sleep(play.get("sleep", 0))
sys.stdout.write(play.get("stdout", ""))
sys.stdout.flush()
sys.stderr.write(play.get("stderr", ""))
if play.get("signal"):
    os.kill(os.getpid(), getattr(signal, play["signal"]))
sys.exit(play.get("status", 0))
