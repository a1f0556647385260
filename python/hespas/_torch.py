"""PyTorch's exported programs as StableHLO. Neither PyTorch nor PyTorch/XLA is needed for anything else."""
from __future__ import annotations

from typing import Any

from hespas import _core


def is_exported(source: Any) -> bool:
    """Whether `source` is a `torch.export.ExportedProgram`, or what PyTorch/XLA makes of one."""
    return type(source).__module__.startswith("torch.export") or hasattr(source, "get_stablehlo_text")


def program_of(source: Any) -> tuple[bytes, str]:
    """StableHLO text of an exported program (by `torch_xla.stablehlo`) and its name."""
    if not hasattr(source, "get_stablehlo_text"):
        source = _converter()(source)
    return source.get_stablehlo_text().encode(), "<torch.export>"


def _converter() -> Any:
    try:
        from torch_xla import stablehlo
    except ImportError as error:
        _core.error("E0950", f"a torch.export program is not StableHLO yet, and PyTorch/XLA cannot convert it here: {error}",
                    "pip install torch_xla in the version of your torch and set PJRT_DEVICE=CPU, or convert elsewhere and load the text")
    return stablehlo.exported_program_to_stablehlo
