#!/usr/bin/env python3
"""Shows who is in a room, changes its layout, and follows what happens there.

    python3 room-client.py http://127.0.0.1:7000 demo
    python3 room-client.py http://127.0.0.1:7000 demo --layout speaker --follow
"""

import argparse
import json
import sys
import urllib.error
import urllib.parse
import urllib.request


class Room:
    """A room of a relay, by the requests of docs/openapi.json."""

    def __init__(self, relay, name):
        self.url = f"{relay.rstrip('/')}/rooms/{urllib.parse.quote(name, safe='')}"

    def _open(self, path="", method="GET", document=None, accept="application/json", timeout=15):
        body = None if document is None else json.dumps(document).encode()
        request = urllib.request.Request(self.url + path, body, {"Accept": accept}, method=method)
        if body is not None:
            request.add_header("Content-Type", "application/json")
        return urllib.request.urlopen(request, timeout=timeout)

    def state(self):
        with self._open() as answer:
            return json.load(answer)

    def set_layout(self, layout, **choices):
        self._open("/layout", "PUT", {"layout": layout, **choices}).close()

    def events(self):
        """The room's events, as pairs of name and data; the first is ("room", all that is known)."""
        # A comment comes every 5 s, so silence for longer means that the relay is gone.
        with self._open("/events", accept="text/event-stream", timeout=20) as stream:
            name, data = "message", []
            for line in (raw.decode().rstrip("\r\n") for raw in stream):
                if line.startswith("event:"):
                    name = line[6:].strip()
                elif line.startswith("data:"):
                    data.append(line[5:].strip())
                elif not line:
                    if data:
                        yield name, json.loads("\n".join(data))
                    name, data = "message", []


def told(name, data, names):
    """An event in words; None for those of no interest here."""
    if name == "room":
        names.update((person["id"], person["name"]) for person in data["participants"])
        return f"in the room: {', '.join(names.values())}; layout: {data['layout']['layout']}"
    if name == "participantJoined":
        names[data["id"]] = data["name"]
        return f"{data['name']} joined"
    if name == "participantLeft":
        return f"{names.pop(data['id'], 'somebody')} left"
    if name == "activeSpeakerChanged":
        return f"{names.get(data['participant'], 'nobody')} speaks"
    if name == "layoutChanged":
        return f"layout: {data['layout']}"
    return "the room is closed" if name == "closed" else None


def main():
    parser = argparse.ArgumentParser(description="Shows, lays out and follows a room of a confrelay.")
    parser.add_argument("relay", help="such as http://127.0.0.1:7000")
    parser.add_argument("room", help="such as demo")
    parser.add_argument("--layout", help="grid, speaker, side-by-side, picture-in-picture or presentation")
    parser.add_argument("--follow", action="store_true", help="tell what happens, until the room is closed")
    arguments = parser.parse_args()
    room = Room(arguments.relay, arguments.room)
    try:
        if arguments.layout:
            room.set_layout(arguments.layout)
        if not arguments.follow:
            for person in room.state()["participants"]:
                uplink, downlink = person["uplink"], person["downlink"]
                print(f"{person['name']}: sends {uplink['bitRate'] / 1000:.0f} kbit/s, "
                      f"gets {downlink['bitRate'] / 1000:.0f} kbit/s, {downlink['width']}x{downlink['height']}")
            return
        names = {}
        for name, data in room.events():
            text = told(name, data, names)
            if text:
                print(text, flush=True)
    except urllib.error.HTTPError as error:
        # Every refusal is a problem document.
        sys.exit(f"room-client.py: {json.load(error).get('detail', error)}")
    except OSError as error:
        sys.exit(f"room-client.py: the relay cannot be reached: {error}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
