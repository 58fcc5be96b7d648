"""The things that events are about.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ... import models, params
from ..._values import UNSET, Unset, given, segment
from ..platform import Items, Stream
from ..transport import Transport


class Objects:
    """The things that events are about."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def change_many(
        self,
        items: Sequence[params.NamedObject],
        /,
        *,
        idempotency_key: str | None = None,
    ) -> builtins.list[models.ItemAnswer]:
        """Create or change many objects.

        Takes an array of at most 10,000 objects, or a stream of any length with one per line.
        Changes the given fields only. Each item is accepted or rejected by itself; the answers are
        in order.

        Args:
            items: What is sent, in its order.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: builtins.list[models.ItemAnswer] = self._transport.call(
            builtins.list[models.ItemAnswer],
            "POST",
            "/v1/objects",
            body=items,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def change_stream(
        self,
        items: Items[params.NamedObject],
        /,
        *,
        answers: Literal["all", "problems"] | None = None,
        idempotency_key: str | None = None,
    ) -> Stream[models.LineAnswer]:
        """Create or change many objects.

        Takes an array of at most 10,000 objects, or a stream of any length with one per line.
        Changes the given fields only. Each item is accepted or rejected by itself; the answers are
        in order.

        Args:
            items: What is sent, one by one.
            answers: For a stream of lines: `all` answers each line; `problems` answers only
                failed lines, and adds a last line of counts. An array is always answered item by
                item.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        return self._transport.upload(
            models.LineAnswer,
            "/v1/objects",
            items,
            query={"answers": answers},
            idempotency_key=idempotency_key,
        )

    def upsert(
        self,
        object: str,
        /,
        *,
        data: Mapping[str, Any] | Unset | None = UNSET,
        image: str | Unset | None = UNSET,
        image_size: params.ImageSize | Unset | None = UNSET,
        notifiable: bool | Unset | None = UNSET,
        title: params.HostText | Unset | None = UNSET,
        url: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> None:
        """Create or change an object.

        Changes the given fields only; null counts as not given. Lifts a retraction. The values are
        kept until they are changed or the object is deleted, even if no event names the object;
        `[limits] objects` bounds the number of such objects.

        Args:
            object: Object id.
            data: Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
            image: Address of a picture.
            image_size: Size of the picture; removed by a new `image` without one.
            notifiable: False = notifications about it are not sent.
            title: A title to show, or an object with a title for each locale.
            url: Address of its page.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "PUT",
            f"/v1/objects/{segment(object)}",
            body=given(
                {
                    "data": data,
                    "image": image,
                    "image_size": image_size,
                    "notifiable": notifiable,
                    "title": title,
                    "url": url,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )

    def retract(self, object: str, /, *, idempotency_key: str | None = None) -> None:
        """Retract an object.

        Skips pending notifications about the object when their message is built. A later publish or
        change of the object lifts the retraction. The object is then kept only as long as a kept
        day names it.

        Args:
            object: Object id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "DELETE",
            f"/v1/objects/{segment(object)}",
            changes=True,
            idempotency_key=idempotency_key,
        )
