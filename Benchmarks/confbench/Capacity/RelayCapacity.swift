import Foundation
import FoundationNetworking
import MediaCore

/// One conference of the relay.
struct RelayCapacity {
    let way: CapacityWay
    let options: [String]
    let participants: Int
    let clipPath: String
    let duration: Int

    /// Rates and encoders have to have settled.
    private static let warmUp = Duration.seconds(12)

    func run() async throws -> CapacityResult {
        let rate = "\(Workload.downlinkBitRate.bitsPerSecond)"
        let relay = try ChildProgram(
            "confrelay",
            arguments: [
                "--port", "0", "--min-bitrate", rate, "--start-bitrate", rate, "--max-bitrate", rate, "--frame-rate",
                "\(Workload.frameRate)", "--canvas", "\(Workload.canvas)", "--max-participants", "100",
                // Each run measures the same work, and must not be reduced to the available time.
                "--overload-control", "off",
            ] + options)
        defer { relay.end() }
        let room = try ConferenceBench.room(listening: try relay.firstLine())
        let load = try ChildProgram(
            "confclient",
            arguments: [
                "load", room.absoluteString, "--count", "\(participants)", "--video",
                way.sendsClip ? clipPath : "synthetic", "--frame-rate",
                "\(Workload.frameRate)", "--max-bitrate", "\(Workload.sourceBitRate.bitsPerSecond * 2)", "--quiet",
            ])
        defer { load.end() }
        try await Task.sleep(for: Self.warmUp)
        let clocks = (
            relay: try ProcessClock(process: relay.identifier), load: try ProcessClock(process: load.identifier)
        )
        let delaysBefore = try await DelayDistribution.read(of: room)
        let before = try await Reading(room: room, relay: clocks.relay, load: clocks.load)
        try await Task.sleep(for: .seconds(duration))
        try load.checkRunning()
        let after = try await Reading(room: room, relay: clocks.relay, load: clocks.load)
        let delays = try await DelayDistribution.read(of: room) - delaysBefore
        let seconds = (after.time - before.time).seconds
        let sent = zip(before.room.participants, after.room.participants).map {
            Double($1.uplink.framesReceived &- $0.uplink.framesReceived) / seconds
        }
        let frames = zip(before.room.participants, after.room.participants).map {
            Double($1.downlink.framesEncoded &- $0.downlink.framesEncoded) / seconds
        }
        let isComplete = after.room.participants.count == participants
        let isPassedOn = after.room.forwarding.receivers == participants
        let missed = Double(after.room.missedTicks &- before.room.missedTicks)
        let ticks = Double(after.room.ticks &- before.room.ticks)
        return CapacityResult(
            way: way, participants: after.room.participants.count,
            cores: (after.relay - before.relay).seconds / seconds,
            clientCores: (after.load - before.load).seconds / seconds,
            leastSentFramesPerSecond: isComplete ? sent.min() ?? 0 : 0,
            leastFramesPerSecond: isPassedOn ? nil : isComplete ? frames.min() ?? 0 : 0,
            framesPerSecond: isPassedOn ? nil : frames.reduce(0, +) / Double(max(1, frames.count)),
            missedTickShare: missed / max(1, missed + ticks), medianDelayMilliseconds: delays.quantile(0.5),
            p95DelayMilliseconds: delays.quantile(0.95),
            megabytesEach: ProcessMemory.megabytes(of: relay.identifier) / Double(max(1, participants)))
    }
}

/// The delay that a relay added to all the frames that were shown to anybody, from its metrics.
struct DelayDistribution {
    /// The number of frames that took at most so many seconds, by that time.
    private var cumulative: [Double: Double] = [:]

    static func read(of room: URL) async throws -> Self {
        guard let url = URL(string: "/metrics", relativeTo: room) else { return Self() }
        let (data, _) = try await URLSession.shared.data(from: url)
        var distribution = Self()
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            guard line.hasPrefix("confrelay_stage_latency_seconds_bucket"), line.contains("stage=\"total\""),
                let bound = line.firstMatch(of: /le="([^"]+)"/),
                let value = line.split(separator: " ").last.flatMap({ Double($0) })
            else { continue }
            distribution.cumulative[Double(bound.1) ?? .infinity, default: 0] += value
        }
        return distribution
    }

    static func - (left: Self, right: Self) -> Self {
        Self(cumulative: left.cumulative.merging(right.cumulative) { $0 - $1 })
    }

    /// A quantile in milliseconds, as if a bucket's frames were spread evenly over it; nil if there are none.
    func quantile(_ share: Double) -> Double? {
        let buckets = cumulative.sorted { $0.key < $1.key }
        guard let count = buckets.last?.value, count > 0 else { return nil }
        var (lower, below) = (0.0, 0.0)
        for (bound, value) in buckets {
            if value >= count * share, bound.isFinite {
                return (lower + (bound - lower) * (count * share - below) / max(1, value - below)) * 1000
            }
            if bound.isFinite { (lower, below) = (bound, value) }
        }
        return lower * 1000
    }
}

/// The memory of a process.
enum ProcessMemory {
    static func megabytes(of process: Int32) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
        return kilobytes / 1000
    }
}
