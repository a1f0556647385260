"""Sweep files: `hespas sweep` from Python, and its tables."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any, Iterable

from hespas import _jax, errors
from hespas._answers import answer_of
from hespas.result import rows_as_html


class SweepTable:
    """The rows of a sweep, in the order of their points: a dict each, with the columns of `hespas sweep --format jsonl`.

    Times are seconds (`step_time_ps` is exact), sizes bytes, energies joule; what a row has no value for is None; `error` is a code.
    """

    def __init__(self, rows: list[dict[str, Any]]):
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __getitem__(self, at: int) -> dict[str, Any]:
        return self.rows[at]

    def best(self, column: str = "step_time_s") -> dict[str, Any]:
        """The row with the least of a column; ValueError where none has it."""
        return min((row for row in self.rows if row[column] is not None), key=lambda row: row[column])

    def to_pandas(self) -> Any:
        """A DataFrame; needs pandas."""
        return _jax.pandas().DataFrame(self.rows)

    def to_parquet(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the rows as one Parquet file; needs pyarrow (`pip install 'hespas[sweep]'`). Columns of mixed types become texts."""
        import pyarrow
        import pyarrow.parquet
        columns = {name: [row.get(name) for row in self.rows] for name in (self.rows[0] if self.rows else {})}
        pyarrow.parquet.write_table(pyarrow.table({name: _column(values) for name, values in columns.items()}), path)
        return pathlib.Path(path)

    def __repr__(self) -> str:
        failed = sum(row["error"] is not None for row in self.rows)
        return f"<hespas.SweepTable of {len(self)} points" + (f", {failed} failed>" if failed else ">")

    def _repr_html_(self) -> str:
        return rows_as_html(self.rows)


def _column(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 and not kinds & {dict, list} or kinds == {int, float}:
        return [float(value) for value in values] if kinds == {int, float} and None not in values else values
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]


def read_sweep(folder: str | os.PathLike[str]) -> SweepTable:
    """The rows in a sweep's output folder (or a file of JSON lines), by point; a line that is cut off is left out."""
    path = pathlib.Path(folder)
    path = path / "rows.jsonl" if path.is_dir() else path
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return SweepTable(sorted((json.loads(line) for line in lines), key=lambda row: row["point"]))


def sweep_file(sweep: str | os.PathLike[str] | dict[str, Any], output: str | os.PathLike[str] | None = None, *, threads: int | None = None,
               subject_to: Iterable[str] = (), minimise: str | None = None, tokens: float | None = None,
               price_per_hour: float | str | None = None, on: str | None = None, clean: bool = False) -> SweepTable:
    """Runs a sweep file, or a dict of the same form: `hespas sweep`.

    output      folder for the rows; an unfinished sweep in it is resumed. None: nothing is kept
    subject_to  conditions on results, such as "peak_memory < 80 GB": other rows are left out
    tokens, price_per_hour   tokens of a whole run; price of one device, or "H100_80GB=3,A100_SXM_40GB=1.5": adds costs
    on          "ray", "ray=ADDRESS" or "slurm": on a cluster; needs `output`

    Raises UsageError or InputError for what the command refuses; KeyboardInterrupt on Ctrl-C, behind the points under way.
    """
    subject_to = list(subject_to)
    with tempfile.TemporaryDirectory() as place:
        path = os.fspath(sweep) if not isinstance(sweep, dict) else os.path.join(place, "sweep.json")
        if isinstance(sweep, dict):
            pathlib.Path(path).write_text(json.dumps(sweep), encoding="utf-8")
        words = ["sweep", path, "--quiet"]
        for option, value in (("--threads", threads), ("--minimise", minimise), ("--tokens", tokens), ("--price-per-hour", price_per_hour),
                              ("--output", output), ("--on", on)):
            words += [option, str(value)] if value is not None else []
        words += [word for condition in subject_to for word in ("--subject-to", condition)]
        words += ["--clean"] if clean else []
        words += [] if on else ["--format", "jsonl"] + (["--feasible"] if subject_to else [])
        printed = answer_of(words, may_be_empty=True)
    if on:
        return read_sweep(output)
    return SweepTable([json.loads(line) for line in printed.splitlines()])
