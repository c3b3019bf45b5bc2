"""The Model Context Protocol as a dialect: any game, by requests to one address."""

from server.http.origins import Origins
from server.protocols.dialect import Dialect, OverHttp
from server.protocols.mcp.door import McpDoor

DIALECT = Dialect(
    name="mcp",
    title="the Model Context Protocol",
    carried_by=(OverHttp(serve=lambda host, settings: McpDoor(host, Origins(settings.origins))),),
)
