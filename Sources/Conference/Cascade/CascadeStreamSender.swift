import H264
import MediaCore
import NIOCore
import PeerConnection
import RTP
import SDP

/// One of our sources on a link: whether it is announced, and whether its packets cross.
struct CascadeStreamSender {
    let stream: CascadeState.Stream
    /// The message that announced it first; nil: none yet.
    var announced: UInt64?
    /// True once the other side knows it.
    var isReady = false
    /// True while its packets cross; a picture begins with a keyframe.
    private(set) var isSending = false
    /// The time until which it is held back, because the link carries too little.
    private(set) var heldUntil: MonotonicInstant?
    private var lastRequest: MonotonicInstant?
    private var meter = RateMeter()

    private static let requestInterval = Duration.seconds(1)
    private static let holdTime = Duration.seconds(3)

    init(stream: CascadeState.Stream) { self.stream = stream }

    var content: NegotiatedMedia.Content { .relayed(stream.line) }

    /// Returns true if its sender has to be asked for a keyframe now.
    mutating func takeKeyframeRequest(now: MonotonicInstant) -> Bool {
        guard isReady, !isSending, heldUntil.map({ now >= $0 }) ?? true,
            lastRequest.map({ now - $0 >= Self.requestInterval }) ?? true
        else { return false }
        lastRequest = now
        return true
    }

    /// Counts a packet that crosses.
    mutating func meter(_ packet: ForwardedPacket, now: MonotonicInstant) {
        meter.add(DataSize(bytes: packet.packet.payload.readableBytes) + PeerConfiguration.packetOverhead, now: now)
    }

    /// The rate at which its packets have come within the last second while they cross.
    mutating func rate(now: MonotonicInstant) -> BitRate { meter.rate(now: now) }

    /// Holds the source back for a time.
    mutating func hold(now: MonotonicInstant) {
        isSending = false
        heldUntil = now + Self.holdTime
    }

    /// Returns true if the source's packets begin to cross with this one.
    mutating func begins(with packet: ForwardedPacket, now: MonotonicInstant) -> Bool {
        guard isReady, !isSending, heldUntil.map({ now >= $0 }) ?? true, packet.startsFrame,
            packet.peek.isIDR || packet.peek.hasParameterSets
        else { return false }
        isSending = true
        heldUntil = nil
        return true
    }
}
