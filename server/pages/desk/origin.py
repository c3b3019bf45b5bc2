"""Whether a form was sent from this host's own pages, according to the browser.

A browser that is lured into sending a form from elsewhere says so in headers that no
page can forge. A browser that says nothing is old, and has to show the token of its
session. Pure functions of a request.
"""

import re

from server.http.wire import Request

ORIGIN = re.compile(r"(https?)://([^/]+)")


def objection(request: Request) -> str:
    """What is wrong with where a form comes from, in a sentence; "" where nothing is."""
    headers = request.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in (None, "same-origin", "none"):
        return f"this form was sent from another site (Sec-Fetch-Site: {site[:20]}): open the desk itself"
    if origin is not None and (site, origin) != ("same-origin", "null"):  # null: pages here tell no referrer
        found = ORIGIN.fullmatch(origin.lower())
        downgraded = request.secure and found is not None and found[1] != "https"
        if found is None or downgraded or found[2] != headers.get("host", "").lower():
            return f"this form was sent from {origin[:80]}, and the desk is at {headers.get('host', '')[:80]}"
    return ""


def cookie(request: Request, name: str) -> str:
    """The value of a cookie; "" where there is none."""
    for pair in request.headers.get("cookie", "").replace(",", ";").split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return ""
