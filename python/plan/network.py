"""The network of a plan: its levels, and the system of a stage, which has a part of the devices."""
import dataclasses
import json
import math
import os
import re
import subprocess

from environments import Refused

COUNTS = re.compile(r"^(\S+) (\d+(?:x\d+)*)(.*)$")


def hespas(*words):
    """The JSON that a command prints; what it says of a failure stands on stderr."""
    done = subprocess.run([os.environ["HESPAS_COMMAND"], *map(str, words), "--format", "json"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Refused("", status=done.returncode)
    return json.loads(done.stdout)


def figures_of(*words):
    return {row["figure"]: row["value"] for row in hespas(*words)}


def memory_bandwidth(device):
    """In bytes a second."""
    return 1e9 * float(figures_of("devices", device)["memory_bandwidth"])


@dataclasses.dataclass(frozen=True)
class Level:
    devices: int
    bandwidth: float  # bytes a second and device
    latency: float  # seconds
    topology: str = "Switch"

    @property
    def links(self):
        """Of each device in this level."""
        return {"FullyConnected": max(1, self.devices - 1), "Ring": 2, "Line": min(2, self.devices - 1)}.get(self.topology, 1)


@dataclasses.dataclass(frozen=True)
class Network:
    name: str  # as --system takes it
    devices: int
    levels: tuple

    @property
    def dies(self):
        """Devices of a chip in a torus, whose link is faster than those of the axes; the counts of a line are chips."""
        for inner, axis in zip(self.levels[:1], self.levels[1:]):
            if inner.topology == "Line" and axis.topology in ("Ring", "Line") and inner.bandwidth > axis.bandwidth:
                return inner.devices
        return 1

    @property
    def node(self):
        """Devices of the innermost domain: a node's switch, or all axes of a torus."""
        inside, levels = self.dies, self.levels[1:] if self.dies > 1 else self.levels
        for level in levels:
            if inside > self.dies and level.bandwidth < levels[0].bandwidth:
                break
            inside *= level.devices
        return inside

    @property
    def all_links(self):
        """Bytes a second that a device can take in over all its levels together; no collective is faster."""
        return sum(level.bandwidth * level.links for level in self.levels)

    @property
    def outside(self):
        """The part of it that does not stay in the innermost domain."""
        inside, rates = 1, []
        for level in self.levels:
            rates += [level.bandwidth] if inside >= self.node else []
            inside *= level.devices
        return sum(rates) or self.all_links

    def between(self, devices):
        """The level over which groups of that many neighbours talk to each other."""
        inside = 1
        for level in self.levels:
            inside *= level.devices
            if inside > devices:
                return level
        return self.levels[-1]

    def of(self, devices, inside=None):
        """--system for that many of the devices, `inside` of them in each innermost domain (default: as many as can be); None where it cannot be said."""
        inside = min(inside or self.node, self.node, devices)
        if devices == self.devices and inside == self.node:
            return self.name
        if self.name == "auto":
            return self.name if inside == min(self.node, devices) else None
        found = COUNTS.match(self.name)
        if not found or devices % inside or inside % self.dies:
            return None
        counts, wanted, left = [int(count) for count in found.group(2).split("x")], [], inside // self.dies
        for at, count in enumerate(counts):
            left = devices // inside if at and self.dies * math.prod(counts[:at]) == self.node else left
            wanted.append(min(count, left))
            if left % wanted[-1]:
                return None
            left //= wanted[-1]
        return f"{found.group(1)} {'x'.join(map(str, wanted))}{found.group(3)}" if self.dies * math.prod(wanted) == devices and "slices=" not in self.name else None


def network_of(name, device, devices):
    figures = figures_of("systems", device, "--devices", devices) if name == "auto" else figures_of("systems", name)
    if int(figures["npus"]) != devices:
        raise Refused(f"`{name}` has {figures['npus']} devices, not {devices}", "give a system of as many devices, or other --devices", 2)
    levels = levels_of(figures)
    if name == "auto" and figures["topology"] == "Switch, Switch" and not os.path.exists(device):
        line = f"{device} {'x'.join(str(level.devices) for level in levels)}"  # which can be divided
        name = line if levels_of(figures_of("systems", line)) == levels else name
    return Network(name, devices, levels)


def levels_of(figures):
    values = [[float(each) for each in str(figures[key]).split(",")] for key in ("npus_count", "bandwidth (GB/s)", "latency (ns)")]
    kinds = [each.strip() for each in figures["topology"].split(",")]
    return tuple(Level(int(count), 1e9 * rate, 1e-9 * late, kind) for count, rate, late, kind in zip(*values, kinds))
