import ConferenceClient
import Foundation

/// A relay with a camera and receivers behind networks of their own.
struct SharingRoom {
    /// The result of one run.
    struct Outcome {
        var reports: [ClientReport]
        /// The most groups that there were at any time.
        var mostEncoders: Int
        var keyframeShare: Double
        var missedTickShare: Double
    }

    /// The content to show, as the programs' options take it.
    struct Show {
        var canvas: String
        var frameRate: Int
        var maximumBitRate: String
    }

    let networks: [SharingNetwork]
    let show: Show
    let duration: Int
    let warmUp: Int
    let directory: ScratchDirectory

    /// Between two looks at the groups.
    private static let interval = Duration.milliseconds(250)

    /// - Parameter maximumEncoders: Nil for one for each.
    func run(maximumEncoders: Int?) async throws -> Outcome {
        let encoders = maximumEncoders.map { "\($0)" } ?? "dedicated"
        Progress.say("\(networks.count) receivers, encoders: \(encoders); \(duration) s")
        let relay = try ChildProgram(
            "confrelay",
            arguments: [
                "--port", "0", "--canvas", show.canvas, "--frame-rate", "\(show.frameRate)", "--max-bitrate",
                show.maximumBitRate, "--self-view", "always", "--max-encoders", encoders, "--forwarding", "off",
                "--overload-control", "off",
            ])
        defer { relay.end() }
        let room = try ConferenceBench.room(listening: try relay.firstLine())
        let camera = try client(
            in: room, name: "Camera",
            ["--size", show.canvas, "--frame-rate", "\(show.frameRate)", "--no-follow-demand"])
        defer { camera.end() }
        try await RoomReading.wait(in: room, for: "the camera's pictures") { $0.sum(\.uplink.framesDecoded) > 0 }
        let receivers = try networks.enumerated().map { index, network in
            try client(
                in: room, name: "Receiver \(index + 1)",
                [
                    "--video", "none", "--downlink", "trace=\(network.path),delay=20ms", "--duration", "\(duration)",
                    "--stats", statistics(of: index),
                ])
        }
        defer { for receiver in receivers { receiver.end() } }
        var begun: RoomReading?
        var last: RoomReading?
        var mostEncoders = 0
        let start = ContinuousClock.now
        while receivers.allSatisfy(\.isRunning) {
            try await Task.sleep(for: Self.interval)
            let reading = try await RoomReading.read(from: room)
            guard reading.participants.count == networks.count + 1 else { continue }
            mostEncoders = max(mostEncoders, reading.encoding.groups.count)
            if begun == nil, ContinuousClock.now - start >= .seconds(warmUp) { begun = reading }
            last = reading
        }
        for receiver in receivers { try receiver.waitForSuccess() }
        guard let begun, let last else {
            throw BenchmarkError.programFailed(name: "confclient", reason: "the room's receivers did not come")
        }
        let missed = Double(last.missedTicks &- begun.missedTicks)
        let bytes = Double(last.encoding.bytes &- begun.encoding.bytes)
        return Outcome(
            reports: try networks.indices.map { try ClientReport.read(statistics(of: $0)) }, mostEncoders: mostEncoders,
            keyframeShare: Double(last.encoding.keyframeBytes &- begun.encoding.keyframeBytes) / max(1, bytes),
            missedTickShare: missed / max(1, missed + Double(last.ticks &- begun.ticks)))
    }

    private func client(in room: URL, name: String, _ options: [String]) throws -> ChildProgram {
        try ChildProgram(
            "confclient",
            arguments: ["join", room.absoluteString, "--name", name, "--audio", "none", "--quiet"] + options)
    }

    private func statistics(of index: Int) -> String { directory.path(of: "\(index).json") }
}
