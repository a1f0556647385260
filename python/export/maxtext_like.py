"""A MaxText configuration as our own program (models/maxtext.py), lowered for the platform whose kernels it calls, without that platform.

`cuda` brings cuDNN's fused attention, `tpu` splash or flash attention in Pallas. What each device runs is XLA's partitioner's answer on pretended
CPU devices, which knows the calls only as parts of manual regions.
"""
import re

PLACEMENT = re.compile(r'(%\S+) = stablehlo\.custom_call @annotate_device_placement\((%\S+)\) \{backend_config = "", has_side_effect = true, '
                       r'mhlo\.frontend_attributes = \{_xla_buffer_placement = "(\w+)"\}\}')


def step_of(keys, devices):
    """The step and the platform for which it is lowered."""
    import jax

    import maxtext_config
    from models import maxtext, maxtext_stage
    from models.attention_kernels import PLATFORMS
    from models.mesh_rules import make_mesh

    config = maxtext_config.configuration(keys)
    mesh = make_mesh(*maxtext_config.mesh_parts(keys, devices), jax.devices())
    part = keys.get("pipeline_part")
    step = maxtext_stage.build(mesh, config, part) if part else maxtext.build(mesh, config)
    return step, PLATFORMS.get(config.attention, "tpu" if str(keys.get("hardware", "")).startswith("tpu") else "cuda")


def lowered(keys, devices):
    import jax

    jax.config.update("jax_ragged_dot_use_ragged_dot_instruction", True)
    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    step, platform = step_of(keys, devices)
    jitted = jax.jit(step.function, donate_argnums=step.donate, out_shardings=step.results(None))
    return jitted.trace(*step.arguments).lower(lowering_platforms=(platform,))


def with_host_moves(text):
    """Placements as XLA's own calls, which its partitioner divides like elementwise work.

    The step's results lie on the device anyway, and buffers of zeros in the host's memory are not copied there.
    """
    begin, end = main_of(text)
    main, moved = text[begin:end], {}
    last = main.rindex("\n    return ")
    returned = set(re.findall(r"%\w+", main[last:]))
    kept, constants = [], set()
    for line in main[:last].split("\n"):
        found = PLACEMENT.search(line)
        name = re.match(r"\s*(%\w+) = stablehlo\.broadcast_in_dim", line)
        if name:
            constants.add(name.group(1))
        if found and (found.group(1) in returned or found.group(2) in constants):
            moved[found.group(1)] = found.group(2)
        else:
            kept.append(line)
    main = re.sub(r"%\w+", lambda name: moved.get(name.group(0), name.group(0)), "\n".join(kept) + main[last:])
    return PLACEMENT.sub(as_call, text[:begin] + main + text[end:])


def as_call(found):
    name, operand, place = found.groups()
    return f'{name} = stablehlo.custom_call @{"MoveToHost" if place == "pinned_host" else "MoveToDevice"}({operand}) {{backend_config = ""}}'


def with_kernel_names(text):
    """HLO knows no `kernel_name`, only frontend attributes."""
    return re.sub(r'(?<=\{)(backend_config = "(?:[^"\\]|\\.)*", )kernel_name = ("[^"]*")', r"\1mhlo.frontend_attributes = {kernel_name = \2}", text)


def text_of(keys, devices):
    from lower import program_text_of

    return with_kernel_names(with_host_moves(program_text_of(lowered(keys, devices).compiler_ir("stablehlo"))))


def main_of(text):
    begin = text.index("@main(")
    end = text.find("\n  func.func", begin)
    return begin, end if end > 0 else len(text)
