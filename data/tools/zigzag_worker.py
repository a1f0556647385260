#!/usr/bin/env python3
"""Costs matmuls and convolutions by ZigZag, speaking the JSON-lines protocol of docs/estimators.md.

usage: zigzag_worker.py ACCELERATOR.yaml MAPPING.yaml CLOCK_HZ [LPF_LIMIT]
needs: zigzag-dse 3.9.1, six and onnx from PyPI (`scripts/python_env.sh zigzag` makes an environment with them)

ZigZag takes 8-bit operands and 16-bit sums unless told otherwise; here they have the widths of the operation's types. A mapping that uses less than
a thousandth of the array is refused: its dimension names do not fit the accelerator's.
"""
import contextlib
import json
import os
import sys

LEAST_UTILISATION = 1e-3
BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i8": 8, "ui8": 8, "i4": 4, "i16": 16, "i32": 32}


def bits(dtype):
    return BITS.get(dtype, 8 if dtype.startswith("f8") else 16)


def onnx_model(request):
    """A model of one node; its shapes are permuted already, and no data are needed."""
    from onnx import TensorProto, helper
    if "convolution" in request:
        layer = request["convolution"]
        shapes = layer["input"], layer["kernel"], layer["output"]
        attributes = {"kernel_shape": layer["kernel"][2:], "strides": layer["strides"], "pads": layer["padding"],
                      "dilations": layer["dilations"], "group": layer["groups"]}
        kind = "Conv"
    else:
        b, m, n, k = (round(request["matmul"][name]) for name in "bmnk")
        batch = [b] if b > 1 else []
        shapes, attributes, kind = ([*batch, m, k], [*batch, k, n], [*batch, m, n]), {}, "MatMul"
    operand = bits(request["operands"][0]["dtype"])
    attributes.update(act_size=operand, weight_size=operand, output_size=bits(request["results"][0]["dtype"]))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip("xy", shapes[::2]))
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1], [0.0])
    del weights.dims[:], weights.float_data[:]
    weights.dims.extend(shapes[1])
    node = helper.make_node(kind, ["x", "w"], ["y"], name="op", **attributes)
    return helper.make_model(helper.make_graph([node], "op", [x], [y], [weights]))


def stages():
    from zigzag.stages.evaluation.cost_model_evaluation import CostModelStage
    from zigzag.stages.mapping.spatial_mapping_generation import SpatialMappingGeneratorStage
    from zigzag.stages.mapping.temporal_mapping_generator_stage import TemporalMappingGeneratorStage
    from zigzag.stages.parser.accelerator_parser import AcceleratorParserStage
    from zigzag.stages.parser.onnx_model_parser import ONNXModelParserStage
    from zigzag.stages.results.reduce_stages import MinimalLatencyStage, SumStage
    from zigzag.stages.workload_iterator import WorkloadStage
    return [ONNXModelParserStage, AcceleratorParserStage, SumStage, WorkloadStage, SpatialMappingGeneratorStage,
            MinimalLatencyStage, TemporalMappingGeneratorStage, CostModelStage]


def evaluate(request, accelerator, mapping, lpf_limit):
    from zigzag.mapping.temporal_mapping import TemporalMappingType
    from zigzag.stages.main import MainStage
    main = MainStage(list_of_callables=stages(), accelerator=accelerator, workload=onnx_model(request), mapping=mapping,
                     loma_lpf_limit=lpf_limit, loma_show_progress_bar=False, nb_mappings_generated=3,
                     access_same_data_considered_as_no_access=True, temporal_mapping_type=TemporalMappingType("uneven"))
    (cost, _), = main.run()
    return cost


def answer(request, accelerator, mapping, clock, lpf_limit):
    if "matmul" not in request and "convolution" not in request:
        raise ValueError("it multiplies no matrices")
    if request.get("convolution", {}).get("batch_groups", 1) != 1:
        raise ValueError("batch groups")
    cost = evaluate(request, accelerator, mapping, lpf_limit)
    if cost.mac_spatial_utilization < LEAST_UTILISATION:
        raise ValueError(f"the mapping {mapping} uses {cost.mac_spatial_utilization:.1g} of the array; its dimension names must be "
                         "those of ZigZag's layers: B, D, K, C for matmuls, B, K, C, OX, OY, FX, FY for convolutions")
    return {"seconds": cost.latency_total2 / clock, "cycles": cost.latency_total2, "energy_pj": cost.energy_total}


def main():
    accelerator, mapping, clock = sys.argv[1], sys.argv[2], float(sys.argv[3])
    lpf_limit = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the library prints
    with contextlib.redirect_stdout(sys.stderr):
        from importlib.metadata import version
        stages()
        name = f"{version('zigzag-dse')}, lpf {lpf_limit}"
        print(json.dumps({"ready": True, "name": "zigzag_onnx", "version": name,
                          "costs": ["dot_general", "dot", "convolution", "custom_call"]}), file=replies, flush=True)
        for line in sys.stdin:
            request = {}
            try:
                request = json.loads(line)
                reply = {"id": request["id"], "ok": True, **answer(request, accelerator, mapping, clock, lpf_limit)}
            except Exception as error:  # a library's failure of any kind is this operation's failure
                reply = {"id": request.get("id") if isinstance(request, dict) else None, "ok": False, "message": f"{type(error).__name__}: {error}"}
            print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
