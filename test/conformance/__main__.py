"""Count what gecc makes of every case: `python -m test.conformance [-k REGEX] [--groups ...] [--json FILE]`.

Exits with 1 when a result is wrong, or a case ends in an error, a crash or a timeout; refusals are listed by reason.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from test.conformance.cases import GROUPS, collect
from test.conformance.run import STATUSES, Outcome, run_all

FAULTS = ("wrong", "error", "crash", "timeout")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m test.conformance", description=__doc__)
    parser.add_argument("--groups", default=",".join(GROUPS), help="groups, separated by commas (default: all)")
    parser.add_argument("-k", metavar="REGEX", default="", help="only cases whose name matches")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default: 2)")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds that a case may take (default: 120)")
    parser.add_argument("--no-host", action="store_true", help="nothing may run on the host: it is refused instead")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each outcome to a file, a line as it comes")
    args = parser.parse_args()
    cases = [c for c in collect(args.groups.split(",")) if re.search(args.k, c.name)]
    outcomes: list[Outcome] = []
    with args.json.open("w") if args.json else nullcontext() as file:
        for outcome in run_all(cases, jobs=args.jobs, timeout=args.timeout, no_host=args.no_host):
            outcomes.append(outcome)
            if file is not None:
                row = {"group": outcome.case.group, "name": outcome.case.name, "status": outcome.status}
                file.write(json.dumps({**row, "message": outcome.message, "seconds": outcome.seconds}) + "\n")
                file.flush()
    outcomes.sort(key=lambda o: (o.case.group, o.case.name))
    print(report(outcomes))
    return int(any(o.status in FAULTS for o in outcomes))


def report(outcomes: Sequence[Outcome]) -> str:
    """Counts by group and status, every fault, and the reasons of refusals, most frequent first."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        for row in (outcome.case.group, "all"):
            counts[row][outcome.status] += 1
    rows = [*sorted(set(counts) - {"all"}), *(["all"] if counts else [])]
    lines = ["".join([f"{'group':20}", *(f"{s:>12}" for s in STATUSES), f"{'cases':>8}"])]
    for row in rows:
        total = sum(counts[row].values())
        lines.append("".join([f"{row:20}", *(f"{counts[row][s]:12}" for s in STATUSES), f"{total:8}"]))
    native, hosted = counts["all"]["pass"] + counts["all"]["disputed"], counts["all"]["host"]
    lines.append(f"\n{native + hosted} pass, {native} of them with the host forbidden")
    lines += [
        f"\n{o.status} {o.case.group} {o.case.name}: {_short(o.message)}"
        for o in outcomes
        if o.status in (*FAULTS, "disputed")
    ]
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.status == "unsupported":
            reasons[reason(outcome.message)].append(outcome.case.name)
    on_host = Counter(o.message for o in outcomes if o.status == "host")
    if on_host:
        lines.append("\non the host, by operators:")
    lines += [
        f"{n:6}  {operators}" for operators, n in sorted(on_host.items(), key=lambda entry: (-entry[1], entry[0]))
    ]
    if reasons:
        lines.append("\nunsupported, by reason:")
    for text, names in sorted(reasons.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        lines.append(f"{len(names):6}  {text}  ({', '.join(names[:2])}{', ...' if len(names) > 2 else ''})")
    return "\n".join(lines)


def reason(message: str) -> str:
    """The rule in a refusal, without what is particular to its model."""
    text = " ".join(message.split())
    text = re.sub(
        r"^UnsupportedError: |\d+ parts? of the model cannot be compiled: | '[^']*' \(node \d+, opset \d+\)", "", text
    )
    text = re.sub(r"; inputs .*|'[^']*'| of opset \d+", lambda m: "" if m[0][0] != "'" else "..", text)
    return text.removesuffix(" in <ModelProto>")[:160]


def _short(message: str) -> str:
    return " ".join(message.split())[:300]


if __name__ == "__main__":
    sys.exit(main())
