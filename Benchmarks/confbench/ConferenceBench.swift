import Foundation
import MediaCore
import RateControl

/// One conference: the floor, the relay under load, the floor again.
struct ConferenceBench {
    private let participants: Int
    private let duration: Int
    private let workers: Int?
    private let clipPath: String
    private let floor: CodecFloor

    /// Rates have to have settled for so long, or are taken as they are after `maximumSettling`.
    private static let minimumSettling = Duration.seconds(4)
    private static let maximumSettling = Duration.seconds(20)

    init(participants: Int, clip: TestClip, clipPath: String, duration: Int, workers: Int?) throws {
        self.participants = participants
        self.duration = duration
        self.workers = workers
        self.clipPath = clipPath
        floor = try CodecFloor(participants: participants, clip: clip)
    }

    func run() async throws -> ConferenceResult {
        // Half before and half after, so that a drift of the machine's speed cancels out.
        let seconds = max(1, Double(duration) / 2)
        Progress.say("\(participants) participants: the codecs alone")
        let before = try floor.run(seconds: seconds)
        Progress.say("\(participants) participants: the relay")
        let relay = try await measureRelay()
        Progress.say("\(participants) participants: the codecs alone")
        let after = try floor.run(seconds: seconds)
        return ConferenceResult(participants: participants, floorBefore: before, floorAfter: after, relay: relay)
    }

    private func measureRelay() async throws -> RelayMeasurement {
        let rate = "\(Workload.downlinkBitRate.bitsPerSecond)"
        let relay = try ChildProgram(
            "confrelay",
            arguments: [
                "--port", "0", "--min-bitrate", rate, "--start-bitrate", rate, "--max-bitrate", rate, "--frame-rate",
                "\(Workload.frameRate)", "--canvas", "\(Workload.canvas)",
            ] + (workers.map { ["--workers", "\($0)"] } ?? []))
        defer { relay.end() }
        let room = try Self.room(listening: try relay.firstLine())
        let load = try ChildProgram(
            "confclient",
            arguments: [
                "load", room.absoluteString, "--count", "\(participants)", "--video", clipPath, "--frame-rate",
                "\(Workload.frameRate)", "--max-bitrate", "\(Workload.sourceBitRate.bitsPerSecond * 2)", "--quiet",
            ])
        defer { load.end() }
        try await settle(room: room, load: load)

        let clock = try ProcessClock(process: relay.identifier)
        let loadClock = try ProcessClock(process: load.identifier)
        let first = try await Reading(room: room, relay: clock, load: loadClock)
        try await Task.sleep(for: .seconds(duration))
        try load.checkRunning()
        let last = try await Reading(room: room, relay: clock, load: loadClock)
        return RelayMeasurement(from: first, to: last)
    }

    /// The room's URL out of the line that the relay prints when it listens.
    private static func room(listening line: String) throws -> URL {
        let word = line.split(separator: " ").first { $0.hasPrefix("http://") }
        guard let word, let url = URL(string: word + "/rooms/bench") else {
            throw BenchmarkError.programFailed(name: "confrelay", reason: "it printed \"\(line)\" and no address")
        }
        return url
    }

    /// Waits until all are there and every encoder gets the bitrate that the floor reckons with.
    private func settle(room: URL, load: ChildProgram) async throws {
        let start = ContinuousClock.now
        while true {
            try await Task.sleep(for: .milliseconds(500))
            try load.checkRunning()
            let elapsed = ContinuousClock.now - start
            guard elapsed >= Self.minimumSettling else { continue }
            let reading = try await RoomReading.read(from: room)
            let wanted = Double(Workload.allocation.video.bitsPerSecond)
            let hasSettled = reading.participants.allSatisfy {
                abs(Double($0.downlink.videoBitRate) / wanted - 1) < 0.02 && $0.uplink.framesDecoded > 0
            }
            if reading.participants.count == participants, hasSettled { return }
            guard elapsed < Self.maximumSettling else {
                guard reading.participants.count == participants else {
                    throw BenchmarkError.programFailed(
                        name: "confclient", reason: "\(reading.participants.count) of \(participants) have joined")
                }
                let rates = reading.participants.map { "\($0.downlink.videoBitRate / 1000)" }
                Progress.say(
                    "the encoders' rates (\(rates.joined(separator: " ")) kbit/s) are not the floor's "
                        + "(\(Workload.allocation.video)); measuring all the same")
                return
            }
        }
    }
}

/// Clocks and counters at one moment.
struct Reading {
    var time: ContinuousClock.Instant
    var room: RoomReading
    var relay: Duration
    var load: Duration
    var threads: [String: Duration]

    init(room url: URL, relay clock: ProcessClock, load loadClock: ProcessClock) async throws {
        room = try await RoomReading.read(from: url)
        time = .now
        relay = try clock.now()
        load = try loadClock.now()
        threads = clock.threads()
    }
}
