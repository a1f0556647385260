"""The page of `hespas shard`: what each sharding takes, bars of computation and exposed communication, one table."""
import html

from pages import document, table

STYLE = ".share .track i { height: 100%; } .share .name { overflow-wrap: anywhere; }"
HEADS = ("step [ms]", "compute [ms]", "exposed [ms]", "memory [GB]", "fits", "batch", "a second and device", "FLOPs of all", "MFU", "HFU", "sharding")
PARTS = (("compute", "computation"), ("network", "exposed communication"), ("idle", "idle"))


def percent(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def plain(value):
    return "-" if value is None else f"{value:.4g}"


def cells(row):
    times = [plain(1e3 * row[key]) for key in ("step_time_s", "compute_time_s", "exposed_communication_s")]
    fits = {True: "yes", False: "NO", None: "?"}[row["fits_in_memory"]]
    return [*times, plain((row["peak_memory_bytes"] or 0) / 1e9), fits, plain(row["batch"]), plain(row["units_per_second_per_device"]), plain(row["flops_all_devices"]),
            percent(row["model_flops_utilisation"]), percent(row["hardware_flops_utilisation"]), row["mesh"]]


def bar(row, longest):
    """Computation, then what communication and waiting add, of the longest step."""
    idle = row["step_time_s"] - row["compute_time_s"] - row["exposed_communication_s"]
    parts, left = [], 0.0
    for time, (colour, _) in zip((row["compute_time_s"], row["exposed_communication_s"], idle), PARTS):
        width = 100 * time / longest
        parts.append(f'<i style="left:{left:.2f}%;width:{width:.2f}%;background:var(--{colour})"></i>')
        left += width
    return (f'<div class=row><span class=name>{html.escape(row["mesh"])}</span><span class=track aria-hidden=true>{"".join(parts)}</span>'
            f'<span class=by>{1e3 * row["step_time_s"]:.4g} ms</span></div>')


def write(path, data, program, device, rows, warning):
    """`rows` in the order of their steps; those that failed say why."""
    good = [row for row in rows if row["step_time_s"] is not None]
    parts = [f'<section><p class=alarm>{html.escape(warning)}</p></section>'] if warning else []
    if good:
        longest = max(row["step_time_s"] for row in good) or 1.0
        key = "".join(f'<span><i class=swatch style="background:var(--{colour})" aria-hidden=true></i>{name}</span> '
                      for colour, name in PARTS)
        parts.append(f'<section><h2>Step time</h2><figure class=share>{"".join(bar(row, longest) for row in good)}<p class=legend>{key}</p></figure></section>')
        parts.append(f"<section><h2>Shardings</h2>{table('Shardings, the fastest first', HEADS, [cells(row) for row in good])}</section>")
    failed = [[row["mesh"], row["error"]] for row in rows if row["step_time_s"] is None]
    if failed:
        parts.append(f"<section><h2>Shardings that failed</h2>{table('Shardings that failed', ('sharding', 'why'), failed)}</section>")
    path.write_text(document(data, "Shardings", f"{program} on {device}", "\n".join(parts), STYLE), encoding="utf-8")
