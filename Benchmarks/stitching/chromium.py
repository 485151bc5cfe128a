#!/usr/bin/env python3
"""Compares what Chromium (WebCodecs) decodes of a file of `stitching --stream` with libavcodec's pictures in it."""
import base64
import hashlib
import http.server
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading

SIZE = 1280 * 720 * 3 // 2
PAGE = """<script type="module">
const parts = await (await fetch("/units")).json(), sums = [];
let work = Promise.resolve();
const sum = async frame => {
    const memory = new Uint8Array(1280 * 720 * 3 / 2);
    const layout = [[0, 1280], [921600, 640], [1152000, 640]].map(([offset, stride]) => ({offset, stride}));
    const format = frame.format;
    await frame.copyTo(memory, {layout});
    frame.close();
    const digest = await crypto.subtle.digest("SHA-256", memory);
    sums.push(format + Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, "0")).join(""));
};
let failure = "";
const decoder = new VideoDecoder({
    output: frame => { work = work.then(() => sum(frame)); }, error: error => { failure = String(error); }});
decoder.configure({codec: "avc1.42C01F", hardwareAcceleration: "prefer-software", optimizeForLatency: true});
for (const [index, part] of parts.entries()) {
    const data = Uint8Array.from(atob(part), character => character.charCodeAt(0));
    decoder.decode(new EncodedVideoChunk({type: index ? "delta" : "key", timestamp: index * 33333, data}));
    while (decoder.decodeQueueSize > 4) await new Promise(resolve => setTimeout(resolve, 1));
    await work;
}
try { await decoder.flush(); await work; } catch (error) { failure = String(error); }
await fetch("/sums", {method: "POST", body: JSON.stringify({sums, failure})});
</script>"""


def read(path):
    units, sums, data, at = [], [], pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        units.append(base64.b64encode(data[at + 4:at + 4 + size]).decode())
        at += 4 + size
        sums.append("I420" + hashlib.sha256(data[at:at + SIZE]).hexdigest())
        at += SIZE
    return units, sums


def main():
    units, expected = read(sys.argv[1])
    answer, done = {}, threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def reply(self, body, kind):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body.encode())

        def do_GET(self):
            is_units = self.path == "/units"
            self.reply(json.dumps(units) if is_units else PAGE, "application/json" if is_units else "text/html")

        def do_POST(self):
            answer.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.reply("", "text/plain")
            done.set()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done.wait(120)
        browser.terminate()
        browser.wait()
    sums = answer.get("sums", [])
    equal = sum(one == other for one, other in zip(sums, expected))
    print(f"{len(expected)} pictures, {len(sums)} decoded, {equal} equal. {answer.get('failure', 'no answer')}")


if __name__ == "__main__":
    main()
