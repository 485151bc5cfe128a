import Conference
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import SDP
import SecureTransport
import Testing

/// A camera and three receivers, one of which has a link that falls from 2 Mbit/s to 300 kbit/s, or stays as it is.
///
/// All times are relative to the fall.
struct RateFall: Sendable {
    static let rates = (before: BitRate.megabits(2), after: BitRate.kilobits(300))
    /// The time at which the link falls, and the time until which it is observed.
    private static let fall = Duration.seconds(6)
    private static let afterwards = Duration.milliseconds(2100)
    /// Packets that take longer than any did before the fall were held up by it.
    private static let heldUp = Duration.milliseconds(25)

    /// The time of the first report to the relay that followed a delayed packet.
    private(set) var told = Duration.seconds(9)
    /// The time at which the controller's target had fallen to less than half.
    private(set) var believed = Duration.seconds(9)
    /// The time at which a picture was first left out for the slow receiver alone.
    private(set) var layerDrops = Duration.seconds(9)
    /// The time at which the slow receiver was first sent a frame of its own group.
    private(set) var moved = Duration.seconds(9)
    /// The longest queue of the link, as a time at the new rate.
    private(set) var longestQueue = Duration.zero
    /// The queue at the time of that first report.
    private(set) var queueWhenTold = Duration.zero
    /// The times at which pictures reached the slow receiver, from shortly before the fall.
    private(set) var arrivals: [Duration] = []
    /// The rate of the slow receiver's encoder at the end.
    private(set) var groupRate = BitRate.zero
    private(set) var decodeFailures = 0
    /// All frames that the other receivers got, and their arrival times.
    private(set) var othersFrames: [[[UInt8]]] = []
    private(set) var othersTimes: [[MonotonicInstant]] = []

    var longestGap: Duration { zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.max() ?? .seconds(9) }

    /// The longest queue of the link, as a time at the old rate.
    var longestQueueAtRateBefore: Duration {
        Self.rates.before.duration(for: Self.rates.after.dataSize(over: longestQueue))
    }

    init(roundTrip: Duration, falls: Bool = true) throws {
        let call = VirtualCall {
            $0.canvas = VideoDimensions(width: 640, height: 360)
            $0.frameRate = 30
            $0.maximumEncoders = 2
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .megabits(1), maximum: Self.rates.before)
        }
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, audio: nil, dimensions: VideoDimensions(width: 320, height: 180),
            rateLimits: RateLimits(minimum: .megabits(3), start: .megabits(3), maximum: .megabits(4)))
        camera.pictures = Texture.coarsePictures
        camera.frameRate = 30
        let start = call.now
        // The link is a little faster than the rate, so that the whole rate is sent.
        let before = Self.rates.before * 1.15
        let steps = [
            LinkRate.Step(at: .zero, rate: before), LinkRate.Step(at: Self.fall, rate: Self.rates.after),
        ]
        let watchers = try (0..<3).map { index in
            let watcher = try call.join(
                "Watcher \(index)", video: .receiveOnly, audio: nil,
                downlink: LinkProfile(
                    rate: index == 1 && falls ? .steps(steps) : .fixed(before), delay: roundTrip / 2,
                    queue: .duration(.seconds(2))))
            watcher.uplink = LinkModel(
                profile: LinkProfile(rate: .unlimited, delay: roundTrip / 2), seed: UInt64(index), start: call.now)
            watcher.recordsFrames = true
            return watcher
        }
        let (fallen, fall) = (watchers[1], start + Self.fall)
        call.run(for: Self.fall)
        var report: MonotonicInstant?
        call.drops = { _, isDownlink, client in
            let isHeldUp = fallen.queueing.last.map { $0.time > fall && $0.delay > Self.heldUp } ?? false
            if !isDownlink, client === fallen, isHeldUp, report == nil { report = call.now }
            return false
        }
        let earlier = try Self.state(fallen, call)
        while call.now - fall < Self.afterwards {
            call.run(for: .milliseconds(5))
            let state = try Self.state(fallen, call)
            let (time, queue) = (call.now - fall, fallen.downlink.queueDelay(now: call.now))
            longestQueue = max(longestQueue, queue)
            if let report, told > time, call.now >= report + roundTrip / 2 {
                (told, queueWhenTold) = (report + roundTrip / 2 - fall, queue)
            }
            if state.targetBitRate < earlier.targetBitRate / 2 { believed = min(believed, time) }
            if state.framesLayerDropped + state.framesDropped > earlier.framesLayerDropped + earlier.framesDropped {
                layerDrops = min(layerDrops, time)
            }
            if state.groupChanges > earlier.groupChanges { moved = min(moved, time) }
        }
        groupRate = BitRate(bitsPerSecond: Double(try Self.state(fallen, call).groupBitRate))
        arrivals = fallen.arrivals.map { $0 - fall }.filter { $0 > .milliseconds(-50) }
        decodeFailures = watchers.reduce(0) { $0 + $1.decodeFailures }
        othersFrames = [watchers[0].frames, watchers[2].frames]
        othersTimes = [watchers[0].arrivals, watchers[2].arrivals]
    }

    private static func state(_ client: TestClient, _ call: VirtualCall) throws -> DownlinkSnapshot {
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        return try #require(room.participants.first { $0.id == client.participantID }?.downlink)
    }
}
