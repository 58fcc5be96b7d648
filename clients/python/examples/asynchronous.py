"""The same with asyncio, for several recipients at once."""

import asyncio

from tidings import AsyncTidings


async def main() -> None:
    async with AsyncTidings() as client:
        people = ["ana", "ben", "cleo"]
        await asyncio.gather(*(client.subscriptions.follow(of, "artist/42") for of in people))
        published = await client.events.publish(
            type="artwork_published",
            actor={"id": "artist/42", "title": "Rosa Lind"},
            object={"id": "works/1", "title": "Water Lilies"},
            to={"topics": ["artist/42"]},
        )
        print("told:", published.notifications)
        async for group in client.inbox.list("ben"):
            print(group.type, group.text)


asyncio.run(main())
