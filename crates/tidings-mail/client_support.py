#!/usr/bin/env python3
"""Makes src/templates/client_support.tsv from the data of caniemail.com.

    python3 client_support.py caniemail.json.gz > src/templates/client_support.tsv

Kept is what one of the clients does not support, or in part, and what can be told from the source of a mail: properties, some of
their values, functions and units, at-rules, pseudo-classes, elements and attributes.
"""

import gzip
import json
import re
import sys

CLIENTS = [
    ("Gmail", "gmail", "desktop-webmail"), ("Gmail on Android", "gmail", "android"),
    ("Outlook on Windows", "outlook", "windows"), ("Outlook.com", "outlook", "outlook-com"),
    ("Apple Mail", "apple-mail", "macos"), ("Mail on iOS", "apple-mail", "ios"),
    ("Yahoo Mail", "yahoo", "desktop-webmail"), ("Samsung Email", "samsung-email", "android"),
]
# Features of several properties, or whose name is not that of the property.
PROPERTIES = {
    "gap": ["gap", "column-gap", "row-gap"],
    "left-right-top-bottom": ["left", "right", "top", "bottom"],
    "flex-direction": [], "flex-wrap": [], "block-inline-size": ["block-size"],
    "border-radius-logical": [], "border-inline-block": ["border-inline", "border-block"],
    "border-inline-block-individual": [], "border-inline-block-longhand": [], "column-layout-properties": ["columns"],
    "margin-block-start-end": ["margin-block-start", "margin-block-end"],
    "margin-inline-start-end": ["margin-inline-start", "margin-inline-end"],
    "margin-inline-block": ["margin-inline", "margin-block"],
    "padding-block-start-end": ["padding-block-start", "padding-block-end"],
    "padding-inline-start-end": ["padding-inline-start", "padding-inline-end"],
    "padding-inline-block": ["padding-inline", "padding-block"],
    "grid-template": ["grid-template-columns", "grid-template-rows", "grid-template-areas"],
    "intrinsic-size": [], "modern-color": [], "scroll-snap": ["scroll-snap-type"], "nesting": [], "variables": [],
    "sytem-ui": [], "comments": [],
}
TEXTS = {
    "css-display-flex": "display:flex", "css-display-grid": "display:grid", "css-flex-direction": "flex-direction:column",
    "css-flex-wrap": "flex-wrap:wrap", "css-variables": "var(", "css-unit-calc": "calc(", "css-rgba": "rgba(",
    "css-function-clamp": "clamp(", "css-function-min": "min(", "css-function-max": "max(",
    "css-function-light-dark": "light-dark(", "css-linear-gradient": "linear-gradient(",
    "css-radial-gradient": "radial-gradient(", "css-conic-gradient": "conic-gradient(",
    "css-at-media-prefers-color-scheme": "prefers-color-scheme", "css-at-media": "@media",
    "css-at-media-prefers-reduced-motion": "prefers-reduced-motion", "css-at-media-orientation": "orientation:",
    "css-at-media-hover": "(hover", "css-at-font-face": "@font-face", "css-at-import": "@import",
    "css-at-keyframes": "@keyframes", "css-at-supports": "@supports",
}
ELEMENTS = {"svg", "video", "audio", "picture", "object", "form", "link", "dialog", "meter", "progress", "select",
            "textarea", "bdi", "abbr", "acronym", "ruby", "wbr"}
ATTRIBUTES = {"srcset", "target", "hidden", "loading-attribute", "popover", "required", "aria-label", "aria-hidden",
              "aria-describedby", "aria-labelledby", "aria-live"}


def rows(feature, support):
    slug = feature["slug"]
    kind, _, name = slug.partition("-")
    if slug in TEXTS:
        yield "text", TEXTS[slug], support
    elif name.startswith("pseudo-class-"):
        yield "text", ":" + name.removeprefix("pseudo-class-"), support
    elif name.startswith("pseudo-element-"):
        yield "text", "::" + name.removeprefix("pseudo-element-"), support
    elif kind == "css" and not re.match("at-|unit-|selector-|function-", name):
        for known in PROPERTIES.get(name, [name]):
            yield "property", known, support
    elif kind == "html" and name in ELEMENTS:
        yield "element", name, support
    elif kind == "html" and name in ATTRIBUTES:
        yield "attribute", name.removesuffix("-attribute"), support


def main():
    with gzip.open(sys.argv[1], "rt", encoding="utf-8") as file:
        known = json.load(file)
    print("# Support of HTML and CSS by mail clients, from caniemail.com (npm caniemail 1.0.5, data of 9 September")
    print("# 2025, MIT): y yes, a in part, n no, u and ? unknown. Made by support.py.")
    print("clients", *(name for name, _, _ in CLIENTS), sep="\t")
    found = []
    for feature in known["data"]:
        tests = [feature["stats"].get(family, {}).get(platform) for _, family, platform in CLIENTS]
        support = "".join(list(of.values())[-1][0] if of else "?" for of in tests)
        if "n" in support or "a" in support:
            found += rows(feature, support)
    for row in sorted(set(found)):
        print(*row, sep="\t")


main()
