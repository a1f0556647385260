#!/usr/bin/env python3
"""A program of one size from one with symbolic dimensions: XLA's shape refinement. `hespas run --bind b=8` calls it.

    bind_dimensions.py PROGRAM OUTPUT.mlir NAME=SIZE...     NAME: of jax.export's dimensions, or ARGUMENT.DIMENSION (0.1=128)

Runs in whichever Python is at hand, and continues in the environment that has JAX.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from environments import Refused, continue_in_jax, program_text  # noqa: E402


def sizes_of(words):
    sizes = {}
    for word in words:
        name, _, size = word.partition("=")
        if not name or not size.isdecimal() or int(size) < 1:
            raise Refused(f"--bind takes NAME=SIZE, not `{word}`")
        sizes[name] = int(size)
    return sizes


def named_dimensions(main, functions):
    """{name: [(argument, dimension), ...]}: jax.export hands one dimension on under its name, and asserts that others equal it."""
    arguments = list(main.arguments)
    sources, equal = {}, []
    for op in main.entry_block.operations:
        if op.operation.name == "stablehlo.get_dimension_size" and op.operands[0] in arguments:
            sources[op.result] = (arguments.index(op.operands[0]), op.attributes["dimension"].value)
        elif op.operation.name == "stablehlo.compare" and all(each in sources for each in op.operands) \
                and " EQ" in str(op.attributes["comparison_direction"]):
            equal.append(tuple(sources[each] for each in op.operands))
    found = {}
    for op in main.entry_block.operations:
        if op.operation.name != "func.call" or "arg_attrs" not in functions[op.attributes["callee"].value].attributes:
            continue
        for value, attributes in zip(op.operands, functions[op.attributes["callee"].value].attributes["arg_attrs"]):
            if "jax.global_constant" in attributes and value in sources:
                found.setdefault(attributes["jax.global_constant"].value, []).append(sources[value])
    for places in found.values():
        places += [each for each, other in equal if other in places and each not in places]
    return found


def bound_types(main, functions, sizes):
    from jaxlib.mlir import ir

    shapes = [list(argument.type.shape) if isinstance(argument.type, ir.RankedTensorType) else None for argument in main.arguments]
    names = named_dimensions(main, functions)
    dynamic = {f"{i}.{d}": (i, d) for i, argument in enumerate(main.arguments) if shapes[i] is not None
               for d in range(argument.type.rank) if argument.type.is_dynamic_dim(d)}
    for name, size in sizes.items():
        places = names.get(name) or ([dynamic[name]] if name in dynamic else [])
        if not places:
            raise Refused(f"no argument has a dimension `{name}`; there are {', '.join([*names, *dynamic]) or 'none'}")
        for argument, dimension in places:
            shapes[argument][dimension] = size
            dynamic.pop(f"{argument}.{dimension}", None)
    if dynamic:
        open_names = [name for name, places in names.items() if any(place in dynamic.values() for place in places)]
        raise Refused(f"dimensions that have no size yet: {', '.join(open_names or dynamic)}")
    return [argument.type if shape is None else ir.RankedTensorType.get(shape, argument.type.element_type, argument.type.encoding)
            for argument, shape in zip(main.arguments, shapes)]


def bind(program, output, *words):
    import lower

    lower.prepare_environment(1)
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func, stablehlo

    sizes = sizes_of(words)
    with jax_mlir.make_ir_context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(program_text(program))
        functions = ir.SymbolTable(module.operation)
        old = functions["main"]
        types = bound_types(old, functions, sizes)
        old.attributes["sym_name"] = ir.StringAttr.get("symbolic_main")
        old.attributes["sym_visibility"] = ir.StringAttr.get("private")
        with ir.InsertionPoint.at_block_begin(module.body):
            main = func.FuncOp("main", ir.FunctionType.get(types, old.type.results))
            with ir.InsertionPoint(main.add_entry_block()):
                given = [value if value.type == wanted else stablehlo.convert(wanted, value) for value, wanted in zip(main.arguments, old.type.inputs)]
                func.ReturnOp(func.CallOp(old.type.results, ir.FlatSymbolRefAttr.get("symbolic_main"), given).results)
        refined = _jax.mlir.refine_polymorphic_shapes(jax_mlir.module_to_bytecode(module), True, True)
        lower.write(output, lower.program_text_of(ir.Module.parse(refined)))


if __name__ == "__main__":
    continue_in_jax(__file__, bind)
