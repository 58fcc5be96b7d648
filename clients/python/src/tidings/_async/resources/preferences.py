"""Choices of recipients by type, category and channel, and their quiet hours.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ... import models, params
from ..._values import UNSET, Unset, given, segment
from ..transport import AsyncTransport


class AsyncPreferences:
    """Choices of recipients by type, category and channel, and their quiet hours."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self, recipient: str, /) -> builtins.list[models.Preference]:
        """List the preferences of a recipient.

        Returns the preferences for types, categories and digests that are configured now, and
        mutes. A preference that is the same on each channel is one item, on `*`. Without a
        preference the policy of the type applies. With `choices=true`, and for end users, the list
        is `preferences` of an object that has everything for a page of preferences: for each
        category and type the modes that may be chosen, the mode in force and its source; mutes,
        quiet hours with those in force and their time zone, and the key of Web Push.

        Args:
            recipient: Recipient id.
        """
        answer: builtins.list[models.Preference] = await self._transport.call(
            builtins.list[models.Preference],
            "GET",
            f"/v1/recipients/{segment(recipient)}/preferences",
        )
        return answer

    async def choices(self, recipient: str, /) -> models.AllPreferences:
        """List the preferences of a recipient.

        Returns the preferences for types, categories and digests that are configured now, and
        mutes. A preference that is the same on each channel is one item, on `*`. Without a
        preference the policy of the type applies. With `choices=true`, and for end users, the list
        is `preferences` of an object that has everything for a page of preferences: for each
        category and type the modes that may be chosen, the mode in force and its source; mutes,
        quiet hours with those in force and their time zone, and the key of Web Push.

        Args:
            recipient: Recipient id.
        """
        answer: models.AllPreferences = await self._transport.call(
            models.AllPreferences,
            "GET",
            f"/v1/recipients/{segment(recipient)}/preferences",
            query={"choices": True},
        )
        return answer

    async def replace(
        self,
        recipient: str,
        items: Sequence[params.Preference],
        /,
        *,
        idempotency_key: str | None = None,
    ) -> models.Warned | None:
        """Replace all preferences of a recipient.

        Resets preferences that are not in the list to their default, but keeps a `never` for a type
        or category that is not configured now. Lifts mutes that are not in the list. Either the
        whole list is accepted or nothing. Pending notifications move to the lane that applies now;
        `never` cancels them. With `tenant` in the query the list is that of the tenant; preferences
        with another tenant or without one stay.

        Args:
            recipient: Recipient id.
            items: What is sent, in its order.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.Warned | None = await self._transport.call(
            models.Warned | None,
            "PUT",
            f"/v1/recipients/{segment(recipient)}/preferences",
            body=items,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def patch(
        self,
        recipient: str,
        /,
        *,
        preferences: Sequence[params.Preference] | Unset = UNSET,
        quiet_hours: params.QuietHoursChoice | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.Warned | None:
        """Set some preferences of a recipient.

        Sets the preferences in the list; the others stay as they are. `default` removes a
        preference. Either the whole list is accepted or nothing. Pending notifications move to the
        lane that applies now; `never` cancels them. The body may also be an object with the list as
        `preferences` and with `quiet_hours` like those of a profile, both optional.

        Args:
            recipient: Recipient id.
            preferences: Preferences to set; the others stay as they are.
            quiet_hours: Quiet hours: the recipient's own, null = none, `default` = those of
                each channel.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.Warned | None = await self._transport.call(
            models.Warned | None,
            "PATCH",
            f"/v1/recipients/{segment(recipient)}/preferences",
            body=given({"preferences": preferences, "quiet_hours": quiet_hours}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer
