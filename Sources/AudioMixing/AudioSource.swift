public import MediaCore
import NIOCore

/// One participant's audio: takes packets in any order and gives a frame of 20 ms at each tick.
///
/// Samples wait as long as the recent jitter demands. A packet that is missing at its time is recovered from the next
/// one's in-band FEC or concealed; if nothing comes, the audio fades out within a tenth of a second. A source belongs
/// to one caller at a time. All internal times are in samples at 48 kHz.
public final class AudioSource {
    /// The largest number of waiting packets: 640 ms of the shortest ones.
    static let packetCapacity = 256
    /// The largest payload of an Opus packet in a call: 120 ms at 510 kbit/s.
    static let maximumPayloadSize = 7680
    /// A stream whose timestamps differ from its arrivals by this much has been restarted.
    static let discontinuity: Int64 = 48_000
    /// Two unexpected packets whose timestamps agree within this are a restarted stream.
    static let restartAgreement: Int64 = 9600
    /// After a longer pause, 10 s, earlier arrivals say nothing of when packets come: the clocks have drifted apart.
    static let longestPause: Int64 = 480_000
    /// Until this many packets have come, the jitter is unknown and the delay is `startDelay`.
    static let startPacketCount = 50
    static let startDelay: Int64 = 1920

    public let id: ParticipantID
    /// The frame that the last `pull(now:)` made: 960 samples for the mix.
    public private(set) var frame = [Float](repeating: 0, count: AudioFormat.frameSampleCount)
    /// The level of the received audio, whether it is mixed or not.
    public private(set) var level = AudioLevel.silence
    /// True if the frame is part of the mix.
    public private(set) var isInMix = false
    /// True if the participant has no audio any more: its last frame fades out.
    var isLeaving = false

    let decoder: OpusDecoder
    var counts = AudioSourceStatistics()
    var packets = PacketQueue(capacity: AudioSource.packetCapacity)
    // Space for the rest of a frame, two of the longest packets and inserted pieces.
    var queue = SampleQueue(capacity: 16_384)
    var estimator = PlayoutDelayEstimator(range: 960...9600)
    /// The packets of which the estimator knows the transit, since it began or began anew.
    private var packetsMeasured = 0
    /// True while samples are played; otherwise the source waits for packets.
    var isPlaying = false
    /// True if all of the frame was played. The first frame begins with the rest of the wait.
    private(set) var isFrameWhole = false
    /// The timestamp after the last sample that was decoded or concealed.
    var cursor: Int64?
    /// The sequence number of the last packet decoded.
    var lastSequence: Int64?
    /// Samples concealed since the last packet was decoded.
    var concealedRun = 0
    /// Samples concealed at the cursor, without it moving.
    var concealedAhead: Int64 = 0
    /// True if the last packet announced silence (DTX).
    var isDiscontinuous = false
    /// The timestamp after the last packet decoded.
    var decodedEnd: Int64?
    /// Limits decoding by elapsed time. A packet's cost does not depend on its new part, so a sender could have the
    /// same time decoded again and again: a packet, its in-band FEC and concealment each cost the samples that libopus
    /// makes, at 48 kHz.
    var decoding = TokenBucket(rate: decodingRate * 48_000, capacity: decodingBurst)
    /// Decoded samples per sample of elapsed time. An honest stream needs one; shortening the delay adds a sixth, and
    /// the in-band FEC of a packet may be decoded whole for a part of it.
    static let decodingRate = 2.0
    /// Samples that may be decoded at once, 480 ms: the longest jitter buffer and two of the longest packets.
    static let decodingBurst = 23_040.0
    var levelClaims = LevelClaimCheck()
    var scaling = ScalingState()
    private var meter = LevelMeter()
    private var gate = MixGate()
    /// The data from which the heard sources are chosen.
    var voice = VoiceSelection.Voice()
    /// The newest timestamp accepted, unwrapped.
    private var referenceTimestamp: Int64?
    private var lastArrival: Int64?
    /// A packet that does not belong to the stream, until another one confirms the restart.
    private var stray: (packet: PacketQueue.Packet, arrival: Int64)?

    /// - Throws: `OpusError.library` when libopus has no memory.
    public init(id: ParticipantID) throws(OpusError) {
        self.id = id
        decoder = try OpusDecoder()
    }

    public var statistics: AudioSourceStatistics {
        var statistics = counts
        statistics.targetDelay = Self.duration(targetDelay)
        statistics.playoutDelay = playoutDelay
        return statistics
    }

    /// The gain of the newest sample in the mix.
    public var mixGain: Float { gate.gain }

    /// The wait of the last played sample, counted from the arrival of the fastest recent packet.
    public private(set) var playoutDelay = Duration.zero
    /// The RTP timestamp of the frame's first sample; nil where it is no sample of the sender's.
    private(set) var timestamp: UInt32?

