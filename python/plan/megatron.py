"""A configuration under Megatron-LM instead of XLA, by the rules that its parts publish: memory of a device, and what its step waits for.

State: Megatron Core's user guide, "Distributed Optimizer": weights in bf16 and main gradients in fp32 on every data-parallel device, fp32 weights
and moments divided over all of them, context parallel ones included: 6 + 12/d bytes. Experts are data parallel over what their own axis leaves.
Activations: Transformer Engine's modules keep their inputs (linear, norm, SwiGLU), attention q, k, v, its output and log-sum-exps; fused cross
entropy keeps the logits in bf16 and turns them into their gradients in place. With sequence parallelism, tensor devices divide all of it.
Beside them: Transformer Engine 2.3 and later keeps a bf16 placeholder for each shape of weights whose gradients it adds in place, and 2.8 and later
keeps attention's output in both layouts of all-to-all context parallelism.
Time: PyTorch starts each kernel from the host, in no CUDA graph; programs with weights in bf16 and fp32 copies, of which nothing is computed while something is exchanged: neither tensor parallelism
(--tp-comm-overlap), nor the sums of gradients (--overlap-grad-reduce), nor experts do so unless they are told. Gradients are summed once a step.
"""
import dataclasses
import math

import costs
from models.maxtext_weights import layer as layer_weights, shapes

KEYS = {"weight_dtype": "bfloat16", "main_weights": True}
SPLIT = {"heads", "mlp", "vocab"}  # logical axes that tensor parallelism divides
HALF, WHOLE = 2, 4  # bytes of bf16 and fp32


def state(leaf, of):
    """Of a weight, its gradient and what the optimiser has of it."""
    shape, logical = leaf
    expert = "expert" in logical
    own = math.prod(shape) / (of["tensor"] if SPLIT & set(logical) else 1) / (of["expert"] if expert else 1)
    shared = of["data"] * of["context"] * (1 if expert else of["expert"])
    return own * (HALF + WHOLE + 3 * WHOLE / shared)


def attention_matrices(config):
    """(inputs, outputs, whether tensor devices divide it); queries, keys and values are one, and so are the two inputs of SwiGLU."""
    width, latent = config.width, config.latent
    out = (config.heads * config.value_head, width, True)
    if not latent:
        return [(width, (config.heads + 2 * config.kv_heads) * config.head, True), out]
    up = (latent.rank, config.heads * (latent.nope + config.value_head), True)
    query = config.heads * (latent.nope + latent.rope)
    queries = [(width, latent.query_rank, False), (latent.query_rank, query, True)] if latent.query_rank else [(width, query, True)]
    return [out, (width, latent.rank + latent.rope, False), up, *queries]


def mlp_matrices(config, kind):
    sizes = [config.expert_mlp, config.shared_experts * config.expert_mlp] if kind.experts else [config.mlp]
    return [each for inner in sizes if inner for each in ((config.width, len(config.activations) * inner, True), (inner, config.width, True))]


def placeholders(config, own, of, last):
    matrices = {each for kind in own for each in (*attention_matrices(config), *mlp_matrices(config, kind))}
    ends = {(config.width, config.vocabulary, True)} if last else set()
    return sum(HALF * inputs * outputs / (of["tensor"] if divided else 1) for inputs, outputs, divided in matrices | ends)


def attention_kept(config):
    """Elements of a token: those that tensor devices divide, and those that each has."""
    inner, latent = config.heads * config.value_head, config.latent
    if not latent:
        return 2 * config.width + (config.heads + 2 * config.kv_heads) * config.head + inner, 0
    narrow = 2 * latent.query_rank + 2 * latent.rank + latent.rope  # inputs and results of the norms between the projections
    return 2 * config.width + config.heads * 2 * (latent.nope + latent.rope) + 2 * inner, narrow


def mlp_kept(config, kind):
    """Norm and projections keep their inputs, and SwiGLU its own: the results of the first projections."""
    held = len(config.activations) + 1
    if not kind.experts:
        return 2 * config.width + held * config.mlp
    return 2 * config.width + config.experts_per_token * (config.width + held * config.expert_mlp) + held * config.shared_experts * config.expert_mlp


def layer_kept(config, kind, of):
    """Bytes of a token."""
    divided, each = attention_kept(config)
    both = config.heads * config.value_head if of["context"] > 1 else 0
    return (HALF * (divided + both + mlp_kept(config, kind)) + WHOLE * config.heads) / of["tensor"] + HALF * each


def layers_kept(config, own, of, remat, flights):
    """Bytes of a token in all layers of a stage; full recomputation keeps their inputs, and the layer at which it is."""
    each = [layer_kept(config, kind, of) for kind in own]
    return flights * len(each) * HALF * config.width / of["tensor"] + max(each) if remat == "full" else flights * sum(each)


def stage_memory(config, candidate, at, flights):
    """`flights`: microbatches of which the stage holds activations when it holds most."""
    of, stages = candidate.of, candidate.stages
    every = [kind for count, cycle in config.groups for _ in range(count) for kind in cycle]
    own = every[len(every) * at // stages:len(every) * (at + 1) // stages]
    first, last = at == 0, at == stages - 1
    ends = [leaf for name, leaf in shapes(config).items() if (first and name in ("embedding", "positions")) or (last and name.startswith(("norm", "logits")))]
    leaves = [*ends, *(leaf for kind in own for leaf in layer_weights(config, kind).values())]
    tokens = candidate.microbatch * config.sequence / of["context"]
    kept = tokens * layers_kept(config, own, of, candidate.remat, flights)
    logits = tokens * HALF * (config.vocabulary + 2 * config.width) / of["tensor"] if last else 0
    return sum(state(leaf, of) for leaf in leaves) + kept + logits + placeholders(config, own, of, last)


def peak_memory(config, candidate, flights):
    """Of the fullest device; `flights`: by stage."""
    return max(stage_memory(config, candidate, at, held) for at, held in enumerate(flights))


def waiting(figures):
    """Figures of a program where no exchange is hidden; the passes wait for their share."""
    hidden = figures["overlap_s"]
    passes = figures["forward_s"] + figures["backward_s"]
    longer = {name: figures[name] * (1 + hidden / passes) if passes else 0.0 for name in ("forward_s", "backward_s")}
    return {**figures, **longer, "step_time_s": figures["step_time_s"] + hidden, "exposed_communication_s": figures["exposed_communication_s"] + hidden}


def launched_one_by_one(request):
    return dataclasses.replace(request, flags=(*request.flags, "--xla_gpu_enable_command_buffer="))


def requests(problem, candidate):
    """Of a pipeline its stages, else: a step of one microbatch, and what two and three take without the data axis."""
    if candidate.stages > 1:
        return {part: launched_one_by_one(each) for part, each in costs.requests(problem, candidate).items()}
    counts = {"whole": (1, None), **({"two": (2, 1), "three": (3, 1)} if candidate.microbatches > 1 else {})}
    return {part: launched_one_by_one(costs.request(problem, dataclasses.replace(candidate, microbatches=count), data=data, most=count))
            for part, (count, data) in counts.items()}


def step_time(problem, candidate, answers):
    waits = {part: waiting(each) for part, each in answers.items()}
    if candidate.stages > 1:
        return costs.figures(problem, candidate, waits)["step_time_s"]
    more = candidate.microbatches - 1
    return waits["whole"]["step_time_s"] + (more * (waits["three"]["step_time_s"] - waits["two"]["step_time_s"]) if more else 0.0)
