"""The client of tidings, a notification engine.

    from tidings import Tidings

    client = Tidings("http://127.0.0.1:8990", key)
    client.events.publish(type="comment", object={"id": "note-7"}, to={"recipients": ["ana"]})

`AsyncTidings` has the same methods. The types of answers are in `tidings.models`, those of the
parts of requests in `tidings.params`, and the errors in `tidings.errors`.
"""

from . import errors, models, params, webhooks
from ._async.client import AsyncTidings
from ._call import VERSION as __version__
from ._call import LiveEvent, VersionWarning
from ._errors import AnswerError, APIConnectionError, APIError, APITimeoutError, TidingsError
from ._sync.client import Tidings
from ._values import UNSET, Unset
from .tokens import sign_token

__all__ = [
    "UNSET",
    "APIConnectionError",
    "APIError",
    "APITimeoutError",
    "AnswerError",
    "AsyncTidings",
    "LiveEvent",
    "Tidings",
    "TidingsError",
    "Unset",
    "VersionWarning",
    "__version__",
    "errors",
    "models",
    "params",
    "sign_token",
    "webhooks",
]
