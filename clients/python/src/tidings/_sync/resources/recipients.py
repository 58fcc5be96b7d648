"""Profiles of the people who can be notified.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from ... import models, params
from ..._values import UNSET, Unset, given, segment
from ..platform import Items, Stream
from ..transport import Transport


class Recipients:
    """Profiles of the people who can be notified."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        id_prefix: str | None = None,
        tenant: str | None = None,
        state: params.RecipientState | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.ListedRecipient]:
        """List recipients.

        Returns recipients, sorted by the bytes of their ids.

        Pages are fetched as they are needed.

        Args:
            id_prefix: Only recipients whose id begins so.
            tenant: Only members of this tenant.
            state: Only recipients in this state.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.RecipientsPage,
            "recipients",
            "/v1/recipients",
            {
                "id_prefix": id_prefix,
                "tenant": tenant,
                "state": state,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def page(
        self,
        *,
        id_prefix: str | None = None,
        tenant: str | None = None,
        state: params.RecipientState | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.RecipientsPage:
        """List recipients.

        Returns recipients, sorted by the bytes of their ids.

        This is one page; `list` gives all.

        Args:
            id_prefix: Only recipients whose id begins so.
            tenant: Only members of this tenant.
            state: Only recipients in this state.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.RecipientsPage = self._transport.call(
            models.RecipientsPage,
            "GET",
            "/v1/recipients",
            query={
                "id_prefix": id_prefix,
                "tenant": tenant,
                "state": state,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def change_many(
        self,
        items: Sequence[params.NamedRecipient],
        /,
        *,
        idempotency_key: str | None = None,
    ) -> builtins.list[models.ItemAnswer]:
        """Create or change many recipients.

        Takes an array of at most 10,000 profiles, or a stream of any length with one per line.
        Creates unknown recipients, and changes the given fields only. Each item is accepted or
        rejected by itself; the answers are in order.

        Args:
            items: What is sent, in its order.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: builtins.list[models.ItemAnswer] = self._transport.call(
            builtins.list[models.ItemAnswer],
            "POST",
            "/v1/recipients",
            body=items,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def change_stream(
        self,
        items: Items[params.NamedRecipient],
        /,
        *,
        answers: Literal["all", "problems"] | None = None,
        idempotency_key: str | None = None,
    ) -> Stream[models.LineAnswer]:
        """Create or change many recipients.

        Takes an array of at most 10,000 profiles, or a stream of any length with one per line.
        Creates unknown recipients, and changes the given fields only. Each item is accepted or
        rejected by itself; the answers are in order.

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
            "/v1/recipients",
            items,
            query={"answers": answers},
            idempotency_key=idempotency_key,
        )

    def get(self, recipient: str, /) -> models.RecipientProfile:
        """Get a recipient's profile.

        Returns the profile. Every field but `tenants` is present; null = the default of the
        configuration applies.

        Args:
            recipient: Recipient id.
        """
        answer: models.RecipientProfile = self._transport.call(
            models.RecipientProfile, "GET", f"/v1/recipients/{segment(recipient)}"
        )
        return answer

    def upsert(
        self,
        recipient: str,
        /,
        *,
        addresses: params.Addresses | Unset | None = UNSET,
        data: Mapping[str, Any] | Unset | None = UNSET,
        email: str | Unset | None = UNSET,
        lat: float | Unset | None = UNSET,
        locale: str | Unset | None = UNSET,
        lon: float | Unset | None = UNSET,
        name: str | Unset | None = UNSET,
        quiet_hours: params.QuietHoursChoice | Unset | None = UNSET,
        state: params.RecipientState | Unset = UNSET,
        tenants: Sequence[str] | Unset | None = UNSET,
        tz: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> None:
        """Put a recipient's whole profile.

        Creates or replaces the recipient. Absent fields get their default. A profile from `GET` can
        be put back unchanged.

        Args:
            recipient: Recipient id.
            addresses: Addresses by channel; null removes those of a channel, or all.
            data: Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
            email: Address of the e-mail channel, short for `addresses.email`.
            lat: Latitude, in degrees north.
            locale: BCP 47 locale.
            lon: Longitude, in degrees east.
            name: Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with
                this id and without a title.
            quiet_hours: Quiet hours: the recipient's own, null = none, `default` = those of
                each channel.
            state: The state, which decides whether messages are sent; `active` for a new
                recipient.
            tenants: All tenants of which the recipient is a member; null = none.
            tz: IANA time zone.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "PUT",
            f"/v1/recipients/{segment(recipient)}",
            body=given(
                {
                    "addresses": addresses,
                    "data": data,
                    "email": email,
                    "lat": lat,
                    "locale": locale,
                    "lon": lon,
                    "name": name,
                    "quiet_hours": quiet_hours,
                    "state": state,
                    "tenants": tenants,
                    "tz": tz,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )

    def patch(
        self,
        recipient: str,
        /,
        *,
        addresses: params.Addresses | Unset | None = UNSET,
        data: Mapping[str, Any] | Unset | None = UNSET,
        email: str | Unset | None = UNSET,
        lat: float | Unset | None = UNSET,
        locale: str | Unset | None = UNSET,
        lon: float | Unset | None = UNSET,
        name: str | Unset | None = UNSET,
        quiet_hours: params.QuietHoursChoice | Unset | None = UNSET,
        state: params.RecipientState | Unset = UNSET,
        tenants: Sequence[str] | Unset | None = UNSET,
        tz: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> None:
        """Change a recipient's profile.

        Creates the recipient if it is unknown. Changes the given fields only; null removes a value.

        Args:
            recipient: Recipient id.
            addresses: Addresses by channel; null removes those of a channel, or all.
            data: Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
            email: Address of the e-mail channel, short for `addresses.email`.
            lat: Latitude, in degrees north.
            locale: BCP 47 locale.
            lon: Longitude, in degrees east.
            name: Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with
                this id and without a title.
            quiet_hours: Quiet hours: the recipient's own, null = none, `default` = those of
                each channel.
            state: The state, which decides whether messages are sent; `active` for a new
                recipient.
            tenants: All tenants of which the recipient is a member; null = none.
            tz: IANA time zone.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "PATCH",
            f"/v1/recipients/{segment(recipient)}",
            body=given(
                {
                    "addresses": addresses,
                    "data": data,
                    "email": email,
                    "lat": lat,
                    "locale": locale,
                    "lon": lon,
                    "name": name,
                    "quiet_hours": quiet_hours,
                    "state": state,
                    "tenants": tenants,
                    "tz": tz,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )

    def erase(
        self,
        recipient: str,
        /,
        *,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.RecipientErased:
        """Erase a recipient.

        Deletes profile, preferences, subscriptions and marks at once, and puts a keyed hash in the
        place of the id in the log of changes. Pending notifications end as `cancelled` when they
        are due. Messages that are already built are not sent any more. Of somebody who is not there
        `erased` is empty and `receipt` null.

        Args:
            recipient: Recipient id.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.RecipientErased = self._transport.call(
            models.RecipientErased,
            "DELETE",
            f"/v1/recipients/{segment(recipient)}",
            query={"dry": dry, "expect": expect},
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def export(self, recipient: str, /) -> models.RecipientExport:
        """Export a recipient's data.

        Streams everything that is known about the recipient at one moment: profile, preferences,
        subscriptions, memberships, the inbox in all its states, messages with their notifications,
        suppressed addresses, and the lines of the log of changes. There is no limit of rows. The
        export itself has a line in that log. Two exports may run at once, one for each API key. The
        stream ends if its reader takes less than 64 KiB a second over a minute.

        Args:
            recipient: Recipient id.
        """
        answer: models.RecipientExport = self._transport.call(
            models.RecipientExport, "GET", f"/v1/recipients/{segment(recipient)}/export"
        )
        return answer

    def join_push(
        self,
        recipient: str,
        /,
        *,
        endpoint: str,
        keys: params.PushKeys,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """Add a browser of a recipient.

        Adds the browser's Web Push subscription, the result of `JSON.stringify(subscription)`, to
        the recipient's addresses of the channel `webpush`. With a token of a tenant it gets the
        messages of that tenant and those without one, else all messages. Replaces a subscription
        with the same endpoint and tenant. Beyond 20 browsers for a tenant, or for all tenants, the
        oldest of them is removed, and beyond 40 in all the recipient's oldest.

        Args:
            recipient: Recipient id.
            endpoint: Address of the browser's push service.
            keys: Keys of the browser.
            tenant: Subscribe to messages of this tenant and those without a tenant, as with a
                token with this claim.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "PUT",
            f"/v1/recipients/{segment(recipient)}/push",
            query={"tenant": tenant},
            body=given({"endpoint": endpoint, "keys": keys}),
            changes=True,
            idempotency_key=idempotency_key,
        )

    def leave_push(
        self,
        recipient: str,
        /,
        *,
        endpoint: str,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """Remove a browser of a recipient.

        Removes the browser's Web Push subscription, of which `endpoint` is enough. A subscription
        for another tenant than that of the token, or for all tenants, stays; a token without a
        tenant removes it for all. An unknown subscription is not an error.

        Args:
            recipient: Recipient id.
            endpoint: Address of the browser's push service.
            tenant: Only the subscription for this tenant, as with a token with this claim.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "DELETE",
            f"/v1/recipients/{segment(recipient)}/push",
            query={"tenant": tenant},
            body=given({"endpoint": endpoint}),
            changes=True,
            idempotency_key=idempotency_key,
        )

    def revoke_tokens(
        self,
        recipient: str,
        /,
        *,
        before: datetime | str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.TokensRevoked:
        """Revoke a recipient's tokens.

        Refuses the tokens of end users that were issued for the recipient so far, whether the
        recipient is there or not. Tokens that are issued later are accepted. Erasing a recipient
        revokes as well. The body may be left out.

        Args:
            recipient: Recipient id.
            before: Those that were issued at or before the second of this time, at most 5
                minutes ahead; now if absent.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.TokensRevoked = self._transport.call(
            models.TokensRevoked,
            "POST",
            f"/v1/recipients/{segment(recipient)}/tokens/revoke",
            body=given({"before": before}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer
