"""Bring many recipients in from a file of lines, `{"id": ..., "email": ...}` each."""

import json
import sys
from collections.abc import Iterator

from tidings import Tidings, models, params


def people(path: str) -> Iterator[params.NamedRecipient]:
    with open(path) as lines:
        for line in lines:
            yield json.loads(line)


with Tidings() as client:
    for answer in client.recipients.change_stream(people(sys.argv[1]), answers="problems"):
        if isinstance(answer, models.Rejected):
            print(f"line {answer.line}: {answer.problem.detail}", file=sys.stderr)
        elif isinstance(answer, models.Counted):
            print("done:", answer.done, "refused:", answer.problems)
