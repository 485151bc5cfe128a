#!/usr/bin/env python3
"""Joins a room with aiortc, sends a test picture, and says what came back.

    pip install aiortc
    python3 aiortc-client.py http://127.0.0.1:7000 demo --name Robot --token "$(confrelay token …)"

Without --seconds it stays until Ctrl-C. At the end it prints a JSON object: frames and their size, packets of sound.
"""

import argparse
import asyncio
import contextlib
import fractions
import json
import signal
import time
import urllib.error
import urllib.parse
import urllib.request

import av
from aiortc import RTCPeerConnection, RTCSessionDescription, VideoStreamTrack
from aiortc.rtcrtpreceiver import RemoteStreamTrack


class TestPicture(VideoStreamTrack):
    """A bar that moves over grey, 640x360."""

    async def recv(self):
        timestamp, time_base = await self.next_timestamp()
        frame = av.VideoFrame(640, 360, "yuv420p")
        x = timestamp // 1500 % 600
        row = bytearray(b"\x60" * frame.planes[0].line_size)
        row[x:x + 40] = b"\xc0" * 40
        frame.planes[0].update(bytes(row) * 360)
        for plane in frame.planes[1:]:
            plane.update(b"\x80" * plane.buffer_size)
        frame.pts, frame.time_base = timestamp, fractions.Fraction(time_base)
        return frame


def request(method, url, token, body=None):
    """An answer of the relay: its fields and text."""
    fields = {"Content-Type": "application/sdp"} if body else {}
    if token:
        fields["Authorization"] = f"Bearer {token}"
    message = urllib.request.Request(url, data=body.encode() if body else None, headers=fields, method=method)
    try:
        with urllib.request.urlopen(message, timeout=10) as answer:
            return answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code}: {json.load(error).get('detail', error.reason)}")


async def receive(track: RemoteStreamTrack, seen):
    """Counts the frames of a track until it ends."""
    with contextlib.suppress(Exception):
        while True:
            frame = await track.recv()
            seen[track.kind] = seen.get(track.kind, 0) + 1
            if track.kind == "video":
                seen["size"] = f"{frame.width}x{frame.height}"


async def call(options):
    peer, seen, tasks = RTCPeerConnection(), {}, []
    peer.addTrack(TestPicture())
    peer.addTransceiver("audio", direction="recvonly")
    peer.on("track", lambda track: tasks.append(asyncio.ensure_future(receive(track, seen))))
    await peer.setLocalDescription(await peer.createOffer())
    query = urllib.parse.urlencode({"name": options.name})
    url = f"{options.relay}/rooms/{urllib.parse.quote(options.room)}/participants?{query}"
    fields, answer = await asyncio.to_thread(request, "POST", url, options.token, peer.localDescription.sdp)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    started = time.monotonic()
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(stop.wait(), options.seconds)
    await asyncio.to_thread(request, "DELETE", urllib.parse.urljoin(url, fields["Location"]), options.token)
    await peer.close()
    for task in tasks:
        task.cancel()
    print(json.dumps({
        "frames": seen.get("video", 0), "size": seen.get("size"), "audioFrames": seen.get("audio", 0),
        "seconds": round(time.monotonic() - started, 1)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("relay", help="such as http://127.0.0.1:7000")
    parser.add_argument("room")
    parser.add_argument("--name", default="aiortc")
    parser.add_argument("--token", help="for a relay with --auth-keys")
    parser.add_argument("--seconds", type=float, help="how long to stay; default: until Ctrl-C")
    asyncio.run(call(parser.parse_args()))


if __name__ == "__main__":
    main()
