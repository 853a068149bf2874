"""Compares what the Firefox Profiler's own command line reads with the profile that it loaded.

Arguments: the output of `profiler-cli thread functions --json` of each thread, in order, after the profile.
"""

import collections
import json
import sys

profile = json.load(open(sys.argv[1]))
shared = profile["shared"]
names, frames, stacks = shared["stringArray"], shared["frameTable"], shared["stackTable"]


def path(stack):
    while stack is not None:
        yield names[shared["funcTable"]["name"][frames["func"][stacks["frame"][stack]]]]
        stack = stacks["prefix"][stack]


assert len(profile["threads"]) == len(sys.argv) - 2, "threads"
for thread, shown in zip(profile["threads"], sys.argv[2:]):
    shown = json.load(open(shown))
    samples = thread["samples"]
    own, total = collections.Counter(), collections.Counter()
    for stack, weight in zip(samples["stack"], samples["weight"]):
        functions = list(path(stack))
        own[functions[0]] += weight
        for function in set(functions):
            total[function] += weight
    # Functions of different files may have one name. Their own samples add up, the totals do not.
    read, times = collections.Counter(), collections.Counter(f["name"] for f in shown["functions"])
    for function in shown["functions"]:
        name = function["name"]
        read[name] += function["selfSamples"]
        assert times[name] > 1 or function["totalSamples"] == total[name], f"{thread['name']}: {function}"
    assert +read == +own and set(times) == set(total), f"{thread['name']}: {read} and not {own}"
    print(f"{sum(own.values())}\t{thread['name']}: {len(times)} names of functions")
