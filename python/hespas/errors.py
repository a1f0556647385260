"""Exceptions that mirror Hespas' error codes.

`hespas explain E0806` explains a code; here `hespas.errors.E0806` is the class that is raised for it, below the class of its kind:

    HespasError
      InputError        exit status 1: a program, device, system or trace has a defect (also a ValueError)
      UsageError        exit status 2: an unknown name or an impossible choice (also a ValueError)
      UnsupportedError  exit status 3: understood, but not supported
      CannotRunError    exit status 4: nothing wrong with the input, but it cannot be run as asked
      ToolError         exit status 5: an outside program failed
      InternalError     exit status 70: a defect of Hespas
"""
from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
from typing import Any


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One error or warning: what was seen, where, and what to do about it. Lines and columns count from 1; 0 is unknown."""

    code: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""
    help: str = ""
    exit_status: int = 1
    text: str = ""

    @property
    def location(self) -> str:
        """"FILE:LINE:COLUMN", or what of it is known."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def __str__(self) -> str:
        return self.text.rstrip("\n")


class HespasError(Exception):
    """What Hespas reports. `errors` are all errors of the input, the first of them is in the other attributes."""

    def __init__(self, errors: list[Diagnostic]):
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = errors
        first = errors[0]
        self.code = first.code
        self.message = first.message
        self.location = first.location
        self.file, self.line, self.column = first.file, first.line, first.column
        self.help = first.help
        self.exit_status = first.exit_status

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.errors,)


class InputError(HespasError, ValueError):
    """A program, device, system or trace has a defect (exit status 1)."""


class UsageError(HespasError, ValueError):
    """An unknown name, or a choice that is not there (exit status 2)."""


class UnsupportedError(HespasError, NotImplementedError):
    """Understood, but not supported (exit status 3)."""


class CannotRunError(HespasError, RuntimeError):
    """The input is good, but it cannot be run as asked (exit status 4)."""


class ToolError(HespasError, RuntimeError):
    """An outside program failed (exit status 5)."""


class InternalError(HespasError, RuntimeError):
    """A defect of Hespas; please report it (exit status 70)."""


_BY_EXIT_STATUS: dict[int, type[HespasError]] = {
    1: InputError, 2: UsageError, 3: UnsupportedError, 4: CannotRunError, 5: ToolError, 70: InternalError}


@functools.cache
def _codes() -> dict[str, dict[str, Any]]:
    from hespas import _core

    return json.loads((pathlib.Path(_core.data_folder()) / "errors.json").read_text())["codes"]


@functools.cache
def _class(code: str, exit_status: int) -> type[HespasError]:
    base = _BY_EXIT_STATUS.get(exit_status, HespasError)
    explanation = _codes().get(code, {}).get("explanation", base.__doc__)
    return type(code, (base,), {"__doc__": explanation, "__module__": __name__, "code": code})


def __getattr__(name: str) -> type[HespasError]:
    if name[:1] == "E" and name[1:].isdigit() and name in _codes():
        return _class(name, _codes()[name]["exit_status"])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *(code for code in _codes() if code.startswith("E"))])


def explain(code: str) -> str:
    """What `hespas explain CODE` prints of a code's meaning; KeyError for a code that does not exist."""
    return _codes()[code]["explanation"]


def diagnostics(rows: list[tuple[Any, ...]]) -> list[Diagnostic]:
    """From the tuples that the C++ side hands over."""
    return [Diagnostic(*row) for row in rows]


def _rebuild(errors: list[Diagnostic]) -> HespasError:
    return _class(errors[0].code, errors[0].exit_status)(errors)


def make(rows: list[tuple[Any, ...]]) -> HespasError:
    """The exception for the errors of one call; called by the C++ side."""
    return _rebuild(diagnostics(rows) or [Diagnostic("E0903", "failed without a reason", exit_status=70)])
