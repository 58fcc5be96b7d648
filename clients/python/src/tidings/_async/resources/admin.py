"""Status and actions for operators.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from ... import models, params
from ..._values import UNSET, Unset, given, segment
from ..platform import Stream
from ..transport import AsyncTransport


class AsyncAdmin:
    """Status and actions for operators."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def backup(self) -> Stream[bytes]:
        """Back up everything.

        Streams the content of the store at one moment; the server continues meanwhile. `tidings
        restore` creates a store from it and refuses an incomplete backup. The stream ends if its
        reader accepts no data for 30 seconds, or less than 64 KiB a second over a minute. Two
        backups may run at once. Days that are deleted meanwhile keep their disk space until the
        backup ends.
        """
        return self._transport.data("/v1/admin/backup", {})

    async def check(self, *, edits: Sequence[params.Edit]) -> models.EditsChecked:
        """Check edits of the configuration.

        Says which faults the configuration that is in force would have with these edits, and shows
        them as a diff of its file. Comments and layout stay. Nothing is put in force, and the
        server never writes the file: apply the diff, and reload the configuration. Files beside the
        configuration (templates, books of words) are read as they are now.

        Args:
            edits: The edits.
        """
        answer: models.EditsChecked = await self._transport.call(
            models.EditsChecked, "POST", "/v1/admin/check", body=given({"edits": edits})
        )
        return answer

    async def compare(
        self,
        *,
        days: int,
        edits: Sequence[params.Edit],
        channel: str | Unset | None = UNSET,
    ) -> models.ComparisonBegun:
        """Compare the configuration with itself under edits.

        Begins a job that plays the last days under the configuration that is in force and under the
        same with these edits, and counts messages, delays and what is left out: `result` of `GET
        /v1/admin/jobs/{id}`. Events are played with the recipients, subscriptions and preferences
        of now. Nothing is sent, and nothing is put in force. One comparison runs at a time, on one
        processor; it is stopped by a restart, and by `DELETE`.

        Args:
            days: The last days that are played, today (UTC) included.
            edits: The edits.
            channel: The only channel that counts; absent = all but the inbox.
        """
        answer: models.ComparisonBegun = await self._transport.call(
            models.ComparisonBegun,
            "POST",
            "/v1/admin/compare",
            body=given({"days": days, "edits": edits, "channel": channel}),
        )
        return answer

    async def due(self, *, scheduled: int | None = None) -> models.DueAnswer:
        """List due lanes, messages and events.

        Returns the number of open lanes by the hour in which they are due, the messages that are
        being sent or wait for a retry, and the scheduled events. A lane with only cancelled entries
        counts too; it sends nothing.

        Args:
            scheduled: Number of scheduled events to list; 100 if absent.
        """
        answer: models.DueAnswer = await self._transport.call(
            models.DueAnswer, "GET", "/v1/admin/due", query={"scheduled": scheduled}
        )
        return answer

    async def figures(
        self,
        *,
        from_: date | str | None = None,
        to: date | str | None = None,
        by: str | None = None,
        channel: str | None = None,
        type: str | None = None,
        tenant: str | None = None,
        measure: str | None = None,
    ) -> models.Figures:
        """Get figures.

        Returns what was published, told, seen and muted, by day or hour in UTC. Figures outlive the
        days themselves: they are kept for `[figures] keep`. With `Accept: text/csv` the rows are a
        table. There are at most 100,000 rows.

        Args:
            from_: First day in UTC; 27 days before today if absent.
            to: The day after the last; tomorrow if absent.
            by: Parts by which rows are told apart, with commas: `type`, `category`, `channel`,
                `tenant`, and one of `hour` and `day`. One row of all if absent. Hours are kept for
                7 days. `tenant` can't be combined with `type`, `category` or `hour`.
            channel: Only this channel.
            type: Only this type.
            tenant: Only this tenant.
            measure: Measures, with commas; all if absent.
        """
        answer: models.Figures = await self._transport.call(
            models.Figures,
            "GET",
            "/v1/admin/figures",
            query={
                "from": from_,
                "to": to,
                "by": by,
                "channel": channel,
                "type": type,
                "tenant": tenant,
                "measure": measure,
            },
        )
        return answer

    async def forget(
        self,
        *,
        before: date | str,
        idempotency_key: str | None = None,
    ) -> models.DroppedDays:
        """Delete old days.

        Permanently deletes all data of the days before a date. Notifications that were not sent end
        as `expired`. Today is always kept.

        Args:
            before: The first day (UTC) that is kept.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.DroppedDays = await self._transport.call(
            models.DroppedDays,
            "POST",
            "/v1/admin/forget",
            body=given({"before": before}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def list_jobs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.JobShown]:
        """List jobs.

        Returns the jobs, newest first, as long as the day on which they were made is kept.
        Comparisons are among them.

        Pages are fetched as they are needed.

        Args:
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.JobPage, "jobs", "/v1/admin/jobs", {"limit": limit, "cursor": cursor}
        )

    async def list_jobs_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.JobPage:
        """List jobs.

        Returns the jobs, newest first, as long as the day on which they were made is kept.
        Comparisons are among them.

        This is one page; `list_jobs` gives all.

        Args:
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.JobPage = await self._transport.call(
            models.JobPage, "GET", "/v1/admin/jobs", query={"limit": limit, "cursor": cursor}
        )
        return answer

    async def get_job(self, job: str, /) -> models.JobShown:
        """Get a job.

        Returns a job, and how far it has come.

        Args:
            job: Job id.
        """
        answer: models.JobShown = await self._transport.call(
            models.JobShown, "GET", f"/v1/admin/jobs/{segment(job)}"
        )
        return answer

    async def stop_job(self, job: str, /, *, idempotency_key: str | None = None) -> models.JobShown:
        """Stop a job.

        Stops a job: what it did stays done. One that is done stays as it is.

        Args:
            job: Job id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.JobShown = await self._transport.call(
            models.JobShown,
            "DELETE",
            f"/v1/admin/jobs/{segment(job)}",
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def list_keys(self) -> models.KeysAnswer:
        """List the API keys.

        Lists the accepted keys by id and name. The keys themselves are not stored.
        """
        answer: models.KeysAnswer = await self._transport.call(
            models.KeysAnswer, "GET", "/v1/admin/keys"
        )
        return answer

    async def make_key(
        self,
        *,
        name: str | Unset | None = UNSET,
        role: params.RoleName | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.KeyMade:
        """Make an API key.

        The key is accepted at once, and shown in this answer only. A request that is sent again
        with the same `Idempotency-Key` makes no second key; its answer has everything but the key.

        Args:
            name: A name to recognise it by.
            role: Its role; `admin` if absent.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.KeyMade = await self._transport.call(
            models.KeyMade,
            "POST",
            "/v1/admin/keys",
            body=given({"name": name, "role": role}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def revoke_key(self, key: str, /, *, idempotency_key: str | None = None) -> None:
        """Revoke an API key.

        Requests with the key are refused from now on.

        Args:
            key: Id of the key.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            f"/v1/admin/keys/{segment(key)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    def list_log(
        self,
        *,
        by: str | None = None,
        action: str | None = None,
        subject: str | None = None,
        tenant: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.LoggedChange]:
        """List the log of changes.

        Returns who changed what, newest first. A line is written in the commit of its change. It
        has no name, address, data or text. Events, objects, subscriptions and marks are not in the
        log.

        Pages are fetched as they are needed.

        Args:
            by: Only changes of this author: `KIND:ID`, such as `key:k1` or `user:ada`.
            action: Only changes of this action: the name of a call, or one of the actions that
                are no calls.
            subject: Only changes of this subject: `KIND:ID`, such as `recipient:ada` or
                `channel:email`.
            tenant: Only changes of this tenant.
            from_: Only changes of this time or later.
            to: Only changes before this time.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.LogPage,
            "log",
            "/v1/admin/log",
            {
                "by": by,
                "action": action,
                "subject": subject,
                "tenant": tenant,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def list_log_page(
        self,
        *,
        by: str | None = None,
        action: str | None = None,
        subject: str | None = None,
        tenant: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.LogPage:
        """List the log of changes.

        Returns who changed what, newest first. A line is written in the commit of its change. It
        has no name, address, data or text. Events, objects, subscriptions and marks are not in the
        log.

        This is one page; `list_log` gives all.

        Args:
            by: Only changes of this author: `KIND:ID`, such as `key:k1` or `user:ada`.
            action: Only changes of this action: the name of a call, or one of the actions that
                are no calls.
            subject: Only changes of this subject: `KIND:ID`, such as `recipient:ada` or
                `channel:email`.
            tenant: Only changes of this tenant.
            from_: Only changes of this time or later.
            to: Only changes before this time.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.LogPage = await self._transport.call(
            models.LogPage,
            "GET",
            "/v1/admin/log",
            query={
                "by": by,
                "action": action,
                "subject": subject,
                "tenant": tenant,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def list_sessions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.Session]:
        """List sessions.

        Returns who is signed in to the console, newest first. Sessions that have ended are not
        listed.

        Pages are fetched as they are needed.

        Args:
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.SessionPage, "sessions", "/v1/admin/sessions", {"limit": limit, "cursor": cursor}
        )

    async def list_sessions_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.SessionPage:
        """List sessions.

        Returns who is signed in to the console, newest first. Sessions that have ended are not
        listed.

        This is one page; `list_sessions` gives all.

        Args:
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.SessionPage = await self._transport.call(
            models.SessionPage,
            "GET",
            "/v1/admin/sessions",
            query={"limit": limit, "cursor": cursor},
        )
        return answer

    async def end_session(self, session: str, /, *, idempotency_key: str | None = None) -> None:
        """End a session.

        Whoever is signed in by it has to sign in again.

        Args:
            session: Id of the session.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            f"/v1/admin/sessions/{segment(session)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def list_signing_keys(self) -> models.SigningKeysAnswer:
        """List the signing keys.

        Lists the keys by which tokens of end users are checked, without their secrets.
        """
        answer: models.SigningKeysAnswer = await self._transport.call(
            models.SigningKeysAnswer, "GET", "/v1/admin/signing-keys"
        )
        return answer

    async def make_signing_key(
        self,
        *,
        name: str | Unset | None = UNSET,
        public: str | Unset | None = UNSET,
        scope: str | Unset | None = UNSET,
        tenant: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.SigningKeyMade:
        """Make a signing key.

        Tokens that are signed by it are accepted at once. A secret is shown in this answer only,
        and opens nothing by itself. A request that is sent again with the same `Idempotency-Key`
        makes no second key; its answer has everything but the secret.

        Args:
            name: A name to recognise it by.
            public: A public key of Ed25519 in PEM: the server then has nothing that can sign.
                Absent = a secret is made.
            scope: The most that its tokens may open, of `inbox`, `inbox:read`, `preferences`,
                `subscriptions` and `push`, separated by spaces; absent = everything.
            tenant: The tenant that its tokens must name; absent = they may name any, or none.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.SigningKeyMade = await self._transport.call(
            models.SigningKeyMade,
            "POST",
            "/v1/admin/signing-keys",
            body=given({"name": name, "public": public, "scope": scope, "tenant": tenant}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def revoke_signing_key(
        self,
        signing_key: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Revoke a signing key.

        Tokens that were signed by it are refused from now on.

        Args:
            signing_key: Id of the key.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            f"/v1/admin/signing-keys/{segment(signing_key)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def status(self) -> models.StatusAnswer:
        """Get the status of the server.

        Returns the counts of recipients and of entries by outcome, and the paused types and
        channels.
        """
        answer: models.StatusAnswer = await self._transport.call(
            models.StatusAnswer, "GET", "/v1/admin/status"
        )
        return answer

    async def sign_token(
        self,
        *,
        recipient: str,
        for_: str | Unset | None = UNSET,
        scope: str | Unset | None = UNSET,
        tenant: str | Unset | None = UNSET,
    ) -> models.TokenSigned:
        """Sign a token for development.

        Signs with the key named `development`, which is made where there is none. An application
        signs tokens itself, with a signing key of its own, and asks nobody. Nothing of this answer
        is stored.

        Args:
            recipient: Id of the recipient.
            for_: Its life, at most `[users] tokens`; 15 minutes if absent, or that if it is
                less.
            scope: The parts that it opens, of `inbox`, `inbox:read`, `preferences`,
                `subscriptions` and `push`, separated by spaces; absent = everything.
            tenant: The tenant whose notifications the token shows, with those without a tenant;
                absent = all.
        """
        answer: models.TokenSigned = await self._transport.call(
            models.TokenSigned,
            "POST",
            "/v1/admin/tokens",
            body=given({"recipient": recipient, "for": for_, "scope": scope, "tenant": tenant}),
        )
        return answer

    def export(self, *, days: int | None = None, tenant: str | None = None) -> Stream[Any]:
        """Export the last days as a timeline.

        Streams lines that `tidings simulate` plays: first all tenants, recipients, memberships,
        subscriptions and preferences as they are now, then the events of the last days as they were
        accepted, today included, and last the disabled tenants. Scheduled events, changes of
        objects, marks and cancels are not included, nor are events of deleted tenants. The export
        of one tenant has its members by name, and its events. Two exports may run at once, one for
        each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.

        Args:
            days: Days, today included; 7 if absent.
            tenant: Only data of this tenant.
        """
        return self._transport.lines("/v1/export", {"days": days, "tenant": tenant})
