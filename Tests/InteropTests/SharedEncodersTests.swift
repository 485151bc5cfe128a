import ConferenceClient
import Foundation
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

    private static let maximum = 1_000_000.0
    private static let encoders = 2
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

    @Test("four on as many traces each get most of what theirs carries, from two encoders, and few keyframes")
    func fourTraces() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "640x360", "--frame-rate", "15", "--self-view", "always", "--max-bitrate", "1M"]
                + ["--max-encoders", "\(Self.encoders)"], in: folder)
        let kinds = [("line", 8), ("umts", 1), ("umts", 3), ("cell-30kmh", 9)]
        var networks: [Network] = []
        for (index, (kind, part)) in kinds.enumerated() {
            networks.append(try await make(Network(kind: kind, part: part), seed: index + 1, in: folder))
        }
        let clients = try networks.map { network in
            try ChildProcess(
                Programs.product("confclient"),
                ["join", relay.url("/rooms/demo"), "--name", network.name, "--size", "320x180", "--frame-rate", "15"]
                    + ["--downlink", "trace=\(network.name).down,delay=20ms", "--duration", "\(Self.seconds)"]
                    + ["--quiet", "--stats", "\(network.name).json"], in: folder)
        }
        var room: RoomState?
        var mostGroups = 0
        while clients.allSatisfy(\.isRunning) {
            if let state = try await relay.room("demo"), state.participants.count == networks.count {
                mostGroups = max(mostGroups, state.encoding.groups.count)
                room = state
            }
            try await Task.sleep(for: .milliseconds(500))
        }
        for (network, client) in zip(networks, clients) {
            #expect(try await client.end(within: .seconds(60)) == 0, "\(network.name): \(client.errors)")
            let report: ClientReport = try JSONDecoder().decode(
                ClientReport.self, from: Data(contentsOf: folder.file("\(network.name).json")))
            let link = try #require(report.downlink)
            let rate = Double(link.bytesDelivered) * 8 / report.durationSeconds
            let whole = min(network.capacity, Self.maximum)
            let figures =
                "\(network.name): \(Int(rate / 1000)) of \(Int(whole / 1000)) kbit/s, \(report.receivedVideo)"
            #expect(rate > whole * 0.4 && rate < network.capacity * 1.3, "\(figures)")
            // Its picture goes on to the end.
            let video = report.receivedVideo
            #expect(video.framesPerSecond > 5 && video.longestGapSeconds < 6, "\(figures)")
            #expect(video.decodeErrors == 0, "\(figures)")
            #expect(report.samples.suffix(8).allSatisfy { $0.receivedVideoBitsPerSecond > 0 }, "\(figures)")
        }
        let encoding = try #require(room).encoding
        #expect((1...Self.encoders).contains(mostGroups), "\(mostGroups)")
        let ticks = try #require(room).ticks
        #expect(encoding.frames <= (ticks + 15) * Self.encoders, "\(encoding.frames) frames in \(ticks) ticks")
        let share = Double(encoding.keyFrameBytes) / Double(max(1, encoding.bytes))
        #expect(share < 0.2, "keyframes take \(share)")
    }
}
