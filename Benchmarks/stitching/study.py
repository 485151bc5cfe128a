#!/usr/bin/env python3
"""Runs the study's measurements and writes its tables; README.md says what it asks."""
import argparse
import contextlib
import fcntl
import json
import math
import pathlib
import subprocess
import time

RATES = [800, 1500, 2500]
# Each rate of a whole canvas lies between two of them.
TILE_RATES = [600, 900, 1300, 1700, 2300, 3000]
FEWER_RATES = [700, 1200, 1900, 3000]
AROUND_1500 = [1300, 1700]
# What is compared with whole canvases as the relay makes them for browsers, which offer profiles with CABAC. Whole
# canvases of the same target have very nearly the same rate.
WAYS = {
    "tiles, one QP": {"way": "tiles", "rate-control": "common", "complexity": 1, "no-joins": None, "no-merges": None},
    "tiles, only skipped rows joined": {"way": "tiles", "no-merges": True},
    "tiles, no joins": {"way": "tiles", "no-joins": True},
    "tiles, a rate each": {"way": "tiles", "rate-control": "own", "complexity": 1},
    "whole, CAVLC, one QP": {"way": "whole", "rate-control": "common", "halved": None},
    "whole, CAVLC": {"way": "whole", "cabac": None, "rate-control": "own", "halved": None, "complexity": 1},
    "whole, CAVLC, half as wide and high": {"way": "whole", "halved": True},
    "not put together": {"way": "alone", "cabac": None, "unsliced": None},
    "not put together, CABAC": {"way": "alone", "cabac": True, "unsliced": None},
    "not put together, one slice": {"way": "alone", "cabac": None, "unsliced": True},
    "not put together, one slice, CABAC": {"way": "alone", "cabac": True, "unsliced": True},
}
# A batch ends after so many seconds, so that others on the machine get their turn.
BATCH = 50


def measurement(way, grid, kbps, complexity=1, rate_control="own", **options):
    return {"way": way, "grid": grid, "kbps": kbps, "complexity": complexity, "rate-control": rate_control, **options}


def plan():
    """All measurements, the ones that decide first."""
    calm, verify = {"content": "calm"}, {"verify": True}
    cabac = {"cabac": True}
    runs = [measurement("whole", 3, rate, **cabac) for rate in RATES]
    runs += [measurement("whole", 3, rate) for rate in RATES]
    runs += [measurement("tiles", 3, rate, 1, "common") for rate in TILE_RATES]
    runs += [measurement("whole", 3, rate, **calm, **cabac) for rate in RATES]
    runs += [measurement("whole", 3, rate, **calm) for rate in RATES]
    runs += [measurement("tiles", 3, rate, 1, "common", **calm) for rate in FEWER_RATES]
    runs += [measurement("whole", 3, rate, halved=True) for rate in RATES]
    runs += [measurement("whole", 3, 1500, halved=True, **calm)]
    runs += [measurement("tiles", 3, 1500, 1, "common", **verify)]
    for options in [{}, cabac, {"unsliced": True}, {"unsliced": True, **cabac}]:
        runs += [measurement("alone", 3, rate, 1, "common", **options) for rate in AROUND_1500]
    runs += [measurement("whole", 3, rate, 1, "common") for rate in AROUND_1500]
    runs += [measurement("tiles", 3, rate) for rate in AROUND_1500]
    for grid in [4, 2]:
        runs += [measurement("whole", grid, rate, **cabac) for rate in RATES]
        runs += [measurement("whole", grid, rate) for rate in RATES]
        runs += [measurement("tiles", grid, rate, 1, "common") for rate in FEWER_RATES]
        runs += [measurement("tiles", grid, 1500, 1, "common", **verify)]
    runs += [measurement("tiles", 3, 1500, 1, "common", **verify, **calm)]
    runs += [measurement("tiles", 3, 1500, 1, "common", **verify, refresh=40)]
    runs += [measurement("tiles", 3, 1500, **verify)]
    runs += [measurement("tiles", 3, rate, 1, "common", **{"no-merges": True}) for rate in AROUND_1500]
    runs += [measurement("tiles", 3, rate, 1, "common", **{"no-joins": True}) for rate in AROUND_1500]
    runs += [measurement("whole", 3, 1500, complexity) for complexity in [0, 2]]
    runs += [measurement("tiles", 3, 1500, 0, "common")]
    runs += [measurement("tiles", grid, rate, 1, "common", **verify) for grid in [2, 3, 4] for rate in [800, 2500]]
    return runs


