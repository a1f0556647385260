"""Why not: the best configuration with given settings beside the best of all, and what makes the difference."""
import collections

import candidates
import costs
from environments import Refused, suggested

TERMS = (("computation", "compute_s"), ("exposed communication", "exposed_s"), ("pipeline and launches", "rest_s"))


def wanted(text, axes, found):
    """Settings as texts; axes that are not named may have any size."""
    settings = dict(each.partition("=")[::2] for each in text.split(","))
    known = {*axes, *(key for candidate in found for key in candidate.settings())}
    for key, value in settings.items():
        if key not in known or not value:
            raise Refused(f"--why takes SETTING=VALUE,..., not `{key}={value}`", f"{'' if key in known else suggested(key, known)}settings are {', '.join(sorted(known))}", 2)
    return settings


def matches(candidate, settings):
    own = {axis: "1" for axis in candidates.AXES} | {"zero": "0"} | candidate.settings()
    return all(own.get(key) == value for key, value in settings.items())


def asked(text, found, space, facts):
    """The candidates that have the settings."""
    settings = wanted(text, candidates.AXES, found)
    alike = [candidate for candidate in found if matches(candidate, settings)]
    if not alike:
        raise Refused(f"no configuration has {text}", refused(settings, space, facts) or "no mesh of as many devices has them all, or --remat or --schedule leave them out", 2)
    return alike


def refused(settings, space, facts):
    """Why the meshes with these settings are none; None where there is no such mesh at all."""
    axes = {axis: value for axis, value in settings.items() if axis in candidates.AXES}
    left = [axis for axis, value in axes.items() if axis not in space.axes and value != "1"]
    if left:
        return f"--axes leaves out {', '.join(left)}"
    meshes = [sizes for sizes in candidates.factorisations(space.devices, space.axes) if all(str(sizes.get(axis, 1)) == value for axis, value in axes.items())]
    if not meshes:
        return f"{space.devices} devices cannot be divided into {', '.join(f'{axis}={value}' for axis, value in axes.items())}"
    reasons = collections.Counter(candidates.indivisible(space, facts, sizes) or candidates.refusal(space, facts, sizes) for sizes in meshes)
    reasons.pop(None, None)
    return f"of all {len(meshes)} meshes: " + ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3)) if reasons else None


def none_of(asked, tried, error):
    """The refusal where no estimate is there; `tried` none: something is known against all."""
    left = "" if tried in (0, asked) else f"{tried} that were tried of "
    return Refused(f"none of {left}the {asked} configurations asked for can be estimated", error, 5)


async def compared(alike, search, workers):
    """The row that the best is compared with, and what had become of the candidates; where none was estimated, the likeliest are now."""
    reasons = collections.Counter(search.reasons[candidate] for candidate in alike)
    known = set(alike)

    def rows():
        return [row for row in search.rows if costs.plain(row["candidate"]) in known]

    if not any(row["fits"] for row in rows()):
        await search.visit(workers, alike)
    if not rows():
        error = next((error for candidate, error in reversed(search.failed) if candidate in known), ", ".join(reasons) + "; give --system as a line, such as \"H100_80GB 8x2\"")
        raise none_of(len(alike), len({candidate for candidate, _ in search.failed} & known), error)
    await search.vary(workers, [row["candidate"] for row in rows() if row["fits"]])
    return min(rows(), key=lambda row: (not row["fits"], row[search.objective], row["name"])), reasons


def terms(row):
    return {**row, "rest_s": round(row["step_time_s"] - row["compute_s"] - row["exposed_s"], 12) + 0.0}


def told(row, best, capacity, reasons):
    """Lines: what had become of those asked for, the two, the terms of the step that differ, and memory."""
    one, other = terms(row), terms(best)
    before = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
    lines = [f"why not {row['name']}?", f"the likeliest of {sum(reasons.values())} with these settings, of which the search said: {before}", f"it takes {one['step_time_s']:.4g} s, {100 * (one['step_time_s'] / other['step_time_s'] - 1):+.1f} % against the best"]
    for name, key in sorted(TERMS, key=lambda term: -abs(one[term[1]] - other[term[1]])):
        lines.append(f"  {name:<22} {one[key]:>9.4g} s, best {other[key]:>9.4g} s, difference {one[key] - other[key]:>+9.3g} s")
    lines.append(f"  {'memory':<22} {one['peak_memory_bytes'] / 1e9:>9.4g} GB, best {other['peak_memory_bytes'] / 1e9:>7.4g} GB")
    if not row["fits"]:
        lines.append(f"  it does not fit into {capacity / 1e9:.4g} GB")
    return lines
