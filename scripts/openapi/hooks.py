"""How schemathesis writes the bodies that it does not know, and where it gets sessions that are valid."""

import os
import pathlib
import threading
import time
import urllib.error
import urllib.request

import schemathesis

RELAY = os.environ["CONFRELAY_URL"]
FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "Tests" / "SDPTests" / "Fixtures"
OFFER = (FIXTURES / "chromium-recvonly.sdp").read_bytes()
OFFERS = [path.read_bytes() for path in sorted(FIXTURES.glob("*.sdp"))]
# A join that does not connect lasts 10 s.
LIFE = 7


def as_bytes(value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.serializer("application/sdp")
def sdp(ctx, value):
    # Text at random is no session description; every second one is a browser's, as it is or with the text in it.
    data = as_bytes(value)
    choice = sum(data) % (2 * len(OFFERS))
    if choice >= len(OFFERS):
        return data
    return OFFERS[choice] if len(data) % 3 else OFFERS[choice] + b"a=" + data.replace(b"\n", b"") + b"\r\n"


@schemathesis.serializer("application/trickle-ice-sdpfrag", "image/png")
def plain(ctx, value):
    return as_bytes(value)


class Session:
    """A participant of the room demo who has not connected, joined anew before it is too old."""

    lock = threading.Lock()
    name = "x.y"
    joined = 0.0

    @classmethod
    def current(cls):
        with cls.lock:
            if time.monotonic() - cls.joined > LIFE:
                request = urllib.request.Request(
                    f"{RELAY}/rooms/demo/participants?name=Case", OFFER, {"Content-Type": "application/sdp"})
                try:
                    with urllib.request.urlopen(request, timeout=10) as answer:
                        cls.name = answer.headers["Location"].rsplit("/", 1)[1]
                        cls.joined = time.monotonic()
                except urllib.error.HTTPError:
                    pass  # The limit of joins: the cases themselves join, too.
            return cls.name


@schemathesis.hook
def before_call(ctx, case, **kwargs):
    # Half of the cases are about a room and a session that are there.
    parameters = case.path_parameters or {}
    if "room" in parameters and sum(as_bytes(parameters["room"])) % 2:
        parameters["room"] = "demo"
        if "session" in parameters:
            parameters["session"] = Session.current()
        case.path_parameters = parameters