def run(program, clips, options, log):
    command = [program, "--clips", f"{clips}/{options.get('content', '')}"]
    for name, value in options.items():
        if name == "content":
            continue
        command += [f"--{name}"] + ([] if value is True else [str(value)])
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    log.write(json.dumps({"run": options, **json.loads(result.stdout)}) + "\n")
    log.flush()


@contextlib.contextmanager
def held(path):
    """Holds the lock that keeps other work off the processor, if there is one."""
    if path is None:
        yield
        return
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure(options):
    done = [entry["run"] for entry in read(options.results)]
    todo = [entry for entry in plan() if entry not in done]
    with open(options.results, "a") as log:
        while todo:
            with held(options.lock):
                start = time.monotonic()
                while todo and time.monotonic() - start < BATCH:
                    run(options.program, options.clips, todo.pop(0), log)
            print(f"{len(todo)} measurements left", flush=True)


def read(path):
    if not pathlib.Path(path).exists():
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


def select(results, **wanted):
    return [entry for entry in results if all(entry["run"].get(name) == value for name, value in wanted.items())]


def at_rate(points, kbps, name):
    """A figure of the tiles at the rate of a whole canvas, between the nearest rates on a logarithmic scale."""
    points = sorted(points, key=lambda point: point["kbps"])
    below = [point for point in points if point["kbps"] <= kbps]
    above = [point for point in points if point["kbps"] > kbps]
    if len(points) == 1 and abs(kbps / points[0]["kbps"] - 1) < 0.01:
        return points[0][name]
    if not below or not above:
        return None
    low, high = below[-1], above[0]
    part = math.log(kbps / low["kbps"]) / math.log(high["kbps"] / low["kbps"])
    return low[name] + part * (high[name] - low[name])


def compare(results):
    """Each row: tiles and other ways at the actual rate of whole canvases."""
    rows = []
    for grid, content in [(2, None), (3, None), (3, "calm"), (4, None)]:
        here = select(results, grid=grid, content=content, verify=None)
        for rate in RATES:
            wholes = select(here, way="whole", kbps=rate, cabac=True)
            if not wholes:
                continue
            whole = wholes[0]
            row = {"pictures": grid * grid, "content": content or "lively", "target": rate, "kbps": whole["kbps"]}
            row["ways"] = {"whole, CABAC": whole}
            for name, wanted in WAYS.items():
                points = select(here, **wanted)
                if wanted["way"] == "whole" and wanted.get("rate-control") != "common":
                    points = select(points, kbps=rate)
                names = ["cores", "assemblyCores", "decodeCores", "psnr", "ssim", "headerKbps", "slices"]
                figures = {name: at_rate(points, whole["kbps"], name) for name in names}
                if figures["psnr"] is not None:
                    row["ways"][name] = figures
            rows.append(row)
    return rows


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def comparison(rows):
    lines = []
    for row in rows:
        whole = row["ways"]["whole, CABAC"]
        for name, figures in row["ways"].items():
            line = [row["pictures"], row["content"], f"{row['kbps']:.0f}", name, f"{figures['cores']:.2f}"]
            is_other = figures is not whole
            line.append(f"{figures['cores'] / whole['cores']:.2f}" if is_other else "")
            line += [f"{figures['psnr']:.2f}", f"{figures['psnr'] - whole['psnr']:+.2f}" if is_other else ""]
            line += [f"{figures['ssim']:.4f}", f"{figures['ssim'] - whole['ssim']:+.4f}" if is_other else ""]
            lines.append(line)
    heads = ["pictures", "content", "kbit/s", "way", "cores", "of whole", "PSNR", "dB", "SSIM", "difference"]
    return table(heads, lines)


