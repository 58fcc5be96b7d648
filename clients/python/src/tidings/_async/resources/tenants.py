"""Organisations with members, defaults and a look of their own.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ... import models, params
from ..._values import UNSET, Unset, given, segment
from ..platform import Items, Stream
from ..transport import AsyncTransport


class AsyncTenants:
    """Organisations with members, defaults and a look of their own."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Stream[models.Tenant]:
        """List tenants.

        Returns tenants, sorted by the bytes of their ids.

        Pages are fetched as they are needed.

        Args:
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.TenantsPage, "tenants", "/v1/tenants", {"limit": limit, "cursor": cursor}
        )

    async def page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.TenantsPage:
        """List tenants.

        Returns tenants, sorted by the bytes of their ids.

        This is one page; `list` gives all.

        Args:
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.TenantsPage = await self._transport.call(
            models.TenantsPage, "GET", "/v1/tenants", query={"limit": limit, "cursor": cursor}
        )
        return answer

    async def change_many(
        self,
        items: Sequence[params.NamedTenant],
        /,
        *,
        idempotency_key: str | None = None,
    ) -> builtins.list[models.ItemAnswer]:
        """Create or change many tenants.

        Takes an array of at most 10,000 tenants, or a stream of any length with one per line.
        Creates unknown tenants; of others the given fields change. Each item is accepted or
        rejected by itself; the answers are in order.

        Args:
            items: What is sent, in its order.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: builtins.list[models.ItemAnswer] = await self._transport.call(
            builtins.list[models.ItemAnswer],
            "POST",
            "/v1/tenants",
            body=items,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def change_stream(
        self,
        items: Items[params.NamedTenant],
        /,
        *,
        answers: Literal["all", "problems"] | None = None,
        idempotency_key: str | None = None,
    ) -> Stream[models.LineAnswer]:
        """Create or change many tenants.

        Takes an array of at most 10,000 tenants, or a stream of any length with one per line.
        Creates unknown tenants; of others the given fields change. Each item is accepted or
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
            "/v1/tenants",
            items,
            query={"answers": answers},
            idempotency_key=idempotency_key,
        )

    async def get(self, tenant: str, /) -> models.Tenant:
        """Get a tenant.

        Returns the tenant. Every field is present; null = the default of the configuration applies.

        Args:
            tenant: Tenant id.
        """
        answer: models.Tenant = await self._transport.call(
            models.Tenant, "GET", f"/v1/tenants/{segment(tenant)}"
        )
        return answer

    async def upsert(
        self,
        tenant: str,
        /,
        *,
        brand: params.BrandChange | Unset | None = UNSET,
        data: Mapping[str, Any] | Unset | None = UNSET,
        disabled: bool | Unset = UNSET,
        from_name: str | Unset | None = UNSET,
        locale: str | Unset | None = UNSET,
        name: str | Unset | None = UNSET,
        preferences: Sequence[params.Preference] | Unset | None = UNSET,
        quiet_hours: params.QuietHoursChoice | Unset | None = UNSET,
        reply_to: str | Unset | None = UNSET,
        tz: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> None:
        """Put a whole tenant.

        Creates or replaces the tenant. Absent fields get their defaults. A tenant from `GET` can be
        put back unchanged.

        Args:
            tenant: Tenant id.
            brand: Keys that override `[brand]`, one by one; null removes all.
            data: Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
            disabled: True = publishing is refused, and pending notifications are cancelled.
            from_name: Sender name of its messages, at most 1 KiB.
            locale: BCP 47 locale, for recipients without one.
            name: Name to show, at most 1 KiB.
            preferences: All its defaults, which replace the types' policies. Mutes are not
                allowed.
            quiet_hours: Quiet hours, for recipients without their own: hours, null = none,
                `default` = those of each channel.
            reply_to: Mailbox for replies to its mails.
            tz: IANA time zone, for recipients without one.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "PUT",
            f"/v1/tenants/{segment(tenant)}",
            body=given(
                {
                    "brand": brand,
                    "data": data,
                    "disabled": disabled,
                    "from_name": from_name,
                    "locale": locale,
                    "name": name,
                    "preferences": preferences,
                    "quiet_hours": quiet_hours,
                    "reply_to": reply_to,
                    "tz": tz,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def patch(
        self,
        tenant: str,
        /,
        *,
        brand: params.BrandChange | Unset | None = UNSET,
        data: Mapping[str, Any] | Unset | None = UNSET,
        disabled: bool | Unset = UNSET,
        from_name: str | Unset | None = UNSET,
        locale: str | Unset | None = UNSET,
        name: str | Unset | None = UNSET,
        preferences: Sequence[params.Preference] | Unset | None = UNSET,
        quiet_hours: params.QuietHoursChoice | Unset | None = UNSET,
        reply_to: str | Unset | None = UNSET,
        tz: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> None:
        """Change a tenant.

        Changes the given fields, and of `brand` the given keys; null removes a value. Pending
        notifications use the new values.

        Args:
            tenant: Tenant id.
            brand: Keys that override `[brand]`, one by one; null removes all.
            data: Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
            disabled: True = publishing is refused, and pending notifications are cancelled.
            from_name: Sender name of its messages, at most 1 KiB.
            locale: BCP 47 locale, for recipients without one.
            name: Name to show, at most 1 KiB.
            preferences: All its defaults, which replace the types' policies. Mutes are not
                allowed.
            quiet_hours: Quiet hours, for recipients without their own: hours, null = none,
                `default` = those of each channel.
            reply_to: Mailbox for replies to its mails.
            tz: IANA time zone, for recipients without one.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "PATCH",
            f"/v1/tenants/{segment(tenant)}",
            body=given(
                {
                    "brand": brand,
                    "data": data,
                    "disabled": disabled,
                    "from_name": from_name,
                    "locale": locale,
                    "name": name,
                    "preferences": preferences,
                    "quiet_hours": quiet_hours,
                    "reply_to": reply_to,
                    "tz": tz,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def delete(self, tenant: str, /, *, idempotency_key: str | None = None) -> None:
        """Delete a tenant.

        Cancels pending notifications immediately, and removes the tenant's notifications from
        inboxes. Deletes its members, subscriptions, preferences and tokens. A new tenant with the
        same id inherits nothing.

        Args:
            tenant: Tenant id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            f"/v1/tenants/{segment(tenant)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    def members(
        self,
        tenant: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.Member]:
        """List the members of a tenant.

        Returns members, sorted by the bytes of their ids.

        Pages are fetched as they are needed.

        Args:
            tenant: Tenant id.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.MembersPage,
            "members",
            f"/v1/tenants/{segment(tenant)}/members",
            {"limit": limit, "cursor": cursor},
        )

    async def members_page(
        self,
        tenant: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.MembersPage:
        """List the members of a tenant.

        Returns members, sorted by the bytes of their ids.

        This is one page; `members` gives all.

        Args:
            tenant: Tenant id.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.MembersPage = await self._transport.call(
            models.MembersPage,
            "GET",
            f"/v1/tenants/{segment(tenant)}/members",
            query={"limit": limit, "cursor": cursor},
        )
        return answer

    async def change_members(
        self,
        tenant: str,
        items: Sequence[params.MemberChange],
        /,
        *,
        idempotency_key: str | None = None,
    ) -> builtins.list[models.ItemAnswer]:
        """Add and remove many members.

        Takes an array of at most 10,000 members, or a stream of any length with one per line;
        `remove` removes a member. Each item is accepted or rejected by itself; the answers are in
        order.

        Args:
            tenant: Tenant id.
            items: What is sent, in its order.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: builtins.list[models.ItemAnswer] = await self._transport.call(
            builtins.list[models.ItemAnswer],
            "POST",
            f"/v1/tenants/{segment(tenant)}/members",
            body=items,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def change_members_stream(
        self,
        tenant: str,
        items: Items[params.MemberChange],
        /,
        *,
        answers: Literal["all", "problems"] | None = None,
        idempotency_key: str | None = None,
    ) -> Stream[models.LineAnswer]:
        """Add and remove many members.

        Takes an array of at most 10,000 members, or a stream of any length with one per line;
        `remove` removes a member. Each item is accepted or rejected by itself; the answers are in
        order.

        Args:
            tenant: Tenant id.
            items: What is sent, one by one.
            answers: For a stream of lines: `all` answers each line; `problems` answers only
                failed lines, and adds a last line of counts. An array is always answered item by
                item.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        return self._transport.upload(
            models.LineAnswer,
            f"/v1/tenants/{segment(tenant)}/members",
            items,
            query={"answers": answers},
            idempotency_key=idempotency_key,
        )

    async def add_member(
        self,
        tenant: str,
        recipient: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Make a recipient a member.

        Adds the recipient to the members. A recipient may be a member of many tenants.

        Args:
            tenant: Tenant id.
            recipient: Recipient id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "PUT",
            f"/v1/tenants/{segment(tenant)}/members/{segment(recipient)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def remove_member(
        self,
        tenant: str,
        recipient: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Remove a member.

        Removes the membership and the recipient's subscriptions of the tenant. Notifications and
        preferences stay.

        Args:
            tenant: Tenant id.
            recipient: Recipient id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            f"/v1/tenants/{segment(tenant)}/members/{segment(recipient)}",
            changes=True,
            idempotency_key=idempotency_key,
        )
