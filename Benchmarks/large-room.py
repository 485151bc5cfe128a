#!/usr/bin/env python3
"""One room on many relays: each in a network namespace of its own, with the real etcd.

    sudo Benchmarks/large-room.py --people 32 --relays 8 --seats 5 --then kill

Starts etcd, relays and clients, waits until all are together, and lets two people speak in turn, 4 s each. Then it
does nothing (none), kills or drains a relay, or stops etcd, and waits. It writes how far apart the relays show a change
of the speaker, how soon the people of the relay are back, and the longest gaps between two pictures of a client: while
nothing happens, and from that moment on. The hop is the time from a client's video packet at the relay's port until it
leaves there for another relay. On a machine with few cores, take few people: see the load that it writes.

Exit codes: 0 done, 64 wrong usage, 69 a program or a right is missing, 70 not everybody came together.
"""

import argparse
import contextlib
import ctypes
import datetime
import json
import math
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave

PREFIX = "confroom"
SPEECH = 4


def run(command, check=True):
    return subprocess.run(command, shell=True, check=check, capture_output=True, text=True)


class Network:
    """Namespaces on one bridge, each with an address."""

    def __init__(self, names):
        self.names = names
        self.processes = []

    def address(self, name):
        return f"10.77.0.{self.names.index(name) + 1}"

    def __enter__(self):
        self.remove()
        run(f"ip netns add {PREFIX}-bridge")
        run(f"ip -n {PREFIX}-bridge link add br0 type bridge && ip -n {PREFIX}-bridge link set br0 up")
        for index, name in enumerate(self.names):
            space, outer, inner = f"{PREFIX}-{name}", f"cr{index}a", f"cr{index}b"
            run(f"ip netns add {space} && ip link add {outer} type veth peer name {inner}")
            run(f"ip link set {outer} netns {PREFIX}-bridge && ip -n {PREFIX}-bridge link set {outer} master br0 up")
            run(f"ip link set {inner} netns {space} && ip -n {space} addr add {self.address(name)}/24 dev {inner}")
            run(f"ip -n {space} link set {inner} up && ip -n {space} link set lo up")
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        self.remove()

    def remove(self):
        for name in [*self.names, "bridge"]:
            run(f"ip netns del {PREFIX}-{name}", check=False)

    def start(self, name, command, log):
        # The namespace is entered by a program that becomes the other one: a signal reaches that.
        process = subprocess.Popen(
            ["ip", "netns", "exec", f"{PREFIX}-{name}", *command], stdout=open(log, "w"), stderr=subprocess.STDOUT,
            start_new_session=True)
        self.processes.append(process)
        return process

    def get(self, name, path):
        command = f"ip netns exec {PREFIX}-clients curl -sL --max-time 3 http://{self.address(name)}:7000{path}"
        return run(command, check=False).stdout


class Speakers(threading.Thread):
    """The changes of the active speaker that a relay tells, with their times."""

    def __init__(self, network, name):
        super().__init__(daemon=True)
        self.changes = []
        self.stream = subprocess.Popen(
            ["ip", "netns", "exec", f"{PREFIX}-clients", "curl", "-sNL",
             f"http://{network.address(name)}:7000/rooms/demo/events"], stdout=subprocess.PIPE, text=True)
        network.processes.append(self.stream)

    def run(self):
        event = None
        for line in self.stream.stdout:
            if line.startswith("event: "):
                event = line[7:].strip()
            elif line.startswith("data: ") and event == "activeSpeakerChanged":
                self.changes.append((time.monotonic(), line[6:].strip()))


