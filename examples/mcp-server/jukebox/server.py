"""The server. Its tools are neighbours: a model tells them apart by names and descriptions alone."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field

server = MCPServer("jukebox")
SONGS = {"Yesterday": "The Beatles", "Imagine": "John Lennon", "Hurt": "Johnny Cash"}
QUEUE: list[str] = []


@server.tool()
def play_song(song: Annotated[str, Field(description="Title of the song")]) -> str:
    """Play a song now."""
    return f"{song} by {SONGS[song]} is playing" if song in SONGS else f"there is no song {song}"


@server.tool()
def queue_song(song: Annotated[str, Field(description="Title of the song")]) -> str:
    """Add a song to the queue."""
    QUEUE.append(song)
    return f"{song} is number {len(QUEUE)} in the queue"


@server.tool()
def find_songs(artist: Annotated[str, Field(description="Who sings it")]) -> list[str]:
    """Find the songs of an artist."""
    return sorted(song for song, by in SONGS.items() if by.casefold() == artist.casefold())


@server.tool()
def set_volume(percent: Annotated[int, Field(ge=0, le=100)]) -> str:
    """Set the volume in percent."""
    return f"the volume is {percent} %"


@server.tool()
def delete_song(song: Annotated[str, Field(description="Title of the song")]) -> str:
    """Delete a song for ever."""
    return f"{song} is gone" if SONGS.pop(song, None) else f"there is no song {song}"


def main() -> None:
    """Serve over standard input and output."""
    server.run()


if __name__ == "__main__":
    main()
