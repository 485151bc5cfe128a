import Foundation
import Testing

/// The commands of `docs/joining.md`, run as they stand there by programs that are not ours.
@Suite("The commands in docs/joining.md", .serialized)
struct JoiningDocumentTests {
    private static let hasFFmpeg = Programs.areInstalled("ffmpeg", "bash", "curl")
    private static let hasGStreamer = hasFFmpeg && Programs.hasGStreamer

    @Test("every bash block and script has a name of its own, and a test that runs it")
    func everyBlockIsRun() throws {
        let names = try JoiningDocument().blocks.map(\.name)
        #expect(
            names.sorted() == [
                "confclient", "ffmpeg-publish", "ffmpeg-watch", "gstreamer-publish", "gstreamer-watch", "leave",
                "variables", "watch-offer", "webrtcbin-publish", "webrtcbin-watch",
            ])
    }

    @Test(
        "ffmpeg publishes, ffmpeg watches, and both leave",
        .enabled(if: hasFFmpeg, "needs ffmpeg, curl and bash: make test installs them"))
    func ffmpeg() async throws {
        try await publishAndWatch(with: "ffmpeg", audio: "seen.mkv")
    }

    @Test(
        "GStreamer publishes, GStreamer watches, and both leave",
        .enabled(if: hasGStreamer, "needs GStreamer with its plugins, ffmpeg, curl and bash: make test installs them"))
    func gstreamer() async throws {
        try await publishAndWatch(with: "gstreamer", audio: "heard.wav")
    }

    @Test(
        "GStreamer shows ffmpeg's media, and ffmpeg shows GStreamer's",
        .enabled(if: hasGStreamer, "needs GStreamer with its plugins, ffmpeg, curl and bash: make test installs them"))
    func both() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "640x360"], in: folder)
        let pairs = [("ffmpeg", "gstreamer", "heard.wav"), ("gstreamer", "ffmpeg", "seen.mkv")]
        for (publisher, viewer, audio) in pairs {
            let own = try TemporaryFolder()
            let script = try JoiningScript(
                ["\(publisher)-publish", "watch-offer", "\(viewer)-watch", "leave"], relay: relay, room: viewer,
                time: 4, in: own)
            try await script.finish(within: .seconds(60))
            try await check(audio: audio, in: own)
        }
    }

    @Test("confclient joins, records and measures", .enabled(if: hasFFmpeg, "needs ffmpeg, curl and bash"))
    func confclient() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "640x360"], in: folder)
        let script = try JoiningScript(["confclient"], relay: relay, room: "demo", time: 3, in: folder)
        try await script.finish(within: .seconds(60))
        for name in ["seen.png", "seen.json"] { #expect(folder.size(of: name) > 0, "\(name)") }
        // Alone in a room, one sees nobody and hears silence; the picture says so, and does not change.
        #expect(try await ReceivedMedia(video: "seen.mp4", audio: nil, in: folder).frameCount > 0)
    }

    @Test(
        "GStreamer's webrtcbin publishes by WHIP and watches by WHEP",
        .enabled(
            if: hasGStreamer && JoiningDocument.canRunWebRTCBin,
            "needs webrtcbin, libnice, python3-gi and network namespaces: make test installs what can be installed"))
    func webrtcbin() async throws {
        let folder = try TemporaryFolder()
        // The publisher's pictures are forwarded after some seconds, and are smaller than the composed ones.
        for _ in 0..<2 {
            try await JoiningDocument.runApart(
                publisher: "webrtcbin-publish", viewer: "webrtcbin-watch", room: "rtc", time: 9, in: folder)
            let received = try await check(audio: "seen.mkv", in: folder)
            #expect(received.duration(ofTone: 440) >= 4, "the file goes on when the picture's size changes")
        }
    }

    /// Runs a publisher and a viewer, and checks the room before they leave and the media that were received. It does
    /// so twice in one folder: the second run finds the first run's files, and sends a picture whose size changes.
    private func publishAndWatch(with program: String, audio: String) async throws {
        let folder = try TemporaryFolder()
        for canvas in ["640x360", "1280x720"] {
            try await publishAndWatch(with: program, canvas: canvas, audio: audio, in: folder)
        }
    }

    private func publishAndWatch(
        with program: String, canvas: String, audio: String, in folder: TemporaryFolder
    ) async throws {
        let relay = try await RelayProgram(["--canvas", canvas], in: folder)
        let script = try JoiningScript(
            ["\(program)-publish", "watch-offer", "\(program)-watch", "leave"], relay: relay, room: program, time: 5,
            in: folder)
        try await script.finish(within: .seconds(60))
        let room = try script.roomBeforeLeaving()
        let bars = try #require(room.participants.first { $0.name == "Bars" })
        #expect(bars.role == "publish")
        #expect(bars.uplink.framesDecoded > 30 && bars.uplink.audioPackets > 50)
        #expect(bars.uplink.width == 640 && bars.uplink.height == 360)
        let viewer = try #require(room.participants.first { $0.name == "Viewer" })
        #expect(viewer.role == "watch" && viewer.downlink.framesEncoded > 10)
        try await check(audio: audio, in: folder)
        #expect(try await relay.room(program) == nil, "all have left")
    }

    @discardableResult
    private func check(audio: String, in folder: TemporaryFolder) async throws -> ReceivedMedia {
        let received = try await ReceivedMedia(video: "seen.mkv", audio: audio, in: folder)
        #expect(received.frameCount >= 10)
        #expect(received.columns.map(\.channels) == RGB.smpteBars, "the colour bars are there: \(received.columns)")
        #expect(received.duration(ofTone: 440) >= 0.5, "the tone is there")
        return received
    }
}
