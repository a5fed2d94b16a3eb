"""Distance to a server: a proxy of TCP that hands on what it is sent after a while, in each direction."""

from __future__ import annotations

import asyncio
import sys


class Distance:
    """Connections to a server on loopback, as from a host that is so many seconds away from it, one way."""

    def __init__(self, port: int, seconds: float) -> None:
        self._port = port
        self._seconds = seconds

    async def serve(self) -> None:
        """Serve until standard input ends. The port is printed."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        server.close()

    async def _connected(self, near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
        far, to_far = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._hand_on(near, to_far), self._hand_on(far, to_near))

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand on each piece at its own time, so that those that follow each other closely stay close."""
        loop = asyncio.get_running_loop()
        try:
            while piece := await reader.read(1 << 16):
                loop.call_later(self._seconds, writer.write, piece)
        except ConnectionError:
            pass
        loop.call_later(self._seconds, writer.close)


if __name__ == "__main__":
    asyncio.run(Distance(int(sys.argv[1]), float(sys.argv[2])).serve())
