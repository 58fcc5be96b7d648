"""Writes the generated files of the client. Run `python -m codegen` in `clients/python`.

`docs/openapi.json` makes `models`, `params` and `_async/resources`, `docs/errors.md` makes
`errors`, and `_async` makes `_sync`. With `--check` nothing is written: it fails if a file is not
what it would be.
"""
