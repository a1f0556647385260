"""Pipeline schedules: the order of each stage's work, and how long all stages take together.

A task is (kind, chunk, microbatch): F forward, B backward for the input, W the weights' gradients (for schedules that move it; elsewhere B has both).
Orders: GPipe; 1F1B and interleaved (Narayanan et al. 2021, section 2.2); zero-bubble H1 (Qi et al. 2023, section 4): 1F1B whose W fill the gaps
while no stage holds more microbatches than the first one of 1F1B does.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Schedule:
    name: str  # gpipe, 1f1b, interleaved, zb-h1
    stages: int
    microbatches: int
    chunks: int = 1

    @property
    def moves_weights(self):
        return self.name == "zb-h1"

    def order(self, at):
        """Tasks of stage `at`; those of W that fill gaps are not in it."""
        total, turn = self.chunks * self.microbatches, self.stages * self.chunks
        forward = [("F", k // self.stages % self.chunks, k // turn * self.stages + k % self.stages) for k in range(total)]
        if self.chunks == 1:
            forward = [("F", 0, k) for k in range(total)]
        backward = [("B", self.chunks - 1 - chunk, microbatch) for _, chunk, microbatch in forward]
        ahead = min(total, {"gpipe": total, "interleaved": 2 * (self.stages - 1 - at) + (self.chunks - 1) * self.stages}.get(
            self.name, self.stages - 1 - at))
        paired = [task for pair in zip(forward[ahead:], backward) for task in pair]
        return [*forward[:ahead], *paired, *backward[total - ahead:]]


@dataclasses.dataclass(frozen=True)
class Stage:
    """Times of one microbatch through all layers of a stage; a chunk takes its part of them. `weights` is within `backward`."""

    forward: float
    backward: float
    weights: float = 0.0


@dataclasses.dataclass(frozen=True)
class Run:
    ends: tuple  # when each stage has done its last task
    busy: tuple
    held: tuple  # most microbatches that a stage holds activations of at a time; parts of one where it has several chunks


class _Simulation:
    def __init__(self, schedule, stages, transfer):
        self.schedule, self.stages, self.transfer = schedule, stages, transfer
        self.done = {}  # (kind, part, microbatch) -> end
        self.free = [0.0] * schedule.stages
        self.busy = [0.0] * schedule.stages
        self.waiting = [[] for _ in stages]  # W not yet done
        self.held, self.most = [0.0] * schedule.stages, [0.0] * schedule.stages

    def ready(self, at, task):
        """When the inputs of a task are there; None: not yet known."""
        kind, chunk, microbatch = task
        part, last = chunk * self.schedule.stages + at, self.schedule.chunks * self.schedule.stages - 1
        if kind == "F":
            before = ("F", part - 1, microbatch) if part else None
        else:
            before = ("B", part + 1, microbatch) if part < last else ("F", last, microbatch)
        if before is None:
            return 0.0
        if before not in self.done:
            return None
        own = before[0] != kind or self.schedule.stages == 1
        return self.done[before] + (0.0 if own else self.transfer)

    def duration(self, at, kind):
        stage, chunks = self.stages[at], self.schedule.chunks
        moved = stage.weights if self.schedule.moves_weights else 0.0
        return {"F": stage.forward, "B": stage.backward - moved, "W": stage.weights}[kind] / chunks

    def execute(self, at, kind, start):
        end = start + self.duration(at, kind)
        self.busy[at] += end - start
        self.free[at] = end
        share = 1 / self.schedule.chunks
        frees = "W" if self.schedule.moves_weights else "B"
        if kind == "F":
            self.held[at] += share
            self.most[at] = max(self.most[at], self.held[at])
        elif kind == frees:
            self.held[at] -= share
        return end

    def weights_before(self, at, task, ready):
        """W that stand before a task: those that fit into its wait, and those without which the stage would hold too much."""
        while self.waiting[at]:
            full = task[0] == "F" and self.held[at] >= self.schedule.stages
            if not full and self.free[at] + self.duration(at, "W") > ready:
                return
            self.waiting[at].pop(0)
            self.execute(at, "W", self.free[at])

    def step(self, at, task):
        ready = self.ready(at, task)
        if ready is None:
            return False
        self.weights_before(at, task, ready)
        kind, chunk, microbatch = task
        self.done[kind, chunk * self.schedule.stages + at, microbatch] = self.execute(at, kind, max(self.free[at], ready))
        if kind == "B" and self.schedule.moves_weights:
            self.waiting[at].append(task)
        return True

    def run(self):
        orders = [self.schedule.order(at) for at in range(self.schedule.stages)]
        places, moved = [0] * len(orders), True
        while moved:
            moved = False
            for at, order in enumerate(orders):
                while places[at] < len(order) and self.step(at, order[places[at]]):
                    places[at], moved = places[at] + 1, True
        for at, waiting in enumerate(self.waiting):
            for _ in waiting:
                self.execute(at, "W", self.free[at])
        return Run(tuple(self.free), tuple(self.busy), tuple(self.most))


def run(schedule, stages, transfer=0.0):
    """`stages`: a Stage each; `transfer`: time from the end of a task until its result is at the neighbour."""
    return _Simulation(schedule, stages, transfer).run()


def bubble(schedule, forward, backward, weights=0.0):
    """Idle time of a device over all microbatches in closed form, for equal stages and free transfers (sources: above)."""
    wait = (schedule.stages - 1) / schedule.chunks
    return wait * (forward + backward - (2 * weights if schedule.moves_weights else 0.0))
