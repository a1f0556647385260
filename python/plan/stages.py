"""Which layers the stages of a pipeline have, and which program each stage is. `facts`: what is known of the model (facts.py)."""
PARTS = ("first", "last", "middle", "longer")  # kinds of stages


def stage_layers(facts, stages):
    """Layers of each stage, whole cycles of them, as even as can be. The ends have the embedding and the loss, so that longer ones lie between."""
    least, longer = divmod(facts.layers // facts.cycle, stages)
    more = {*[*range(1, stages - 1), 0, stages - 1][:longer]}
    return [facts.cycle * (least + (at in more)) for at in range(stages)]


def even(facts, stages):
    return facts.layers % (stages * facts.cycle) == 0


def unevenly(facts, stages):
    """Whether stages that differ can be: each has layers, and all layers may be of the first kind."""
    return facts.layers % facts.cycle == 0 and facts.layers >= stages * facts.cycle and not facts.dense


def part_of(facts, stage, stages):
    """Where stages differ, those between the ends are of two kinds."""
    every = stage_layers(facts, stages)
    return "first" if stage == 0 else "last" if stage == stages - 1 else "longer" if every[stage] > every[-1] else "middle"


def parts_of(facts, schedule, at):
    """Kinds of the stages that a device has."""
    stages = {schedule.part(at, chunk) for chunk in (0, 1)} if schedule.name == "dualpipe" else {at}
    return [part_of(facts, stage, schedule.stages) for stage in sorted(stages)]


def layers_of(facts, part, stages):
    every = stage_layers(facts, stages)
    return {"first": every[0], "longer": max(every), "kept": max(every)}.get(part, every[-1])
