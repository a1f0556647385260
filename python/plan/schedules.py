"""Pipeline schedules: the order of each device's work.

A task is (kind, chunk, microbatch): F forward, B backward for the input alone, W the weights' gradients of the oldest such B, A both at once; P is a
pair of F and A that runs overlapped: ("P", F, A). Orders: GPipe; 1F1B and interleaved (Narayanan et al. 2021, section 2.2); zero-bubble H1 (Qi et al.
2023, section 4): 1F1B whose W fill the gaps while no stage holds more microbatches than the first one of 1F1B does; DualPipe (DeepSeek-V3, 2024,
section 3.2.1, and its published program): each device has two stages, and half of the microbatches go the other way.
"""
import dataclasses

NAMES = ("gpipe", "1f1b", "interleaved", "zb-h1", "dualpipe")


@dataclasses.dataclass(frozen=True)
class Schedule:
    name: str  # of NAMES
    stages: int
    microbatches: int
    chunks: int = 1

    @property
    def moves_weights(self):
        return self.name in ("zb-h1", "dualpipe")

    @property
    def possible(self):
        turns = self.microbatches % self.stages == 0 if self.chunks > 1 else True
        return turns and (self.name != "dualpipe" or self.stages % 2 == self.microbatches % 2 == 0 and self.microbatches >= 2 * self.stages)

    def part(self, at, chunk):
        """Which part of the model chunk `chunk` of device `at` is."""
        if self.name == "dualpipe":
            half = min(at, self.stages - 1 - at)
            return half if chunk == 0 else self.stages - 1 - half
        return chunk * self.stages + at

    def order(self, at):
        """Tasks of device `at`; in zero-bubble H1 without those of W."""
        if self.name == "dualpipe":
            return dualpipe(self.stages, self.microbatches, at)
        total, turn = self.chunks * self.microbatches, self.stages * self.chunks
        forward = [("F", k // self.stages % self.chunks, k // turn * self.stages + k % self.stages) for k in range(total)]
        if self.chunks == 1:
            forward = [("F", 0, k) for k in range(total)]
        kind = "B" if self.moves_weights else "A"
        backward = [(kind, self.chunks - 1 - chunk, microbatch) for _, chunk, microbatch in forward]
        ahead = min(total, {"gpipe": total, "interleaved": 2 * (self.stages - 1 - at) + (self.chunks - 1) * self.stages}.get(
            self.name, self.stages - 1 - at))
        paired = [task for pair in zip(forward[ahead:], backward) for task in pair]
        return [*forward[:ahead], *paired, *backward[total - ahead:]]


class _Dual:
    """DualPipe's tasks in turn; direction 0 enters at the nearer end of the pipeline."""

    def __init__(self, far):
        self.far, self.counts, self.tasks = far, {}, []

    def next(self, kind, direction):
        way = "F" if kind == "F" else "A"
        number = self.counts[way, direction] = self.counts.get((way, direction), -1) + 1
        return kind, direction, 2 * number + (direction ^ self.far)

    def add(self, *kinds):
        """F0 and the like; W; F0A1: a pair."""
        for each in kinds:
            parts = [self.next(each[at], int(each[at + 1])) for at in range(0, len(each) - 1, 2)]
            self.tasks.append(("W", 0, 0) if each == "W" else parts[0] if len(parts) == 1 else ("P", *parts))


def dualpipe(stages, microbatches, at):
    """The eight steps of the published program."""
    half, middle = stages // 2, at in (stages // 2 - 1, stages // 2)
    rank = min(at, stages - 1 - at)
    early, late = half - rank - 1, rank + 1
    tasks = _Dual(at >= half)
    tasks.add(*["F0"] * 2 * early, *["F0", "F1"] * late, *["B1", "W", "F1"] * early)
    for turn in range(microbatches // 2 - stages + rank + 1):
        tasks.add(*(["F0", "A1"] if middle and turn == 0 else ["F0A1"]), "F1A0")
    tasks.add(*["A1", "F1A0"] * early)
    moved = [2 * turn + way >= 2 * (late // 2) + (rank + 1) % 2 for turn in range(late) for way in (0, 1)]
    tasks.add(*(f"{'B' if moved[at] else 'A'}{1 - at % 2}" for at in range(2 * late)))
    tasks.add(*["W", "B0"] * early, *["W"] * late)
    return tasks.tasks


def bubble(schedule, forward, backward, weights=0.0):
    """Idle time of a device over all microbatches in closed form, for equal stages, free transfers and nothing hidden in pairs (sources: above)."""
    if schedule.name == "dualpipe":
        return (schedule.stages // 2 - 1) * (forward + 2 * backward - 3 * weights)
    wait = (schedule.stages - 1) / schedule.chunks
    return wait * (forward + backward - (2 * weights if schedule.moves_weights else 0.0))


def in_flight(schedule):
    """Microbatches of which the first device holds activations when it holds most (sources: above)."""
    count, stages, chunks = schedule.microbatches, schedule.stages, schedule.chunks
    ahead = {"gpipe": count, "dualpipe": stages + 1}
    if schedule.name == "interleaved":
        return min(count * chunks, 2 * (stages - 1) + (chunks - 1) * stages + 1) / chunks
    return ahead.get(schedule.name, min(count, stages))
