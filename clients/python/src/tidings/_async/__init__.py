"""The asynchronous client. `_sync` is made of these files by `python -m codegen`."""
