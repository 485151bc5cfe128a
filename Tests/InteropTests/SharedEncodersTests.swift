import ConferenceClient
import Foundation
import Glibc
import Testing

/// Receivers on networks of their own who share encoders, on real sockets.
@Suite("Encoders shared over sockets", .serialized)
struct SharedEncodersTests {
    /// A network by a generated trace, of which a part of the opportunities is left.
    private struct Network {
        var kind: String
        var part: Int
        /// In bits a second, on average.
        var capacity = 0.0

        var name: String { "\(kind)-\(part)" }
    }

    /// The most that the relay sends to anybody, as it takes it and in bits a second.
    private static let maximum = (text: "800k", rate: 800_000.0)
    private static let encoders = 2
    private static let weakNetworks = ["umts-2", "umts-5", "cell-30kmh-12"]
    private static let frameRate = 10
    private static let seconds = 30

    /// Writes the trace of a network.
    private func make(_ network: Network, seed: Int, in folder: TemporaryFolder) async throws -> Network {
        let whole = "\(network.name).whole"
        let generator = try ChildProcess(
            Programs.product("confsim"),
            ["traces", "generate", "--kind", network.kind, "--seed", "\(seed)", "--duration", "60s", "-o", whole],
            in: folder)
        #expect(try await generator.end(within: .seconds(30)) == 0, "\(generator.errors)")
        let lines = try String(contentsOf: folder.file(whole), encoding: .utf8).split(separator: "\n")
        let kept = lines.enumerated().filter { ($0.offset + 1).isMultiple(of: network.part) }.map(\.element)
        try Data((kept.joined(separator: "\n") + "\n").utf8).write(to: folder.file("\(network.name).down"))
        let last = try #require(kept.last.flatMap { Double($0) })
        var made = network
        // An opportunity is for 1500 bytes.
        made.capacity = Double(kept.count) * 1500 * 8 / (last / 1000)
        return made
    }

    private func join(_ room: String, _ name: String, _ options: [String], in folder: TemporaryFolder) throws
        -> ChildProcess
    {
        try ChildProcess(
            Programs.product("confclient"),
            ["join", room, "--name", name, "--audio", "none", "--quiet", "--stats", "\(name).json"] + options,
            in: folder)
    }

    @Test("four receivers on four traces each use a good part of their rate, with two encoders and few keyframes")
    func fourTraces() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "640x360", "--frame-rate", "\(Self.frameRate)", "--max-bitrate", Self.maximum.text]
                + ["--max-encoders", "\(Self.encoders)", "--self-view", "always"], in: folder)
        var networks: [Network] = []
        for (index, (kind, part)) in [("line", 9), ("umts", 2), ("umts", 5), ("cell-30kmh", 12)].enumerated() {
            networks.append(try await make(Network(kind: kind, part: part), seed: index + 1, in: folder))
        }
        let url = relay.url("/rooms/demo")
        let camera = try join(
            url, "Camera", ["--size", "640x360", "--frame-rate", "\(Self.frameRate)", "--no-follow-demand"], in: folder)
        try await relay.participant("Camera", in: "demo") { $0.uplink.framesDecoded > 0 }
        let clients = try networks.map { network in
            try join(
                url, network.name,
                ["--video", "none", "--downlink", "trace=\(network.name).down,delay=20ms"]
                    + ["--duration", "\(Self.seconds)"], in: folder)
        }
        var room: RoomState?
        var mostGroups = 0
        while clients.allSatisfy(\.isRunning) {
            if let state = try await relay.room("demo"), state.participants.count == networks.count + 1 {
                mostGroups = max(mostGroups, state.encoding.groups.count)
                room = state
            }
            try await Task.sleep(for: .milliseconds(500))
        }
        // A machine that has no time for the relay says nothing about sharing. A busy one delays reports, and a
        // controller takes these delays for those of a slow path.
        let ticks = try #require(room).ticks
        let hadTime = ticks > Self.seconds * Self.frameRate * 8 / 10
        for (network, client) in zip(networks, clients) {
            #expect(try await client.end(within: .seconds(60)) == 0, "\(network.name): \(client.errors)")
            let report: ClientReport = try JSONDecoder().decode(
                ClientReport.self, from: Data(contentsOf: folder.file("\(network.name).json")))
            let rate = Double(try #require(report.downlink).bytesDelivered) * 8 / report.durationSeconds
            let whole = min(network.capacity, Self.maximum.rate)
            let video = report.receivedVideo
            let figures =
                "\(network.name): \(Int(rate / 1000)) of \(Int(whole / 1000)) kbit/s, \(video.framesPerSecond) frames "
                + "a second, \(video.longestGapSeconds) s without, \(ticks) ticks"
            #expect(video.frames > 0 && video.decodeErrors == 0, "\(figures)")
            #expect(rate < network.capacity * 1.3, "\(figures)")
            guard hadTime else { continue }
            // Networks share encoders at rates between their needs. In ten calls on a quiet machine umts-5 got 0.21 to
            // 0.52 of its rate; in seven on a faster one umts-2, which stands still for 3 s, got 0.25 to 0.35. No tick
            // is missed; the cause is not known.
            withKnownIssue("weak networks that share encoders can get less than a quarter", isIntermittent: true) {
                #expect(rate > whole / 4, "\(figures)")
            } when: {
                Self.weakNetworks.contains(network.name)
            }
            #expect(video.framesPerSecond > 4 && video.longestGapSeconds < 8, "\(figures)")
            // Its picture continues to the end.
            #expect(report.samples.suffix(8).contains { $0.receivedFrames > 0 }, "\(figures)")
        }
        camera.signal(SIGINT)
        #expect(try await camera.end(within: .seconds(20)) == 0, "\(camera.errors)")
        let encoding = try #require(room).encoding
        #expect((1...Self.encoders).contains(mostGroups), "\(mostGroups)")
        #expect(encoding.frames <= (ticks + 15) * Self.encoders, "\(encoding.frames) frames in \(ticks) ticks")
        let share = Double(encoding.keyframeBytes) / Double(max(1, encoding.bytes))
        if hadTime { #expect(share < 0.2, "keyframes take \(share)") }
    }
}
