#!/usr/bin/env python3
"""Makes the demo's data from the full sources (see CREDITS.md).

    python3 subset.py SOURCES

SOURCES holds art/moma_artists.csv.gz, art/moma_artworks.ndjson.gz,
art/shows_moma_1929_1989.ndjson.gz, geo/cities5000.csv.gz and social/npm_followers.tsv.gz.
The same sources give the same bytes.
"""

import collections
import csv
import gzip
import json
import math
import pathlib
import re
import sys
import unicodedata

# Fourteen weeks, Monday to Monday. They hold Warhol's Marilyn portfolio (5 February 1968), the
# Janis Collection show and the 4,929 Atget prints that came on one day (6 March 1968).
FIRST, LAST = "1967-12-04", "1968-03-11"
WARHOL = 6246
ARTISTS_MAX = 3000
MUSEUM = (40.76140, -73.97760)
# Small towns count only where somebody may hear of a show nearby.
CITY_POPULATION_MIN, NEAR_KM_MAX = 100_000, 200


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from file


def write(name, rows):
    text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    # No file name and no time in the header, so that the same rows are the same bytes.
    with open(name, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(text.encode())
    print(f"{name}: {len(rows)} rows, {pathlib.Path(name).stat().st_size} bytes")


def slug(name):
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o").replace("ł", "l").replace("Ł", "L"))
    plain = plain.encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def kilometres(a, b):
    (lat_a, lon_a), (lat_b, lon_b) = [tuple(map(math.radians, place)) for place in (a, b)]
    half = math.sin((lat_b - lat_a) / 2) ** 2
    half += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(half))


def known(**fields):
    return {key: value for key, value in fields.items() if value not in (None, "", [])}


def art(source):
    names = {int(r["ConstituentID"]): r for r in csv.DictReader(lines(source / "moma_artists.csv.gz"))}
    works = [json.loads(line) for line in lines(source / "moma_artworks.ndjson.gz")]
    shows = [json.loads(line) for line in lines(source / "shows_moma_1929_1989.ndjson.gz")]

    shown, owned = collections.Counter(), collections.Counter()
    for show in shows:
        shown.update({a["constituent_id"] for a in show["artists"] if a.get("constituent_id") in names})
    for work in works:
        owned.update(i for i in work["ArtistIDs"] if i in names)

    acquired = [w for w in works if FIRST <= w["DateAcquired"] <= LAST and set(w["ArtistIDs"]) & set(names)]
    opened = [s for s in shows if FIRST <= (s["opens"] or "") <= LAST]
    wanted = {i for w in acquired for i in w["ArtistIDs"]}
    wanted |= {a.get("constituent_id") for s in opened for a in s["artists"]}
    # Warhol leads, as he does among real followers; the others stand by how often they were shown.
    order = sorted(names, key=lambda i: (i != WARHOL, -shown[i], -owned[i], i))
    order = [i for n, i in enumerate(order) if n < ARTISTS_MAX or i in wanted]

    taken, artists = set(), []
    for i in order:
        name = slug(names[i]["DisplayName"]) or f"artist-{i}"
        name = f"{name}-{i}" if name in taken else name
        taken.add(name)
        artists.append(known(id=i, slug=name, name=names[i]["DisplayName"], life=names[i]["DisplayDate"],
                             shows=shown[i], works=owned[i]))
    write("artists.ndjson.gz", artists)

    write("works.ndjson.gz", [
        known(id=w["ObjectID"], title=w["Title"], artists=[i for i in w["ArtistIDs"] if i in names],
              height=w["HeightCm"], width=w["WidthCm"], date=w["Date"], medium=w["Medium"], credit=w["CreditLine"], acquired=w["DateAcquired"], url=w["URL"])
        for w in sorted(acquired, key=lambda w: (w["DateAcquired"], w["ObjectID"]))])
    write("shows.ndjson.gz", [
        known(id=s["id"], title=s["title"].strip("[] "), opens=s["opens"], closes=s["closes"], venue=s["venue"],
              address=s["address"], lat=s["lat"], lon=s["lon"], url=s["url"],
              artists=[a["constituent_id"] for a in s["artists"] if a.get("constituent_id") in names])
        for s in sorted(opened, key=lambda s: (s["opens"], s["id"]))])


def geo(source):
    rows = []
    for r in csv.DictReader(lines(source / "cities5000.csv.gz")):
        place = (float(r["latitude"]), float(r["longitude"]))
        population = int(r["population"])
        if population >= CITY_POPULATION_MIN or population and kilometres(MUSEUM, place) <= NEAR_KM_MAX:
            rows.append(dict(name=r["name"], country=r["countrycode"], lat=round(place[0], 4), lon=round(place[1], 4),
                             population=population, zone=r["timezone"]))
    write("cities.ndjson.gz", sorted(rows, key=lambda r: (-r["population"], r["name"], r["country"])))


def social(source):
    """Only the shape is kept: how many follow the n-th most followed, how many one follows."""
    followers, following = [], collections.Counter()
    for line in lines(source / "npm_followers.tsv.gz"):
        steps = line.rstrip("\n").split("\t")[1].split()
        followers.append(len(steps))
        user = 0
        for step in steps:
            user += int(step.rstrip("db"))
            following[user] += 1
    followers.sort(reverse=True)
    counts = sorted(following.values())
    ranks = sorted({min(len(followers), round(1.2 ** n)) for n in range(64)})
    shares = [n / 100 for n in range(100)] + [0.995, 0.999, 0.9999]
    curve = dict(followers=[[r, followers[r - 1]] for r in ranks],
                 following=[[s, counts[int(s * len(counts))]] for s in shares] + [[1.0, counts[-1]]])
    pathlib.Path("follow_curve.json").write_text(json.dumps(curve) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sources = pathlib.Path(sys.argv[1])
    art(sources / "art")
    geo(sources / "geo")
    social(sources / "social")
