"""Commands of `hespas` that answer in a process of their own."""
from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, Sequence

from hespas import errors


def answer_of(words: Sequence[str], accepted: Sequence[int] = (0,), *, may_be_empty: bool = False) -> str:
    """What `hespas WORDS` prints. Raises the errors that it tells, and KeyboardInterrupt where it was interrupted."""
    done = subprocess.run([sys.executable, "-c", "from hespas._commands import hespas; hespas()", *words], capture_output=True, text=True, check=False)
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode not in accepted or not (done.stdout or may_be_empty):
        raise errors.make(_told(done.stderr, done.returncode))
    return done.stdout


def _told(text: str, status: int) -> list[tuple[Any, ...]]:
    """The errors that the command printed, as the rows that `errors.make` takes."""
    found = re.finditer(r"^(?:(.*?):(\d+):(\d+): )?error\[(E\d+)\]: (.*)$", text, re.M)
    rows = [(code, message, file or "", int(line or 0), int(column or 0), "", "", status, "") for file, line, column, code, message in
            (match.groups() for match in found)]
    helps = re.findall(r"^help: (.*)$", text, re.M)
    return [row[:6] + (helps[i] if len(helps) == len(rows) else "; ".join(helps), *row[7:]) for i, row in enumerate(rows)] or [
        ("E0903", text.strip() or "the command could not be run", "", 0, 0, "", "", status, "")]
