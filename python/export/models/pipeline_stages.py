"""Pipelines as one program a stage (MPMD): GPipe, 1F1B and interleaved. Neighbours meet by send and recv of one channel.

Stage s of p holds chunks s, s + p, ... of the layers; a chunk is `pipeline.stage`. A task is one chunk's forward or backward pass of one
microbatch. Inputs and the gradients of the last chunk's outputs are arguments, one for each microbatch (the loss is another program's),
as are the sums of gradients; so all stages do the same work. Orders: Narayanan et al. 2021, section 2.2.
"""
import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax._src import effects
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jaxlib.mlir.dialects import stablehlo

from models.common import Step, abstract
from models.pipeline import CHUNKS, stage

SCHEDULES = ("gpipe", "1f1b", "interleaved")


@dataclasses.dataclass(frozen=True)
class Plan:
    schedule: str
    stages: int
    microbatches: int
    training: bool

    @property
    def chunks(self):
        return CHUNKS if self.schedule == "interleaved" else 1

    def tasks(self, at):
        """(backward?, chunk, microbatch) in the order in which stage `at` runs them."""
        total = self.chunks * self.microbatches
        turn = self.stages * self.chunks  # tasks between a chunk's groups of microbatches
        forward = [(False, k // self.stages % self.chunks, k // turn * self.stages + k % self.stages) for k in range(total)]
        if not self.training:
            return forward
        backward = [(True, self.chunks - 1 - chunk, microbatch) for _, chunk, microbatch in forward]
        ahead = {"gpipe": total, "1f1b": self.stages - 1 - at,
                 "interleaved": 2 * (self.stages - 1 - at) + (self.chunks - 1) * self.stages}[self.schedule]
        ahead = min(ahead, total)
        pairs = zip(forward[ahead:], backward)
        return [*forward[:ahead], *(task for pair in pairs for task in pair), *backward[total - ahead:]]

    def channel(self, part, microbatch, backward):
        """Of what enters a part (chunk * stages + stage); from 1 on."""
        return 1 + (part * self.microbatches + microbatch) * 2 + backward


# --- send and recv, which JAX has only to its host ------------------------------------------------------------------------------


class Transfer(effects.Effect):
    pass


effects.lowerable_effects.add_type(Transfer)
send_p, recv_p = Primitive("send"), Primitive("recv")
send_p.multiple_results = True
send_p.def_effectful_abstract_eval(lambda value, *, channel: ([], {Transfer()}))
recv_p.def_effectful_abstract_eval(lambda *, channel, shape, dtype: (jax.core.ShapedArray(shape, dtype), {Transfer()}))


def _handle(channel):
    return stablehlo.ChannelHandle.get(channel, 1)  # 1: from device to device


def _lower_send(_, value, *, channel):
    stablehlo.SendOp([value], stablehlo.create_token(), _handle(channel), is_host_transfer=mlir.ir.BoolAttr.get(False))
    return []


def _lower_recv(context, *, channel, shape, dtype):
    result = [mlir.aval_to_ir_type(context.avals_out[0]), stablehlo.TokenType.get()]
    received = stablehlo.RecvOp(result, stablehlo.create_token(), _handle(channel), is_host_transfer=mlir.ir.BoolAttr.get(False))
    return received.results[:1]


mlir.register_lowering(send_p, _lower_send)
mlir.register_lowering(recv_p, _lower_recv)


class Wire:
    """What a stage's program says to its neighbours; tests put queues in its place."""

    def send(self, value, channel):
        send_p.bind(value, channel=channel)

    def receive(self, like, channel):
        return recv_p.bind(channel=channel, shape=like.shape, dtype=like.dtype)


# --- a stage's step --------------------------------------------------------------------------------------------------------------


def whole(task):
    """What a task makes is there at its end, not before: nothing is sent from its middle, as where each is an executable of its own."""
    return lax.optimization_barrier(task)


def run_stage(plan, at, wire, like, weights, inputs, upstream, gradients):
    """All tasks of a stage; `like` has the shape of what passes. `weights` and `gradients` have an entry for each chunk, `inputs` (stage 0)
    and `upstream` (last stage) for each microbatch. Returns the sums of gradients, and what leaves the pipeline by (backward?, microbatch)."""
    last = plan.chunks * plan.stages - 1
    pulls, leaving, gradients, before = {}, {}, list(gradients), None
    for backward, chunk, microbatch in plan.tasks(at):
        part = chunk * plan.stages + at
        first, onward = (last, part - 1) if backward else (0, part + 1)
        if part == first:
            x = (upstream if backward else inputs)[microbatch]
        else:
            x = wire.receive(like, plan.channel(part, microbatch, backward))
        if before is not None:  # a device does one task after the other
            x, _ = whole((x, before))
        if backward:
            more, before = pulls.pop((chunk, microbatch))(x)
            before, gradients[chunk] = whole((before, jax.tree.map(jnp.add, gradients[chunk], more)))
        elif plan.training:
            before, pulls[chunk, microbatch] = whole(jax.vjp(stage, weights[chunk], x))
        else:
            before = stage(weights[chunk], x)
        if 0 <= onward <= last:
            wire.send(before, plan.channel(onward, microbatch, backward))
        else:
            leaving[backward, microbatch] = before
    return gradients, leaving


def programs(mesh, *, schedule="1f1b", stages=4, microbatches=8, rows=2048, width=4096, inner=None, training=True, dtype="bfloat16"):
    """Pairs of "stageN" and its Step, each for one device (its whole tensors; nothing is split)."""
    if schedule not in SCHEDULES:
        raise ValueError(f"`{schedule}` is no schedule; they are {', '.join(SCHEDULES)}")
    plan = Plan(schedule, stages, microbatches, bool(training))
    if plan.chunks > 1 and microbatches % stages:
        raise ValueError(f"the interleaved schedule needs a multiple of {stages} microbatches")
    kind, inner = jnp.dtype(dtype), inner or 4 * width
    like = abstract(mesh, (rows, width), kind)
    weights = [(abstract(mesh, (width, inner), kind), abstract(mesh, (inner, width), kind))] * plan.chunks
    for at in range(stages):
        inputs = [like] * microbatches if at == 0 else []
        upstream = [like] * microbatches if training and at == stages - 1 else []
        function = functools.partial(run_stage, plan, at, Wire(), like)
        yield f"stage{at}", Step(function, (weights, inputs, upstream, weights if training else []), donate=(3,))