class Hop(threading.Thread):
    """The packets with video at one port of the bridge: those that come to a relay, and those that go to others."""

    def __init__(self, network, name, seconds):
        super().__init__(daemon=True)
        self.device = f"cr{network.names.index(name)}a"
        self.relay = socket.inet_aton(network.address(name))
        self.clients = socket.inet_aton(network.address("clients"))
        self.seconds = seconds
        # By direction and source of the stream: timestamp of the picture, and when its packets passed.
        self.streams = {"in": {}, "out": {}}

    def run(self):
        with open(f"/run/netns/{PREFIX}-bridge") as space:
            ctypes.CDLL(None).setns(space.fileno(), 0x40000000)  # CLONE_NEWNET, of this thread
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        capture.bind((self.device, 0))
        capture.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        capture.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        capture.settimeout(0.2)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                frame, control, _, _ = capture.recvmsg(2048, 64)
                seconds, nanoseconds = struct.unpack("qq", control[0][2][:16])
                self.take(frame, seconds + nanoseconds / 1e9)

    def take(self, frame, instant):
        # Ethernet, IPv4 without options, UDP, RTP of version 2 whose type is one of video's, and no RTCP.
        if len(frame) < 54 or frame[12:15] != b"\x08\x00\x45" or frame[23] != 17 or frame[42] >> 6 != 2:
            return
        source, destination, kind = frame[26:30], frame[30:34], frame[43] & 0x7F
        if not 96 <= kind < 111:
            return
        timestamp, stream = struct.unpack("!II", frame[46:54])
        if destination == self.relay and source == self.clients:
            pictures = self.streams["in"].setdefault(stream, {})
        elif source == self.relay and destination != self.clients:
            pictures = self.streams["out"].setdefault((destination, stream), {})
        else:
            return
        pictures.setdefault(timestamp, []).append(instant)

    def milliseconds(self):
        """The times of packets of streams that were recognised: their timestamps differ by a constant."""
        times = []
        for pictures in self.streams["out"].values():
            best = []
            for own in self.streams["in"].values():
                first = min(pictures, key=lambda timestamp: pictures[timestamp][0], default=None)
                for begin in list(own)[:20]:
                    found = [after - before for timestamp, instants in pictures.items()
                             for before, after in zip(own.get(begin + timestamp - first & 0xFFFFFFFF, []), instants)]
                    if len(found) > len(best) and min(found) >= 0:
                        best = found
            times += best
        return [1000 * one for one in sorted(times)]


