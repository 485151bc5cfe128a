import MediaCore

/// An encoder as its room sees it at a tick.
struct EncoderReading {
    var targetBitRate = BitRate.zero
    var dimensions = VideoDimensions(width: 0, height: 0)
    /// Pictures a second that are encoded at most.
    var maximumFrameRate = 0
    var framesEncoded: UInt64 = 0
    /// Pictures left out: the encoder was busy, or the network is behind.
    var framesLeftOut: UInt64 = 0
    var keyframes: UInt64 = 0
}

/// One encoder's last minute.
final class EncoderTimeline {
    struct Bucket: Sendable {
        var readings: UInt16 = 0
        /// The last reported target, in kilobits per second.
        var targetBitRate: UInt32 = 0
        var encoded: UInt16 = 0
        var leftOut: UInt16 = 0
        var keyframes: UInt16 = 0
        var keyframeRequests: UInt16 = 0
        /// Ticks at which data for a member waited for its network.
        var waiting: UInt16 = 0
    }

    /// A receiver of the encoder's frames.
    struct Member: Sendable {
        let participant: ParticipantID
        let publicID: String
        let name: String
        private(set) var lastSeen: MonotonicInstant
        private var keyframeRequests = CounterReading()
        private var layerDrops = CounterReading()
        /// Frames left out for this receiver alone, by second.
        private(set) var layerDroppedFrames = TimelineRing(empty: UInt16(0), count: 60)

        init(
            _ participant: ParticipantID, publicID: String, name: String, requests: UInt64, layerDrops: UInt64,
            now: MonotonicInstant
        ) {
            self.participant = participant
            self.publicID = publicID
            self.name = name
            lastSeen = now
            _ = keyframeRequests.advance(to: requests)
            _ = self.layerDrops.advance(to: layerDrops)
        }

        /// Returns the number of keyframe requests since the tick before; requests to other encoders do not count.
        fileprivate mutating func observe(
            requests: UInt64, layerDrops: UInt64, wasHere: Bool, now: MonotonicInstant
        ) -> UInt64 {
            lastSeen = now
            let leftOut = self.layerDrops.advance(to: layerDrops)
            if wasHere, leftOut > 0 { layerDroppedFrames.update(now.milliseconds / 1000) { $0.count(leftOut) } }
            let growth = keyframeRequests.advance(to: requests)
            return wasHere ? growth : 0
        }
    }

    /// A keyframe that a member asked for.
    struct KeyframeRequest: Sendable {
        var time: MonotonicInstant
        var name: String
    }

    /// A number of receivers that no encoder exceeds.
    private static let maximumMembers = 256

    let id: JobQueueID
    private(set) var members: [Member] = []
    private(set) var dimensions = VideoDimensions(width: 0, height: 0)
    private(set) var maximumFrameRate = 0
    private(set) var ring = TimelineRing(empty: Bucket())
    private(set) var keyframeRequests = RecentList<KeyframeRequest>(capacity: 128)
    private(set) var lastSeen: MonotonicInstant

    private var encoded = CounterReading()
    private var leftOut = CounterReading()
    private var keyframes = CounterReading()

    init(id: JobQueueID, now: MonotonicInstant) {
        self.id = id
        lastSeen = now
    }

    /// The encoder's last receivers.
    var currentMembers: [Member] {
        let newest = members.map(\.lastSeen).max()
        return members.filter { $0.lastSeen == newest }
    }

    /// Takes the counters of a receiver of the encoder, before `observe(_:now:)` of the same tick.
    ///
    /// - Parameters:
    ///   - requests: The number of its keyframe requests since it joined.
    ///   - layerDrops: The number of frames that were dropped for it alone.
    func observe(
        _ participant: ParticipantID, requests: UInt64, layerDrops: UInt64 = 0, isWaitingForNetwork: Bool,
        now: MonotonicInstant,
        describe: () -> (publicID: String, name: String)
    ) {
        let growth: UInt64
        let name: String
        if let index = members.firstIndex(where: { $0.participant == participant }) {
            growth = members[index].observe(
                requests: requests, layerDrops: layerDrops, wasHere: members[index].lastSeen == lastSeen, now: now)
            name = members[index].name
        } else {
            members.removeAll { now - $0.lastSeen > TimelineScale.length }
            guard members.count < Self.maximumMembers else { return }
            let (publicID, description) = describe()
            members.append(
                Member(
                    participant, publicID: publicID, name: description, requests: requests, layerDrops: layerDrops,
                    now: now))
            (growth, name) = (0, description)
        }
        guard growth > 0 || isWaitingForNetwork else { return }
        if growth > 0 { keyframeRequests.append(KeyframeRequest(time: now, name: name)) }
        ring.update(TimelineScale.bucket(at: now)) { bucket in
            bucket.keyframeRequests.count(growth)
            if isWaitingForNetwork { bucket.waiting.count(1) }
        }
    }

    func observe(_ reading: EncoderReading, now: MonotonicInstant) {
        lastSeen = now
        dimensions = reading.dimensions
        maximumFrameRate = reading.maximumFrameRate
        let growth = (
            encoded: encoded.advance(to: reading.framesEncoded), leftOut: leftOut.advance(to: reading.framesLeftOut),
            keyframes: keyframes.advance(to: reading.keyframes)
        )
        ring.update(TimelineScale.bucket(at: now)) { bucket in
            bucket.readings.count(1)
            bucket.targetBitRate = UInt32(clamping: reading.targetBitRate.bitsPerSecond / 1000)
            bucket.encoded.count(growth.encoded)
            bucket.leftOut.count(growth.leftOut)
            bucket.keyframes.count(growth.keyframes)
        }
    }
}
