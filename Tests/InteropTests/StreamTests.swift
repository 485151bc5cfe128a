import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Live streams of real calls, in real players.
@Suite("Live streams", .serialized, .enabled(if: Programs.areInstalled("ffmpeg", "ffprobe"), "needs ffmpeg"))
struct StreamTests {
    private func answer(_ method: String, _ url: String, accept: String = "*/*") async throws -> (Int, String) {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.setValue(accept, forHTTPHeaderField: "Accept")
        let (body, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: body, as: UTF8.self))
    }

    /// A relay with a call of one that is streamed.
    private func withStream(_ body: (RelayProgram, TemporaryFolder) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "15", "--streams"], in: folder)
        let ada = try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--name", "Ada", "--size", "320x180", "--frame-rate", "15"]
                + ["--duration", "90", "--quiet"], in: folder)
        defer { ada.signal(SIGKILL) }
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        #expect(try await answer("PUT", relay.url("/rooms/demo/stream")).0 == 201)
        try await body(relay, folder)
    }

    @Test("ffmpeg reads pictures and sound of a live stream without an error, and its first picture is not black")
    func ffmpeg() async throws {
        try await withStream { relay, folder in
            let reader = try ChildProcess(
                #require(Programs.installed("ffmpeg")),
                ["-v", "error", "-xerror", "-i", relay.url("/rooms/demo/stream/index.m3u8"), "-t", "4", "-c", "copy"]
                    + ["read.mp4"], in: folder)
            #expect(try await reader.end(within: .seconds(60)) == 0, "\(reader.errors)")
            let probe = try ChildProcess(
                #require(Programs.installed("ffprobe")),
                ["-v", "error", "-show_entries", "stream=codec_name,width,nb_frames", "-of", "csv=p=0", "read.mp4"],
                in: folder)
            #expect(try await probe.end(within: .seconds(30)) == 0, "\(probe.errors)")
            let streams = probe.output.split(whereSeparator: \.isNewline).map {
                $0.split(separator: ",").map(String.init)
            }
            #expect(streams.map(\.first).sorted { $0 ?? "" < $1 ?? "" } == ["aac", "h264"])
            let frames = streams.first { $0.first == "h264" }?.last.flatMap { Int($0) } ?? 0
            #expect((45...65).contains(frames), "\(streams)")
            let picture = try ChildProcess(
                #require(Programs.installed("ffmpeg")),
                ["-v", "error", "-i", "read.mp4", "-frames:v", "1", "-vf", "scale=1:1", "-pix_fmt", "gray"]
                    + ["-f", "rawvideo", "first.raw"], in: folder)
            #expect(try await picture.end(within: .seconds(30)) == 0, "\(picture.errors)")
            #expect(try Data(contentsOf: folder.file("first.raw")).first ?? 0 > 40)
        }
    }

    @Test(
        "the page plays a stream near its live edge",
        .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
    func page() async throws {
        try await withStream { relay, folder in
            let browser = try await Browser(ChromeDriver(in: folder), Browser.Options())
            let result: Result<Void, any Error>
            do {
                try await browser.open(relay.url("/rooms/demo/stream"))
                // Seconds played, seconds behind, and the width of the picture.
                try await eventually("five seconds of the stream", within: .seconds(60)) {
                    let seen: [Double] = try await browser.evaluate(
                        """
                        const video = document.getElementById('stream-video');
                        const played = [...Array(video.played.length).keys()]
                            .reduce((sum, index) => sum + video.played.end(index) - video.played.start(index), 0);
                        const latency = Number(document.getElementById('stream-state').dataset.latency ?? 99);
                        return [played, latency, video.videoWidth];
                        """)
                    return seen[0] > 5 && seen[1] < 5 && seen[2] == 320 ? true : nil
                }
                let text: String = try await browser.evaluate(
                    "return document.getElementById('stream-state').textContent;")
                #expect(text == "Live", "screen readers read out each change")
                func wait(for what: String, state: String, isPaused: Bool) async throws {
                    try await browser.wait(
                        for: what,
                        until: """
                            document.getElementById('stream-state').dataset.state === '\(state)'
                                && document.getElementById('stream-video').paused === \(isPaused)
                            """)
                }
                let _: Bool = try await browser.evaluate(
                    "document.getElementById('stream-video').pause(); return true;")
                try await wait(for: "the viewer's pause to stay", state: "paused", isPaused: true)
                let _: Bool = try await browser.evaluate(
                    "document.getElementById('stream-video').play(); return true;")
                try await wait(for: "the stream to go on", state: "playing", isPaused: false)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await browser.close()
            try result.get()
        }
    }

    @Test("a player is one segment behind at most, waits for the next part, and hears of the end")
    func blocking() async throws {
        try await withStream { relay, _ in
            let base = relay.url("/rooms/demo/stream")
            #expect(try await answer("PUT", base).0 == 409)
            #expect(try await answer("GET", base).1.contains("live"))
            #expect(try await answer("GET", base, accept: "text/html").1.contains("stream-view.js"))
            let playlist = try await answer("GET", base + "/live.m3u8").1
            let hint = try #require(playlist.split(separator: "\n").last { $0.hasPrefix("#EXT-X-PRELOAD-HINT") })
            let name = try #require(hint.split(separator: "\"").last.map(String.init))
            let numbers = name.dropLast(4).split(separator: "-").compactMap { Int($0) }
            let next = try await answer("GET", base + "/live.m3u8?_HLS_msn=\(numbers[0])&_HLS_part=\(numbers[1])")
            #expect(
                next.0 == 200 && next.1.contains("URI=\"\(name)\"")
                    && !next.1.contains("HINT:TYPE=PART,URI=\"\(name)\""))
            #expect(try await answer("GET", base + "/\(name)").0 == 200)
            #expect(try await answer("GET", base + "/live.m3u8?_HLS_msn=999999").0 == 400)
            #expect(try await answer("GET", base + "/segment-999999.m4s").0 == 404)
            #expect(try await answer("DELETE", base).0 == 204)
            try await eventually("the end of the playlist", within: .seconds(10)) {
                try await answer("GET", base + "/live.m3u8").1.contains("#EXT-X-ENDLIST") ? true : nil
            }
            #expect(try await answer("DELETE", base).0 == 404)
        }
    }
}
