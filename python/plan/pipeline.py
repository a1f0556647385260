"""How long all devices of a pipeline take together: its schedule, simulated task by task."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Stage:
    """Times of one microbatch through all layers of a stage; a chunk takes its part of them. `weights` is within `backward`."""

    forward: float
    backward: float
    weights: float = 0.0
    hidden: float = 0.0  # what a forward and a backward pass save where they run overlapped


@dataclasses.dataclass(frozen=True)
class Run:
    ends: tuple  # when each device has done its last task
    busy: tuple
    held: tuple  # most microbatches that a device holds activations of at a time; parts of one where it has several chunks


class _Simulation:
    def __init__(self, schedule, stages, transfer):
        self.schedule, self.stages, self.transfer = schedule, stages, transfer
        self.chunks = schedule.chunks
        self.done = {}  # (F or A, part, microbatch) -> end
        self.free = [0.0] * schedule.stages
        self.busy = [0.0] * schedule.stages
        self.waiting = [[] for _ in stages]  # (part of the model) of W not yet done
        self.held, self.most = [0.0] * schedule.stages, [0.0] * schedule.stages

    def ready(self, at, task):
        """When the inputs of a task are there; None: not yet known."""
        kind, chunk, microbatch = task
        part, last = self.schedule.part(at, chunk), self.chunks * self.schedule.stages - 1
        if kind == "F":
            before = ("F", part - 1, microbatch) if part else None
        else:
            before = ("A", part + 1, microbatch) if part < last else ("F", last, microbatch)
        if before is None:
            return 0.0
        if before not in self.done:
            return None
        own = before[:2] == ("F", part) or self.schedule.stages == 1
        return self.done[before] + (0.0 if own else self.transfer)

    def duration(self, kind, part):
        stage = self.stages[part % self.schedule.stages]
        times = {"F": stage.forward, "A": stage.backward, "B": stage.backward - stage.weights, "W": stage.weights}
        return times[kind] / self.chunks

    def spend(self, at, start, time):
        self.busy[at] += time
        self.free[at] = start + time

    def hold(self, at, change):
        self.held[at] += change / self.chunks
        self.most[at] = max(self.most[at], self.held[at])

    def weights(self, at):
        self.spend(at, self.free[at], self.duration("W", self.waiting[at].pop(0)))
        self.hold(at, -1)

    def fill(self, at, task, ready):
        """Zero-bubble H1: W that fit into the wait for a task, and those without which the device would hold too much."""
        while self.schedule.name == "zb-h1" and self.waiting[at]:
            full = task[0] == "F" and self.held[at] >= self.schedule.stages
            if not full and self.free[at] + self.duration("W", self.waiting[at][0]) > ready:
                return
            self.weights(at)

    def finish(self, at, task):
        """What a task that is done leaves behind."""
        kind, chunk, microbatch = task
        part = self.schedule.part(at, chunk)
        self.done["F" if kind == "F" else "A", part, microbatch] = self.free[at]
        if kind == "B":
            self.waiting[at].append(part)
        else:
            self.hold(at, 1 if kind == "F" else -1)

    def step(self, at, task):
        if task[0] == "W":
            self.weights(at)
            return True
        parts = task[1:] if task[0] == "P" else (task,)
        inputs = [self.ready(at, each) for each in parts]
        if None in inputs:
            return False
        self.fill(at, task, max(inputs))
        time = sum(self.duration(kind, self.schedule.part(at, chunk)) for kind, chunk, _ in parts)
        saved = min(self.stages[self.schedule.part(at, chunk)].hidden for _, chunk, _ in parts) if len(parts) > 1 else 0.0
        self.spend(at, max(self.free[at], *inputs), time - saved)
        for each in parts:
            self.finish(at, each)
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
            for _ in tuple(waiting):
                self.weights(at)
        return Run(tuple(self.free), tuple(self.busy), tuple(self.most))


def run(schedule, stages, transfer=0.0):
    """`stages`: a Stage each; `transfer`: time from the end of a task until its result is at the neighbour."""
    return _Simulation(schedule, stages, transfer).run()
