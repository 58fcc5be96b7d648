"""Writes real hours of GitHub, or the history of crates, as a timeline that `tidings simulate` plays.

    python3 timeline.py github DATA > github.ndjson
    python3 timeline.py crates DATA > crates.ndjson

DATA holds the files that are named below: GH Archive's public events and mutual follows of 37,700 people, and the
crates.io index as publishes and follows.
"""

import glob
import gzip
import json
import os
import sys


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from file


def write(at, op, **fields):
    print(json.dumps({"at": at, "op": op, **fields}, separators=(",", ":")))


def github(data):
    """People follow each other; each deed is told to those who follow the one who did it."""
    follows = {}
    for line in lines(os.path.join(data, "social/github_mutual_follows.csv.gz")):
        if line.startswith("user"):
            continue
        one, other = (int(user) for user in line.split(","))
        follows.setdefault(one, set()).add(other)
        follows.setdefault(other, set()).add(one)
    events = []
    for path in sorted(glob.glob(os.path.join(data, "facts_no_licence/github_*.ndjson.gz"))):
        events += [event for event in map(json.loads, lines(path)) if event["actor"] in follows]
    events.sort(key=lambda event: event["t"])
    begin = events[0]["t"]
    for user in sorted(follows):
        write(begin, "recipient", id=str(user), email=f"{user}@users.example")
        for other in sorted(follows[user]):
            write(begin, "subscribe", recipient=str(user), topic=f"user/{other}")
    for event in events:
        write(
            event["t"],
            "publish",
            id=event["id"],
            type="deed",
            actor=str(event["actor"]),
            object={"id": f"repository/{event['object']}"},
            data={"verb": event["verb"]},
            to={"topics": [f"user/{event['actor']}"]},
        )


def crates(data):
    """Packages follow what they depend on; each version is told to those who follow its package."""
    made = set()
    path = os.path.join(data, "facts_no_licence/crates_timeline_2014_2023.ndjson.gz")
    for version in map(json.loads, lines(path)):
        at, name, number = version["t"], version["actor"], version["version"]
        if name not in made:
            made.add(name)
            write(at, "recipient", id=name, email=f"{name}@crates.example")
        for other in version.get("follow") or []:
            write(at, "subscribe", recipient=name, topic=f"crate/{other}")
        for other in version.get("unfollow") or []:
            write(at, "unsubscribe", recipient=name, topic=f"crate/{other}")
        write(
            at,
            "publish",
            id=f"{name}@{number}",
            type="deed",
            actor=name,
            object={"id": f"{name}@{number}", "title": f"{name} {number}"},
            to={"topics": [f"crate/{name}"]},
        )


if __name__ == "__main__":
    {"github": github, "crates": crates}[sys.argv[1]](sys.argv[2])
