"""Ready configurations: name -> module and its parameters. `hespas export --list` shows them."""
import dataclasses
import importlib
import inspect

from models import server_configuration
from models.refused import Refused


@dataclasses.dataclass(frozen=True)
class Ready:
    module: str
    parameters: dict
    axes: dict
    summary: str
    listed: bool = True


SERVER = "batch, context, prompts, prompt, weights=fp8, layers"
CONFIGURATION = "config.json"


def _catalogue():
    ready = {}
    for name in ("tiny", "100m", "200m", "500m", "1b", "2b", "3b", "8b", "70b"):
        ready[f"llama3-{name}"] = Ready("llama", {"model": f"llama3-{name}"}, {"fsdp": 4}, "LLaMA-3 training step; batch, sequence, scan=1")
    for name in ("7b", "13b", "70b"):
        ready[f"llama2-{name}"] = Ready("llama", {"model": f"llama2-{name}"}, {"fsdp": 4},
                                        "the same step with Llama-2's dimensions; batch, sequence, scan=1")
    for depth in (18, 34, 50, 101, 152, 200):
        ready[f"resnet{depth}"] = Ready("resnet", {"depth": depth}, {"batch": 4}, "ResNet training step; batch, image, inference=1")
    for size in ("base", "large"):
        ready[f"bert-{size}"] = Ready("bert", {"size": size}, {"batch": 4}, "BERT training step; batch, sequence, predictions")
    ready["gemm"] = Ready("gemm", {}, {"x": 4}, "one distributed matmul; m, n, k, layout, dtype; lists as in m=1024,4096 sweep")
    ready["moe-capacity"] = Ready("moe", {"kind": "capacity"}, {"expert": 4}, "mixture of experts by all-to-all; tokens, count, top, ...")
    ready["moe-ragged"] = Ready("moe", {"kind": "ragged"}, {"expert": 4}, "mixture of experts with ragged matmuls")
    ready["gpt-prefill"] = Ready("gpt", {"phase": "prefill"}, {"tensor": 4}, "GPT inference, a prompt; layers, width, batch, prompt")
    ready["gpt-decode"] = Ready("gpt", {"phase": "decode"}, {"tensor": 4}, "GPT inference, one token; layers, width, batch, context")
    for model in server_configuration.ready():
        for phase in ("decode", "prefill", "mixed"):
            ready[f"{model}-{phase}"] = Ready("serving", {"model": model, "phase": phase}, {"tensor": 1}, "a step of a server: " + SERVER, model == "llama3-8b")
    ready[CONFIGURATION] = Ready("serving", {}, {"tensor": 1}, f"the same of a Hugging Face configuration: phase, {SERVER}")
    for schedule in ("gpipe", "1f1b", "interleaved"):
        ready[f"pipeline-{schedule}"] = Ready("pipeline", {"schedule": schedule}, {"stage": 4}, "pipeline; microbatches, rows, width")
        ready[f"pipeline-{schedule}-mpmd"] = Ready("pipeline_stages", {"schedule": schedule}, {"device": 1},
                                                   "a program for each stage; stages, microbatches, rows, width, training=0")
    return ready


READY = _catalogue()


def programs(name, mesh, parameters):
    """Pairs of a suffix and a Step; most configurations have one, without suffix."""
    ready = READY[name]
    module = importlib.import_module(f"models.{ready.module}")
    given = {**ready.parameters, **parameters}
    several = hasattr(module, "programs")
    function = module.programs if several else module.build
    _check(function, ready.parameters, parameters)
    if several:
        yield from function(mesh, **given)
    else:
        yield "", function(mesh, **given)


def _check(function, fixed, given):
    takes = inspect.signature(function).parameters
    unknown = [key for key in given if key not in takes]
    if unknown and not any(each.kind is each.VAR_KEYWORD for each in takes.values()):
        free = [key for key in takes if key != "mesh" and key not in fixed]
        raise Refused(f"there is no parameter `{unknown[0]}`", f"--set takes {', '.join(free)}")
