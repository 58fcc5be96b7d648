"""Checks that each call of the document is described, and that each example fits its schema."""

import json
import sys

from jsonschema import Draft202012Validator, FormatChecker

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
faults = []
checked = 0


def resolved(value):
    while "$ref" in value:
        target = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        value = target
    return value


def check(where, schema, example):
    global checked
    checked += 1
    # References in a schema are looked up in the whole document.
    validator = Draft202012Validator({**document, **schema}, format_checker=FormatChecker())
    faults.extend(f"{where}: {fault.message}" for fault in validator.iter_errors(example))


def examples(content):
    found = [resolved(example)["value"] for example in content.get("examples", {}).values()]
    schema = resolved(content["schema"])
    return found + [holder["example"] for holder in (content, schema) if "example" in holder]


for path, methods in document["paths"].items():
    for method, operation in methods.items():
        call = f"{method} {path}"
        if not operation.get("summary") or not operation.get("description"):
            faults.append(f"{call}: no description")
        for parameter in map(resolved, operation.get("parameters", [])):
            name = f"{call} {parameter['name']}"
            if "example" in parameter:
                check(name, parameter["schema"], parameter["example"])
            elif parameter["in"] == "path":
                faults.append(f"{name}: no example")
        bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
        for name, body in bodies.items():
            for media, content in resolved(body).get("content", {}).items():
                where = f"{call} {name} {media}"
                found = examples(content)
                if not found and media != "application/octet-stream":
                    faults.append(f"{where}: no example")
                for example in found:
                    check(where, content["schema"], example)
for name, schema in document["components"]["schemas"].items():
    if "example" in schema:
        check(name, schema, schema["example"])

print(f"{checked} examples", *faults, sep="\n")
sys.exit(bool(faults) or checked < 100)