    /// Takes a packet. Packets may come in any order.
    public func insert(_ packet: AudioPacket) {
        counts.packetsReceived += 1
        guard packet.payload.readableBytes <= Self.maximumPayloadSize,
            let sampleCount = OpusDecoder.sampleCount(of: packet.payload)
        else {
            counts.malformed += 1
            return
        }
        let arrival = packet.arrival.audioSamples
        if let lastArrival, arrival - lastArrival > Self.longestPause { restart() }
        lastArrival = arrival
        let timestamp = unwrap(packet.rtpTimestamp)
        let entry = PacketQueue.Packet(
            payload: packet.payload, sequence: packet.sequence, timestamp: timestamp, sampleCount: sampleCount,
            claimedLevel: packet.claimedLevel)
        guard belongsToStream(entry, arrival: arrival) else {
            insertStray(entry, rtpTimestamp: packet.rtpTimestamp, arrival: arrival)
            return
        }
        accept(entry, arrival: arrival)
    }

    /// Makes the next 20 ms in `frame`. Then `finish` fades it in or out.
    public func pull(now: MonotonicInstant) {
        let time = now.audioSamples
        decoding.refill(now: .zero + .seconds(clamping: Double(time) / 48_000))
        isFrameWhole = isPlaying
        if !isPlaying { start(time) }
        if isPlaying {
            skipExcess(time)
            fill(time)
            scale(time)
        }
        timestamp = nil
        if isPlaying, concealedRun == 0, let cursor, let delay = delay(time) {
            playoutDelay = Self.duration(delay)
            timestamp = UInt32(truncatingIfNeeded: cursor - Int64(queue.count))
        }
        let hadSamples = queue.count > 0
        queue.read(into: &frame)
        level = hadSamples ? meter.measure(frame) : meter.skip()
        voice.observe(level, isAudible: gate.isAudible(at: level) && !isLeaving)
    }

    /// Applies the gate to `frame`, after `voice` has been decided.
    func finish() {
        isInMix = gate.process(&frame, isOpen: voice.framesInMix != nil)
    }

    /// The delay that is aimed at.
    var targetDelay: Int64 {
        packetsMeasured < Self.startPacketCount ? max(estimator.target, Self.startDelay) : estimator.target
    }

    /// The wait of the queue's first sample if it is played at `time`.
    func delay(_ time: Int64) -> Int64? {
        guard let base = estimator.base, let cursor else { return nil }
        return time - base - (cursor - Int64(queue.count))
    }

    private static func duration(_ samples: Int64) -> Duration {
        .microseconds(samples * 1_000 / 48)
    }

    // MARK: - Arrivals

    private func unwrap(_ timestamp: UInt32) -> Int64 {
        guard let reference = referenceTimestamp else { return Int64(timestamp) }
        return reference + Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: reference)))
    }

    /// Returns true if the packet's time is near that of the packets before.
    private func belongsToStream(_ packet: PacketQueue.Packet, arrival: Int64) -> Bool {
        guard let base = estimator.base else { return true }
        guard abs(arrival - packet.timestamp - base) <= Self.discontinuity else { return false }
        guard let lastSequence, let cursor else { return true }
        // A sender whose number is lower but whose time is later restarted its numbers, and one whose number is higher
        // but whose time is over set its clock back.
        return packet.sequence > lastSequence
            ? packet.end > cursor - Self.startDelay : packet.timestamp < cursor + Self.startDelay
    }

    private func accept(_ packet: PacketQueue.Packet, arrival: Int64) {
        guard !packets.recordArrival(of: packet.sequence) else {
            counts.duplicates += 1
            return
        }
        referenceTimestamp = max(referenceTimestamp ?? packet.timestamp, packet.timestamp)
        // A late packet is evidence of jitter too.
        estimator.record(transit: arrival - packet.timestamp, timestamp: packet.timestamp)
        packetsMeasured += 1
        if let cursor, packet.end <= cursor || packet.sequence <= (lastSequence ?? .min) {
            counts.late += 1
            return
        }
        switch packets.insert(packet) {
        case .inserted: break
        case .duplicate: counts.duplicates += 1
        case .insertedDroppingOldest: counts.discarded += 1
        }
    }

    /// Keeps a packet that does not belong to the stream until the next one shows whether the stream was restarted.
    private func insertStray(_ packet: PacketQueue.Packet, rtpTimestamp: UInt32, arrival: Int64) {
        guard let (first, firstArrival) = stray else {
            stray = (packet, arrival)
            return
        }
        let distance = packet.sequence &- first.sequence
        let difference = (arrival - packet.timestamp) - (firstArrival - first.timestamp)
        guard distance > 0, distance <= 16, abs(difference) <= Self.restartAgreement else {
            counts.discarded += 1
            stray = (packet, arrival)
            return
        }
        counts.restarts += 1
        counts.discarded += packets.count
        stray = nil
        restart()
        // The new stream's timestamps begin at the sender's value, so that jumps never add up.
        let offset = Int64(rtpTimestamp) - packet.timestamp
        for (var packet, arrival) in [(first, firstArrival), (packet, arrival)] {
            packet.timestamp += offset
            accept(packet, arrival: arrival)
        }
    }

    private func restart() {
        if isPlaying { endQueue() }
        packets.removeAll()
        estimator.reset()
        packetsMeasured = 0
        decoder.reset()
        levelClaims.restart()
        referenceTimestamp = nil
        cursor = nil
        decodedEnd = nil
        lastSequence = nil
        concealedAhead = 0
        isPlaying = false
    }
}

extension MonotonicInstant {
    /// The instant in samples at 48 kHz.
    var audioSamples: Int64 {
        let (milliseconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return milliseconds * 48 + rest * 48 / 1_000_000
    }
}
