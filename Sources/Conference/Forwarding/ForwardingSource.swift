import MediaCore
import NIOCore
import PeerConnection
import RTP

/// A source's format, rate and packets, for receivers that may be sent its packets.
struct ForwardingSource {
    private var ssrc: UInt32?
    private var sequences = SequenceUnwrapper()
    private var newest: (sequence: Int64, timestamp: UInt32, marker: Bool)?
    private var collector: KeyframeCollector?
    /// True if a receiver waits for a keyframe.
    var collectsKeyframes = false {
        didSet { if !collectsKeyframes { collector = nil } }
    }

    private var meter = RateMeter()
    private var peak = WindowedMaximum<BitRate>(over: .seconds(2))
    private var largestPayload = WindowedMaximum<Int>(over: .seconds(5))
    private(set) var format: VideoFormatDescription?
    private(set) var rotation = VideoRotation.none
    private(set) var lastFrame: MonotonicInstant?

    // MARK: Frames

    /// A whole frame has come.
    mutating func observe(_ frame: ReceivedVideoFrame, now: MonotonicInstant) {
        format = frame.sample.format
        rotation = frame.rotation
        lastFrame = now
        let size = DataSize(bytes: frame.sample.data.count)
        let packets = size.bytes / PeerConfiguration.maximumPayloadSize.bytes + 1
        meter.add(size + DataSize(bytes: packets * PeerConfiguration.packetOverhead.bytes), now: now)
        peak.add(meter.rate(now: now), now: now)
    }

    /// The stream has ended, for now at least.
    mutating func end() {
        lastFrame = nil
        collector = nil
    }

    /// The rate of the last second, headers included.
    mutating func rate(now: MonotonicInstant) -> BitRate { meter.rate(now: now) }

    /// The highest rate of the last seconds.
    mutating func peakRate(now: MonotonicInstant) -> BitRate { peak.value(now: now) ?? .zero }

    /// The size of the largest payload of late, where packets are looked at.
    mutating func largestPayload(now: MonotonicInstant) -> Int { largestPayload.value(now: now) ?? 0 }

    /// Parameter sets to send ahead of a keyframe that has none.
    var parameterSets: [ByteBuffer] { format?.parameterSets ?? [] }

    // MARK: Packets

    /// The place of a packet in its stream.
    enum Arrival {
        case next(ForwardedPacket)
        /// The sender has restarted: earlier packets do not belong to the same stream.
        case restart(ForwardedPacket)
    }

    mutating func take(_ received: ReceivedVideoPacket, now: MonotonicInstant) -> Arrival {
        let packet = received.packet
        let isRestart = isRestart(received)
        if isRestart {
            sequences = SequenceUnwrapper()
            newest = nil
            collector = nil
        }
        ssrc = packet.ssrc
        largestPayload.add(packet.payload.readableBytes, now: now)
        let sequence = sequences.unwrap(packet.sequenceNumber)
        let startsFrame =
            newest.map { $0.sequence + 1 == sequence && ($0.marker || $0.timestamp != packet.timestamp) } ?? false
        if sequence > newest?.sequence ?? .min { newest = (sequence, packet.timestamp, packet.marker) }
        let forwarded = ForwardedPacket(received, sequence: sequence, startsFrame: startsFrame)
        if collectsKeyframes { collect(forwarded, now: now) }
        return isRestart ? .restart(forwarded) : .next(forwarded)
    }

    /// A jump so far that the jitter buffer begins again, too, a step back with which it does, or another stream.
    private func isRestart(_ received: ReceivedVideoPacket) -> Bool {
        guard let ssrc, let newest else { return false }
        let step = sequences.peek(received.packet.sequenceNumber) - newest.sequence
        return ssrc != received.packet.ssrc || abs(step) > Self.farthestJump || (received.beginsAgain && step <= 0)
    }

    private static let farthestJump: Int64 = 2048

    private mutating func collect(_ packet: ForwardedPacket, now: MonotonicInstant) {
        if collector?.isGivenUp(now: now) ?? false { collector = nil }
        let isReplaced = collector?.isReplaced(by: packet) ?? true
        if isReplaced, let next = KeyframeCollector(packet, after: collector, now: now) {
            collector = next
        } else if collector?.takes(packet) ?? false {
            collector?.add(packet)
        }
    }

    /// The keyframe that has become whole, once.
    mutating func takeKeyframe() -> CollectedKeyframe? {
        guard let collector, collector.isWhole else { return nil }
        self.collector = nil
        return collector.collected()
    }
}
