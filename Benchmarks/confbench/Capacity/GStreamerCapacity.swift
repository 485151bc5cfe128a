import Foundation
import Glibc
import MediaCore
import SecureTransport

/// One conference by GStreamer, on loopback.
struct GStreamerCapacity {
    let way: CapacityWay
    let participants: Int
    let clips: [TestClip]
    let duration: Int

    /// The pipeline has to have its ports before the clips' keyframes come.
    private static let startUp = Duration.seconds(2)
    /// Decoders, compositor and encoders have to be made.
    private static let warmUp = Duration.seconds(6)

    /// Returns the result, without the floor, and the work that was done.
    func run() async throws -> (CapacityResult, WorkRate) {
        let receivers = way == .gstreamerShared ? 1 : participants
        var sink = try RTPSink(streams: receivers)
        let ports = try (0..<participants).map { _ in try UDPSocket.freePort() }
        var generator = SystemRandomNumberGenerator()
        let keys = SRTPKeyPair(
            inbound: SRTPKeyMaterial(profile: GStreamerPipeline.profile, using: &generator),
            outbound: SRTPKeyMaterial(profile: GStreamerPipeline.profile, using: &generator))
        let pipeline = try ChildProgram(
            path: "/usr/bin/env",
            arguments: ["gst-launch-1.0", "--quiet"]
                + GStreamerPipeline(inputs: ports, outputs: sink.ports, keys: keys).arguments)
        defer { pipeline.end() }
        try await Task.sleep(for: Self.startUp)
        let log = FrameLog()
        let load = try RTPLoad(clips: clips, ports: ports, keys: keys.inbound, log: log)
        let sending = Task.detached(priority: .high) { try await load.run() }
        defer { sending.cancel() }
        _ = try await Self.count(with: &sink, for: Self.warmUp)
        try pipeline.checkRunning()
        let clock = try ProcessClock(process: pipeline.identifier)
        let ownClock = try ProcessClock(process: getpid())
        let (start, cores, ownCores) = (SystemMediaClock.shared.now, try clock.now(), try ownClock.now())
        let counts = try await Self.count(with: &sink, for: .seconds(duration))
        try pipeline.checkRunning()
        let end = SystemMediaClock.shared.now
        let seconds = (end - start).seconds
        let rates = counts.map { Double($0) / seconds }
        var result = CapacityResult(
            way: way, participants: participants, cores: (try clock.now() - cores).seconds / seconds,
            clientCores: (try ownClock.now() - ownCores).seconds / seconds,
            leastFramesPerSecond: rates.min() ?? 0, framesPerSecond: rates.reduce(0, +) / Double(max(1, rates.count)),
            megabytesEach: ProcessMemory.megabytes(of: pipeline.identifier) / Double(participants))
        sending.cancel()
        pipeline.end()
        try sink.decrypt(keys: keys.outbound, into: log)
        result.add(
            try ViewerAnalysis(
                of: log, clips: clips, tileCount: way.tileCount(participants: participants), interval: start...end))
        return (result, work(encoders: receivers))
    }

    /// Takes what comes for so long, and returns the number of frames of each stream.
    private static func count(with sink: inout RTPSink, for duration: Duration) async throws -> [Int] {
        let start = ContinuousClock.now
        var counts = sink.ports.map { _ in 0 }
        while ContinuousClock.now - start < duration {
            try await Task.sleep(for: .milliseconds(50))
            counts = zip(counts, sink.take()).map(+)
        }
        return counts
    }

    /// The work if nothing is left out.
    private func work(encoders: Int) -> WorkRate {
        WorkRate(
            participants: participants, way: encoders == 1 ? .shared : .dedicated, hasSound: false)
    }
}
