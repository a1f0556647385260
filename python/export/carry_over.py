"""Programs for other devices than those that XLA's partitioner numbers: more of them than one process can pretend, or in another order.

More: made for fewer replicas of the outermost data axis, then carried over.

Devices are numbered with the slices (or hosts) outermost, so that the program for D replicas of I devices repeats what a smaller number of replicas
does: groups within a replica stand once more in each new one, groups over all replicas get the new members, tables by device repeat. Shapes stay, as
each device keeps its batch.
"""
import re

import numpy as np

from maxtext_config import Unsupported, mesh_parts
from models.mesh_rules import device_order
from partition import MOST_DEVICES

GROUPS = re.compile(r"replica_groups=(\{\{[\d,{} ]*\}\}|\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?)")
PAIRS = re.compile(r"source_target_pairs=\{(\{[\d,{} ]*\})\}")
TABLE = re.compile(r"(%?[\w.\-]+)( = [su](?:32|64)\[)(\d+)(\](?:\{0\})? constant\(\{)([^}]*)(\}\))")


def smaller(keys, devices):
    """Keys and devices of the program that is partitioned: as they are, or with fewer replicas between slices."""
    if devices <= MOST_DEVICES:
        return keys, devices
    replicas = int(keys.get("dcn_data_parallelism", 1))
    if replicas < 1:
        raise Unsupported("more than 2,048 devices need dcn_data_parallelism as a number")
    fewer = [n for n in range(2, replicas) if replicas % n == 0 and devices // replicas * n <= MOST_DEVICES]
    if not fewer:
        raise Unsupported(f"{devices} devices are more than {MOST_DEVICES}, and {replicas} replicas (dcn_data_parallelism) cannot be made fewer")
    return {**keys, "dcn_data_parallelism": fewer[-1]}, devices // replicas * fewer[-1]


def listed(text):
    """Groups of either spelling as lists of devices."""
    if text.startswith("{"):
        return [[int(each) for each in group.split(",")] for group in re.findall(r"\{([\d, ]+)\}", text)]
    shape, order, permuted = re.fullmatch(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text).groups()
    numbers = np.arange(np.prod([int(n) for n in order.split(",")])).reshape([int(n) for n in order.split(",")])
    if permuted:
        numbers = numbers.transpose([int(n) for n in permuted.split(",")])
    return numbers.reshape([int(n) for n in shape.split(",")]).tolist()


def more_groups(groups, inner, before, after):
    """`inner`: devices of a replica, of which there were `before`."""
    within = all(len({device // inner for device in group}) == 1 for group in groups)
    if within:
        first = [group for group in groups if group[0] < inner]
        return [[device + replica * inner for device in group] for replica in range(after) for group in first]
    grown = []
    for group in groups:
        own = [device for device in group if device < inner]
        if sorted(group) != sorted(device + replica * inner for device in own for replica in range(before)):
            raise Unsupported("the program's groups are no whole numbers of replicas: it cannot be carried over to so many devices")
        grown.append([device + replica * inner for replica in range(after) for device in own])
    return grown


def braced(groups):
    return ",".join("{" + ",".join(map(str, group)) + "}" for group in groups)


def with_tables(hlo, devices, changed):
    """Constants that a device looks up by its number."""
    def table(found):
        name, head, count, middle, values, tail = found.groups()
        if int(count) != devices or f"dynamic-slice({name}," not in hlo:
            return found.group(0)
        new = changed(values.split(","))
        return f"{name}{head}{len(new)}{middle}{','.join(new)}{tail}"

    return TABLE.sub(table, hlo)


def placed(hlo, order):
    """HLO text with devices numbered as they lie in the network: slices outermost. The partitioner numbers them by their places on the mesh,
    as it never sees which device is where; `order`: the device of each place.
    """
    order = [int(device) for device in np.asarray(order).flat]
    if order == sorted(order):
        return hlo

    def groups(found):
        return f"replica_groups={{{braced([order[place] for place in group] for group in listed(found.group(1)))}}}"

    def pairs(found):
        return f"source_target_pairs={{{braced([order[place] for place in pair] for pair in listed('{' + found.group(1) + '}'))}}}"

    text = PAIRS.sub(pairs, GROUPS.sub(groups, hlo))
    return with_tables(text, len(order), lambda values: [values[place] for place in np.argsort(order)])


def carried(hlo, before, after, replicas):
    """HLO text of `before` devices, with `replicas` replicas, for `after` devices."""
    if before == after:
        return hlo
    inner = before // replicas

    def groups(found):
        grown = more_groups(listed(found.group(1)), inner, replicas, after // inner)
        return f"replica_groups={{{braced(grown)}}}"

    text = with_tables(GROUPS.sub(groups, hlo), before, lambda values: values[:inner] * (after // inner))
    text = re.sub(rf"(devices=\[(?:\d+,)*){replicas}(\]<=\[){replicas}(?=[,\]])", rf"\g<1>{after // inner}\g<2>{after // inner}", text)
    text = re.sub(rf"(devices=\[){before}((?:,1)*\]<=\[){before}\]", rf"\g<1>{after}\g<2>{after}]", text)
    return re.sub(rf"num_partitions={before}\b", f"num_partitions={after}", text)


def on_devices(hlo, keys, devices):
    """HLO text that was partitioned for `smaller(keys, devices)`, for all of them as they lie in the network."""
    fewer_keys, fewer = smaller(keys, devices)
    return placed(carried(hlo, fewer, devices, int(fewer_keys.get("dcn_data_parallelism", 1))), device_order(*mesh_parts(keys, devices)))
