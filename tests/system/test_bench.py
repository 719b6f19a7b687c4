#!/usr/bin/env python3
"""`fumehood bench`: every side is measured or its absence told, and the report says the same in both forms."""

import json
import shutil

from harness import contains, equal, fumehood, main, test

SIDES = ["bare spawn", "bubblewrap", "fumehood run", "fumehood engine", "fumehood run, level 1", "fumehood engine, level 1"]


@test(timeout=120)
def the_json_has_every_side_and_its_numbers():
    done = fumehood("bench", "--quick", "--runs", "2", "--only", "true", "--json", timeout=110)
    equal(done.status, 0, "status (%r)" % done.err)
    found = json.loads(done.out)
    equal([p["program"] for p in found["programs"]], ["true"], "programs")
    sides = found["programs"][0]["sides"]
    equal([s["side"] for s in sides], SIDES, "sides")
    for side in sides:
        if "missing" in side:
            equal(bool(side["missing"]), True, "a reason for %s" % side["side"])
            continue
        for key in ("median_ms", "p99_ms", "ratio_bare"):
            equal(side[key] > 0, True, "%s of %s" % (key, side["side"]))
        equal(side["median_ms"] <= side["p99_ms"], True, "median and p99 of %s" % side["side"])
        equal(sorted(side["per_second"]), ["1", "2", "8"], "widths of %s" % side["side"])
        equal(all(v > 0 for v in side["per_second"].values()), True, "rates of %s" % side["side"])
    equal("missing" in sides[0], False, "the bare spawn is there")
    if not shutil.which("bwrap"):
        contains(sides[1]["missing"], "not installed", "what is said of bubblewrap")
    if "missing" not in sides[3]:
        equal(sum(found["programs"][0]["phases_ms"].values()) > 0, True, "phases")


@test(timeout=120)
def the_table_says_the_same():
    done = fumehood("bench", "--quick", "--runs", "1", "--only", "true", "--phases", timeout=110)
    equal(done.status, 0, "status (%r)" % done.err)
    text = done.out.decode()
    for side in SIDES:
        contains(text, side)
    contains(text, "x bwrap")


@test
def wrong_use_is_told():
    for args in (["--runs", "0"], ["--runs", "-3"], ["--runs", "1x"], ["--only", "nothing"], ["--none"], ["more"]):
        done = fumehood("bench", *args)
        equal(done.status, 125, "status of %r" % args)
        equal(done.err.startswith(b"fumehood: "), True, "what %r says: %r" % (args, done.err))


main()
