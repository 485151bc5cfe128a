import Foundation
import Glibc
import MediaCore

/// One conference of the relay. The clients run in this process, and note when frames leave and come.
struct RelayCapacity {
    let way: CapacityWay
    let options: [String]
    let participants: Int
    let clips: [TestClip]
    let hasSound: Bool
    let duration: Int

    private struct Measured {
        var result: CapacityResult
        var work: WorkRate
        var interval: ClosedRange<MonotonicInstant>
    }

    /// Rates and encoders have to have settled.
    private static let warmUp = Duration.seconds(26)

    /// Returns the result, without the floor, and the work that was done.
    func run() async throws -> (CapacityResult, WorkRate) {
        let relay = try startRelay()
        defer { relay.end() }
        let room = try ConferenceBench.room(listening: try relay.firstLine())
        let log = FrameLog()
        let crowd = try await CapacityCrowd.join(
            room, way: way, participants: participants, clips: clips, hasSound: hasSound, log: log)
        let measured: Measured
        do {
            measured = try await measure(room, relay: relay, memberCount: crowd.memberCount)
        } catch {
            await crowd.leave()
            throw error
        }
        await crowd.leave()
        relay.end()
        var result = measured.result
        result.add(
            try ViewerAnalysis(
                of: log, clips: clips, tileCount: way.tileCount(participants: participants),
                interval: measured.interval))
        return (result, measured.work)
    }

    private func startRelay() throws -> ChildProgram {
        let rate = "\(Workload.downlinkBitRate.bitsPerSecond)"
        return try ChildProgram(
            "confrelay",
            arguments: [
                "--port", "0", "--min-bitrate", rate, "--start-bitrate", rate, "--max-bitrate", rate, "--frame-rate",
                "\(Workload.frameRate)", "--canvas", "\(Workload.canvas)", "--max-participants", "200",
                // Each run measures the same work, and must not be reduced to the available time.
                "--overload-control", "off",
            ] + options)
    }

    /// - Parameter memberCount: The relay's participants: those that send and receive apart are two each.
    private func measure(
        _ room: URL, relay: ChildProgram, memberCount: Int
    ) async throws -> Measured {
        try await Task.sleep(for: Self.warmUp)
        let clocks = (relay: try ProcessClock(process: relay.identifier), own: try ProcessClock(process: getpid()))
        let delaysBefore = try await DelayDistribution.read(of: room)
        let before = try await Reading(room: room, relay: clocks.relay, load: clocks.own)
        let start = SystemMediaClock.shared.now
        try await Task.sleep(for: .seconds(duration))
        let end = SystemMediaClock.shared.now
        let after = try await Reading(room: room, relay: clocks.relay, load: clocks.own)
        let delays = try await DelayDistribution.read(of: room) - delaysBefore
        let relayed = RelayMeasurement(from: before, to: after, hasSound: true)
        // Members that only send receive no frames, and the reverse: those with the most are meant.
        func rates(_ frames: (RoomReading.Participant) -> UInt64) -> [Double] {
            let rates = zip(before.room.participants, after.room.participants).map {
                Double(frames($1) &- frames($0)) / relayed.seconds
            }
            return rates.sorted().suffix(participants)
        }
        let (sent, frames) = (rates(\.uplink.framesReceived), rates(\.downlink.framesEncoded))
        let isComplete = after.room.participants.count == memberCount
        let isPassedOn = after.room.forwarding.receivers == participants
        let missed = Double(after.room.missedTicks &- before.room.missedTicks)
        let ticks = Double(after.room.ticks &- before.room.ticks)
        let result = CapacityResult(
            way: way, participants: participants, cores: relayed.cores, clientCores: relayed.loadCores,
            leastSentFramesPerSecond: isComplete ? sent.min() ?? 0 : 0,
            leastFramesPerSecond: isPassedOn ? nil : isComplete ? frames.min() ?? 0 : 0,
            framesPerSecond: isPassedOn ? nil : frames.reduce(0, +) / Double(max(1, frames.count)),
            missedTickShare: missed / max(1, missed + ticks), medianDelayMilliseconds: delays.quantile(0.5),
            p95DelayMilliseconds: delays.quantile(0.95),
            megabytesEach: ProcessMemory.megabytes(of: relay.identifier) / Double(max(1, participants)))
        return Measured(result: result, work: relayed.work, interval: start...end)
    }
}