def write_speech(path, is_second):
    """Ten minutes in which a tone of 4 s and silence of 4 s take turns."""
    period = bytearray()
    for sample in range(2 * SPEECH * 48_000):
        speaks = (sample >= SPEECH * 48_000) == is_second
        value = 9000 * math.sin(2 * math.pi * (450 if is_second else 300) * sample / 48_000) if speaks else 0
        period += struct.pack("<h", int(value))
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        for _ in range(600 // (2 * SPEECH)):
            file.writeframes(bytes(period))


def spreads(feeds):
    """For each change at the first relay: milliseconds until the last relay had it, or since the first one had."""
    result = []
    for instant, value in feeds[0].changes:
        nearest = [min((abs(other - instant) for other, same in feed.changes if same == value), default=None)
                   for feed in feeds[1:]]
        if all(distance is not None for distance in nearest):
            result.append(round(1000 * max(nearest)))
    return sorted(result)


def processor_time(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release", help="folder of confrelay and confclient")
    parser.add_argument("--people", type=int, default=32)
    parser.add_argument("--cameras", type=int, help="people with a camera, 2 and more; default: all")
    parser.add_argument("--frame-rate", type=int, default=5, help="of cameras and of the shared picture")
    parser.add_argument("--relays", type=int, default=8, help="2 to 8")
    parser.add_argument("--seats", type=int, default=5, help="--max-participants of each relay")
    parser.add_argument("--then", choices=["none", "kill", "drain", "etcd"], default="kill")
    parser.add_argument("--seconds", type=float, default=20, help="how long to wait after that")
    parser.add_argument("--json", metavar="FILE", help="write the result there, too")
    options = parser.parse_args()
    movers = min(12, options.people // 3)
    if not 2 <= options.relays <= 8 or not 8 <= options.people <= options.relays * options.seats:
        parser.exit(64, "large-room: take 2 to 8 relays, and 8 people up to the seats of all\n")
    if os.geteuid() != 0 or not all(map(shutil.which, ["ip", "etcd", "curl"])):
        parser.exit(69, "large-room: needs root, and ip, etcd and curl (Debian: iproute2, etcd-server, curl)\n")
    programs = os.path.abspath(options.programs)
    if not all(os.access(f"{programs}/{name}", os.X_OK) for name in ("confrelay", "confclient")):
        parser.exit(69, f"large-room: {programs} has no confrelay and confclient; make build makes them\n")
    relays = [f"r{number}" for number in range(options.relays)]
    folder = tempfile.mkdtemp(prefix="large-room-")
    with Network(["etcd", *relays, "clients"]) as network:
        result = measure(options, programs, relays, movers, folder, network)
    print(json.dumps(result, indent=1))
    if options.json:
        json.dump(result, open(options.json, "w"), indent=1)
    shutil.rmtree(folder)
    sys.exit(0 if result["together"] == options.people else 70)


def measure(options, programs, relays, movers, folder, network):
    def note(text):
        print(text, file=sys.stderr, flush=True)

    def log(name):
        return os.path.join(folder, f"{name}.log")

    url = f"http://{network.address('etcd')}:2379"
    etcd = network.start(
        "etcd", ["etcd", "--data-dir", f"{folder}/etcd", "--listen-client-urls", url, "--advertise-client-urls", url],
        log("etcd"))
    time.sleep(2)
    running = {
        name: network.start(
            name,
            [f"{programs}/confrelay", "--host", network.address(name), "--node-id", name, "--cluster", url, "--canvas",
             "320x180", "--frame-rate", str(options.frame_rate), "--self-view", "always", "--max-encoders", "1",
             "--overload-control", "off", "--drain", "60s", "--max-participants", str(options.seats)], log(name))
        for name in relays}
    time.sleep(5)
    room = f"http://{network.address(relays[0])}:7000/rooms/demo"
    camera = ["--size", "64x36", "--frame-rate", str(options.frame_rate)]
    cameras = options.people if options.cameras is None else options.cameras
    clients = {}

    def join(name, audio):
        nonlocal cameras
        video = camera if cameras > 0 else ["--video", "none"]
        cameras -= 1
        clients[name] = network.start(
            "clients", [f"{programs}/confclient", "join", room, "--name", name, "--audio", audio, "--stats",
                        f"{folder}/{name}.json", *video], log(name))
        time.sleep(0.3)

    for index, name in enumerate(["Ada", "Ben"]):
        write_speech(f"{folder}/{name}.wav", index == 1)
        join(name, f"{folder}/{name}.wav")
    time.sleep(3)
    left = options.people - movers - 2
    while left > 0:
        count = min(options.seats, 10, left, cameras if cameras > 0 else left)
        name = f"Load{len(clients)}"
        clients[name] = network.start(
            "clients", [f"{programs}/confclient", "load", room, "--name", name, "--count", str(count), "--audio",
                        "none", "--max-bitrate", "60k", "--quiet", "--stats", f"{folder}/{name}.json",
                        *(camera if cameras > 0 else ["--video", "none"])], log(name))
        left -= count
        cameras -= count
        # One address may join only so often.
        time.sleep(max(2, count / 2.5))
    for number in range(movers):
        join(f"Mover{number}", "none")
    time.sleep(8)

    def counts():
        found = {}
        for name in relays:
            if running[name].poll() is None:
                match = re.search(r"^confrelay_participants (\d+)", network.get(name, "/metrics"), re.M)
                found[name] = int(match[1]) if match else None
        return found

    before = counts()
    result = {"people": options.people, "byRelay": before, "together": sum(count or 0 for count in before.values())}
    note(f"together: {result['together']} of {options.people}: {before}")
    if result["together"] < options.people:
        for line in {line for name in clients for line in open(log(name)) if line.startswith("confclient: ")}:
            note(f"  {line.strip()}")
    feeds = [Speakers(network, name) for name in relays]
    for feed in feeds:
        feed.start()
    hop = Hop(network, relays[0], 10 * SPEECH)
    hop.start()
    busy = {name: processor_time(process) for name, process in running.items()}
    begun = time.monotonic()
    quiet = time.time()
    time.sleep(10 * SPEECH)
    length = time.monotonic() - begun
    result["coresOfRelays"] = round(
        sum(processor_time(process) - busy[name] for name, process in running.items()) / length, 2)
    result["load"] = os.getloadavg()[0]
    hop.join()
    hops = hop.milliseconds()
    if hops:
        result["hopMilliseconds"] = {"packets": len(hops), "p50": round(hops[len(hops) // 2], 2),
                                     "p95": round(hops[len(hops) * 95 // 100], 2), "most": round(hops[-1], 2)}
        note(f"hop: {result['hopMilliseconds']}")
    result["speakerSpreadMilliseconds"] = spreads(feeds)
    note(f"speakers: {result['speakerSpreadMilliseconds']} ms apart; {result['coresOfRelays']} cores")
    if options.then == "etcd":
        etcd.terminate()
    victim = None
    if options.then in ("kill", "drain"):
        places = {name: json.loads(network.get(name, "/rooms/demo"))["participants"] for name in relays}
        victim = max(relays, key=lambda name: sum(
            person["name"].startswith("Mover") for person in places[name]))
        note(f"{options.then}: {victim}")
        running[victim].send_signal(signal.SIGKILL if options.then == "kill" else signal.SIGTERM)
    fault = time.time()
    time.sleep(options.seconds)
    result["then"] = {"did": options.then, "byRelay": counts()}
    for process in clients.values():
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    reports, back = [], []
    for name, process in clients.items():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        with contextlib.suppress(OSError, ValueError):
            report = json.load(open(f"{folder}/{name}.json"))
            reports += report.get("clients", [report])
            back += [move["seconds"] for move in report.get("moves", [])]
        found = re.search(r"joined again at \S+ after (?:(\d+)s ?)?(?:(\d+)ms)?", open(log(name)).read())
        if found:
            back.append(int(found[1] or 0) + int(found[2] or 0) / 1000)
    # Those of a dead relay see nothing until they have noticed, and are back.
    others = [report for report in reports if options.then != "kill" or network.address(victim) not in report["url"]]
    result["longestGapsSeconds"] = longest_gaps(reports, network, relays, quiet, fault)
    result["then"]["longestGapsSeconds"] = longest_gaps(others, network, relays, fault, time.time())
    back.sort()
    result["then"]["back"] = len(back)
    if back:
        result["then"]["backAfterSeconds"] = {
            "p50": round(back[len(back) // 2], 3), "p95": round(back[len(back) * 95 // 100], 3),
            "most": round(back[-1], 3)}
    return result


def longest_gaps(reports, network, relays, begin, end):
    """The longest gap of a client's picture between two times at each relay, and the median of all clients."""
    gaps = {}
    for report in reports:
        joined = datetime.datetime.fromisoformat(report["joinedAt"].replace("Z", "+00:00")).timestamp()
        own = [sample["longestGapSeconds"] for sample in report["samples"]
               if begin <= joined + sample["seconds"] < end]
        if own and report["receivedVideo"]["frames"] > 0:
            gaps.setdefault(next(name for name in relays if f"{network.address(name)}:" in report["url"]), []).append(
                max(own))
    every = sorted(gap for own in gaps.values() for gap in own)
    return {"most": {name: max(own) for name, own in sorted(gaps.items())},
            "median": every[len(every) // 2] if every else None}


if __name__ == "__main__":
    main()
