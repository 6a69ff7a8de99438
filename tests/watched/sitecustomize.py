"""Imported by every Python that has this folder on its path: notes in the file WATCHED each address that is looked up
or spoken to and is not this machine's.
"""

import contextlib
import ipaddress
import os
import sys

_SPOKEN = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOKED_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


def _note(event: str, arguments: tuple) -> None:
    if event in _LOOKED_UP:
        host = arguments[0]
    elif event in _SPOKEN and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    if host not in (None, "", "localhost"):
        with open(os.environ["WATCHED"], "a", encoding="utf-8") as noted:
            noted.write(f"{event} {host}\n")


if "WATCHED" in os.environ:
    sys.addaudithook(_note)
