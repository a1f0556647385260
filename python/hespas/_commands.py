"""The console scripts: the compiled commands that the wheel carries, and what is written in Python itself."""
from __future__ import annotations

import os
import pathlib
import sys

_SHARE = pathlib.Path(__file__).resolve().parent / "share"
_SCRIPTS = {"export": "python/export", "shard": "python/export", "plan": "python/plan", "experiment": "experiments/runner"}
_BIN = pathlib.Path(__file__).resolve().parent / "bin"


def _become(name: str) -> None:
    """Runs the compiled program, which takes the name that it is called by for the command."""
    os.execv(_BIN / "hespas", [name, *sys.argv[1:]])


def hespas() -> None:
    command = sys.argv[1] if sys.argv[1:] else ""
    folder = _SCRIPTS.get(command)
    if command == "sweep" and any(word.split("=")[0] in ("--on", "--search") for word in sys.argv[2:]):
        folder = "python/sweep"
    if folder:
        os.environ["HESPAS_COMMAND"] = str(_BIN / "hespas")
        os.execv(sys.executable, [sys.executable, _SHARE / folder / f"{command}.py", *sys.argv[2:]])
    _become("hespas")


def hespas_chakra_gen() -> None:
    _become("hespas_chakra_gen")


def hespas_mlir_analyzer() -> None:
    _become("hespas_mlir_analyzer")


def hespas_mlir_splitter() -> None:
    _become("hespas_mlir_splitter")


def hespas_calibrated_estimator() -> None:
    _become("hespas_calibrated_estimator")


def hespas_roofline_estimator() -> None:
    _become("hespas_roofline_estimator")
