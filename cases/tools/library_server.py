"""A small MCP server: the desk of a library.

The cases never start it. What it says about its tools is kept in `library.tools.lock.json`, which this writes anew:

    fcall tools lock cases/library.fc.yaml
"""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import Field

server = MCPServer("library")


@server.tool()
def find_book(
    title: Annotated[str, Field(description="Title of the book")],
    author: Annotated[str | None, Field(description="Name of the author")] = None,
) -> str:
    """Find a book in the library."""
    return f"{title} by {author or 'somebody'} is on shelf 7."


@server.tool()
def reserve_book(
    title: Annotated[str, Field(description="Title of the book")],
    days: Annotated[int, Field(description="Number of days", ge=1, le=30)] = 14,
) -> str:
    """Reserve a book for a number of days."""
    return f"{title} is yours for {days} days."


@server.tool()
def open_hours(day: Literal["saturday", "sunday"]) -> str:
    """Tell the opening hours of a day."""
    return f"On {day} from 10 to 16."


@server.tool()
def delete_account(member: str) -> str:
    """Delete the account of a member."""
    return f"{member} is gone."


if __name__ == "__main__":
    server.run()
