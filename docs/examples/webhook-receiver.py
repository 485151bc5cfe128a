#!/usr/bin/env python3
"""Takes a relay's webhooks, checks their signatures and prints each event once, a JSON object a line.

    printf 'key1 %s\n' "$(openssl rand -hex 32)" > webhook.key
    python3 webhook-receiver.py --port 9000 --keys webhook.key
    confrelay --webhook http://127.0.0.1:9000/ --webhook-secret webhook.key
"""

import argparse
import base64
import hashlib
import hmac
import http.server
import json
import sys
import time

TOLERANCE = 5 * 60


def read_keys(path):
    """The secrets of a file, by their ids."""
    keys = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 2 and not words[0].startswith("#"):
                secret = words[1]
                keys[words[0]] = (
                    base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode())
    return keys


def is_authentic(headers, body, keys, now):
    """Whether one of the signatures was made with one of our keys, within the last minutes."""
    identifier, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(now - int(timestamp)) > TOLERANCE:
        return False
    signed = f"{identifier}.{timestamp}.".encode() + body
    ids = headers.get("webhook-key-id", "").split(",")
    for key_id, signature in zip(ids, headers.get("webhook-signature", "").split()):
        if key_id in keys:
            expected = base64.b64encode(hmac.new(keys[key_id], signed, hashlib.sha256).digest()).decode()
            if hmac.compare_digest(signature, f"v1,{expected}"):
                return True
    return False


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    keys = {}
    seen = set()

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 65536))
        if is_authentic(self.headers, body, self.keys, time.time()):
            event = json.loads(body)
            # Events come at least once: one whose answer was lost comes again, with the same id.
            if event["id"] not in self.seen:
                self.seen.add(event["id"])
                print(json.dumps(event, ensure_ascii=False, sort_keys=True), flush=True)
            self.send_response(204)
        else:
            self.send_response(401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description="Prints the events of a confrelay's webhooks.")
    parser.add_argument("--port", type=int, default=9000, help="where to listen, on 127.0.0.1 (default: 9000)")
    parser.add_argument("--keys", required=True, help="the file of the relay's --webhook-secret")
    arguments = parser.parse_args()
    Receiver.keys = read_keys(arguments.keys)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    print(f"listening: http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
