import CongestionControl
import Foundation
import MediaCore

/// One conference: floor and relay in turn, in short rounds, so that a drift of the machine's speed meets both alike.
struct ConferenceBench {
    private let way: ConferenceWay
    private let participants: Int
    private let hasSound: Bool
    private let duration: Int
    private let workers: Int?
    private let clipPath: String
    private let floor: CodecFloor

    /// Rates have to have settled for so long, or are taken as they are after `maximumSettling`.
    private static let minimumSettling = Duration.seconds(4)
    private static let maximumSettling = Duration.seconds(20)
    /// The seconds for which the relay is measured between two floors.
    private static let roundSeconds = 2
    /// The time for which the relay stands still during a floor. It is shorter than the time after which the relay dims
    /// its tiles, which would cost bits.
    private static let pause = Duration.milliseconds(700)
    /// After each pause the relay runs for so long before it is measured.
    private static let recovery = Duration.seconds(1)

    init(
        way: ConferenceWay, participants: Int, hasSound: Bool, clip: TestClip, clipPath: String, duration: Int,
        workers: Int?
    ) throws {
        self.way = way
        self.participants = participants
        self.hasSound = hasSound
        self.duration = duration
        self.workers = workers
        self.clipPath = clipPath
        floor = try CodecFloor(way: way, participants: participants, clip: clip)
    }

    /// Measures the floor, then in each round the relay and the floor again. While the floor is measured, the relay and
    /// its clients stand still.
    func run() async throws -> ConferenceResult {
        Progress.say("\(way.rawValue), \(participants) participants: starting the relay and its clients")
        let relay = try startRelay()
        defer { relay.end() }
        let room = try Self.room(listening: try relay.firstLine())
        let load = try startLoad(room: room)
        defer { load.end() }
        try await settle(room: room, load: load)

        let clocks = (
            relay: try ProcessClock(process: relay.identifier), load: try ProcessClock(process: load.identifier)
        )
        let rounds = max(1, duration / Self.roundSeconds)
        var floors = [try measureFloor(while: [load, relay])]
        var measurements: [RelayMeasurement] = []
        for round in 1...rounds {
            Progress.say("\(way.rawValue), \(participants) participants: round \(round) of \(rounds)")
            try await Task.sleep(for: Self.recovery)
            let first = try await Reading(room: room, relay: clocks.relay, load: clocks.load)
            try await Task.sleep(for: .seconds(Double(duration) / Double(rounds)))
            try load.checkRunning()
            let last = try await Reading(room: room, relay: clocks.relay, load: clocks.load)
            measurements.append(RelayMeasurement(from: first, to: last, hasSound: hasSound))
            floors.append(try measureFloor(while: [load, relay]))
        }
        return ConferenceResult(
            way: way, participants: participants, hasSound: hasSound, floors: floors, relay: measurements)
    }

    private func measureFloor(while paused: [ChildProgram]) throws -> FloorCost {
        for program in paused { program.pause() }
        defer { for program in paused.reversed() { program.resume() } }
        return try floor.run(for: Self.pause)
    }

    private func startRelay() throws -> ChildProgram {
        let rate = "\(Workload.downlinkBitRate.bitsPerSecond)"
        return try ChildProgram(
            "confrelay",
            arguments: [
                "--port", "0", "--min-bitrate", rate, "--start-bitrate", rate, "--max-bitrate", rate, "--frame-rate",
                "\(Workload.frameRate)", "--canvas", "\(Workload.canvas)",
                // Each run measures the same work, and must not be reduced to the available time.
                "--overload-control", "off", "--forwarding", "off",
            ] + way.relayOptions + (workers.map { ["--workers", "\($0)"] } ?? []))
    }

    private func startLoad(room: URL) throws -> ChildProgram {
        try ChildProgram(
            "confclient",
            arguments: [
                "load", room.absoluteString, "--count", "\(participants)", "--video", clipPath, "--frame-rate",
                "\(Workload.frameRate)", "--max-bitrate", "\(Workload.sourceBitRate.bitsPerSecond * 2)", "--audio",
                hasSound ? "tone" : "none", "--quiet",
            ])
    }

    /// The room's URL out of the line that the relay prints when it listens.
    static func room(listening line: String) throws -> URL {
        let word = line.split(separator: " ").first { $0.hasPrefix("http://") }
        guard let word, let url = URL(string: word + "/rooms/bench") else {
            throw BenchmarkError.programFailed(name: "confrelay", reason: "it printed \"\(line)\" and no address")
        }
        return url
    }

    /// Waits until all have joined, every encoder has the bitrate that the floor assumes, and pictures flow both ways.
    private func settle(room: URL, load: ChildProgram) async throws {
        let start = ContinuousClock.now
        var previous: RoomReading?
        while true {
            try await Task.sleep(for: .seconds(1))
            try load.checkRunning()
            let reading = try await RoomReading.read(from: room)
            let elapsed = ContinuousClock.now - start
            if elapsed >= Self.minimumSettling, let previous, hasSettled(reading, since: previous) { return }
            previous = reading
            guard elapsed >= Self.maximumSettling else { continue }
            guard reading.participants.count == participants else {
                throw BenchmarkError.programFailed(
                    name: "confclient", reason: "\(reading.participants.count) of \(participants) have joined")
            }
            let rates = reading.participants.map { "\($0.downlink.videoBitRate / 1000)" }
            Progress.say(
                "not settled in \(Int(elapsed.seconds)) s (encoders at \(rates.joined(separator: " ")) kbit/s, the "
                    + "floor's at \(Workload.allocation.video)); measuring all the same: this machine may be too slow")
            return
        }
    }

    /// Returns true if rates are as they should be and nearly all pictures of a second were decoded and encoded.
    private func hasSettled(_ reading: RoomReading, since previous: RoomReading) -> Bool {
        let wanted = Double(Workload.allocation.video.bitsPerSecond)
        let frames = Double(participants * Workload.frameRate) * 0.9
        return reading.participants.count == participants
            && reading.participants.allSatisfy { abs(Double($0.downlink.videoBitRate) / wanted - 1) < 0.02 }
            && reading.sum(\.uplink.framesDecoded) - previous.sum(\.uplink.framesDecoded) > frames
            && reading.sum(\.downlink.framesEncoded) - previous.sum(\.downlink.framesEncoded) > frames
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
