"""The synchronous client. But for `platform`, it is made of `_async` by `python -m codegen`."""