def summary(rows):
    """What decides: tiles against both kinds of whole canvases."""
    lines = []
    for row in rows:
        names = ["whole, CABAC", "whole, CAVLC", "tiles, one QP"]
        if not all(name in row["ways"] for name in names):
            continue
        cabac, cavlc, tiles = (row["ways"][name] for name in names)
        lines.append([
            row["pictures"], row["content"], f"{row['kbps'] / 1000:.1f}", f"{cabac['cores']:.2f}",
            f"{tiles['cores']:.2f} ({tiles['assemblyCores']:.3f})", f"{100 * tiles['cores'] / cabac['cores']:.0f} %",
            f"{tiles['psnr']:.1f}", f"{tiles['psnr'] - cabac['psnr']:+.2f}", f"{tiles['psnr'] - cavlc['psnr']:+.2f}",
            f"{cabac['ssim']:.3f}", f"{cavlc['ssim']:.3f}", f"{tiles['ssim']:.3f}"])
    return table(["pictures", "clips", "Mbit/s", "cores, whole", "tiles (assembly)", "of whole", "PSNR", "to CABAC, dB",
                  "to CAVLC, dB", "SSIM, CABAC", "CAVLC", "tiles"], lines)


def verification(results):
    lines = []
    for entry in select(results, verify=True):
        what = "a rate each" if entry["rateControl"] == "own" else "one QP"
        if entry["run"].get("content"):
            what += ", calm"
        if entry["run"].get("no-merges"):
            what += ", only skipped rows joined"
        if entry["refresh"]:
            what += ", a tile begins anew"
        lines.append([entry["pictures"], entry["target"], what, entry["compared"], entry["different"],
                      entry["comparedOpenH264"], entry["differentOpenH264"], entry["dirtyRims"], entry["reach"]])
    return table(["pictures", "kbit/s", "tiles", "compared", "different", "with OpenH264", "different", "rims not flat",
                  "reach"], lines)


def costs(results):
    lines = []
    for entry in results:
        if entry["run"].get("verify"):
            continue
        name = {"own": "a rate each", "common": "one QP"}[entry["rateControl"]]
        name += ", no joins" if not entry["joins"] else ""
        name += ", only skipped rows joined" if entry["run"].get("no-merges") else ""
        name += ", CABAC" if entry["run"].get("cabac") else ""
        name += ", one slice" if entry["run"].get("unsliced") else ""
        name += ", halved" if entry["run"].get("halved") else ""
        name += ", calm" if entry["run"].get("content") else ""
        lines.append([entry["pictures"], entry["way"] + ", " + name, entry["complexity"], entry["target"],
                      f"{entry['kbps']:.0f}", f"{entry['cores']:.3f}", f"{entry['assemblyCores']:.3f}",
                      f"{entry['decodeCores']:.3f}", f"{entry['psnr']:.2f}", f"{entry['ssim']:.4f}",
                      f"{entry['slices']:.0f}", f"{entry['headerKbps']:.0f}"])
    lines.sort(key=lambda line: (line[0], line[1], line[2], line[3]))
    return table(["pictures", "way", "complexity", "target", "kbit/s", "cores", "assembly", "decoding", "PSNR", "SSIM",
                  "slices", "headers, kbit/s"], lines)


def report(options):
    results = read(options.results)
    rows = compare(results)
    parts = ["# Results", "", "## What decides", "", *summary(rows), "", "## At the rate of whole canvases", "", *comparison(rows), "", "## Bit-exactness", "",
             *verification(results), "", "## All measurements", "", *costs(results), ""]
    folder = pathlib.Path(__file__).parent
    (folder / "results.md").write_text("\n".join(parts))
    (folder / "results.json").write_text(json.dumps({"comparison": rows, "measurements": results}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["measure", "report"])
    parser.add_argument("--program", default="../../out/stitching/stitching")
    parser.add_argument("--clips", default="../../out/stitching/clips")
    parser.add_argument("--results", default="../../out/stitching/results.jsonl")
    parser.add_argument("--lock", help="a file to lock while a batch runs")
    options = parser.parse_args()
    measure(options) if options.action == "measure" else report(options)


if __name__ == "__main__":
    main()
