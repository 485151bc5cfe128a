public import CongestionControl
public import H264
public import MediaCore
public import NIOCore
public import RTP
public import SDP

/// Events of a `PeerConnection` for its owner.
public enum PeerEvent: Sendable {
    /// A whole compressed frame, in decoding order.
    case videoFrame(ReceivedVideoFrame)
    /// A packet of a video stream, before its frame, if the owner asked for packets.
    case videoPacket(ReceivedVideoPacket)
    /// An Opus packet, in the order of arrival.
    case audioPacket(ReceivedAudioPacket)
    /// The remote side cannot decode a video stream of ours until it gets a keyframe. Repeats of one request are
    /// coalesced.
    case keyframeRequested(NegotiatedMedia.Content)
    /// A picture was lost, and the remote side also continues with a picture that refers only to acknowledged ones.
    case pictureLost(NegotiatedMedia.Content)
    /// The remote side has the picture of this capture time completely, with all before it since the last one at which
    /// decoding could begin.
    case pictureAcknowledged(NegotiatedMedia.Content, captureTime: MonotonicInstant)
    /// A video stream of the remote side has ended, for now at least: its sender said so (RTCP BYE), or the session no
    /// longer has it, or has another in its place.
    case videoEnded(NegotiatedMedia.Content)
    /// The rate of the video encoders together, from now on.
    case videoBitRateChanged(VideoBitRate)
    /// The rate of the audio encoder, from now on.
    case audioBitRateChanged(BitRate)
    /// The state of the path to the remote side has changed.
    case connectionStateChanged(ConnectionState)
    /// The remote side has left.
    case goodbye
}

/// A compressed frame and when it came.
public struct ReceivedVideoFrame: Sendable {
    public var sample: SampleBuffer
    /// The arrival of the frame's first packet.
    public var firstArrival: MonotonicInstant
    /// The arrival of its last packet.
    public var lastArrival: MonotonicInstant
    /// The content of its stream.
    public var content = NegotiatedMedia.Content.main
    /// The rotation that makes the picture upright.
    public var rotation = VideoRotation.none
    /// True if the frame must be decoded but not shown: part of its picture comes from before a loss.
    public var isRecovering = false
    /// True if something is missing between this frame and the one before.
    public var followsLoss = false
    /// The pictures and slices that a decoder has to decode of it.
    public var codedPictures = CodedPictureCount()
    /// The time of capture on the sender's wall clock; nil before the first sender report.
    public var senderTime: NTPTime?

    package init(
        sample: SampleBuffer, firstArrival: MonotonicInstant, lastArrival: MonotonicInstant,
        content: NegotiatedMedia.Content = .main, rotation: VideoRotation = .none, isRecovering: Bool = false,
        followsLoss: Bool = false, codedPictures: CodedPictureCount = CodedPictureCount(), senderTime: NTPTime? = nil
    ) {
        self.sample = sample
        self.firstArrival = firstArrival
        self.lastArrival = lastArrival
        self.content = content
        self.rotation = rotation
        self.isRecovering = isRecovering
        self.followsLoss = followsLoss
        self.codedPictures = codedPictures
        self.senderTime = senderTime
    }
}

/// An Opus packet and when it came.
public struct ReceivedAudioPacket: Sendable {
    public var payload: ByteBuffer
    /// RTP timestamp at 48 kHz.
    public var rtpTimestamp: UInt32
    /// The unwrapped sequence number.
    public var sequence: Int64
    /// The level in its header extension (RFC 6464); for a repeated payload, that of the repeating packet.
    public var level: AudioLevel?
    public var arrival: MonotonicInstant
    /// The content of its stream.
    public var content = NegotiatedMedia.Content.main
    /// The time of capture on the sender's wall clock; nil before the first sender report.
    public var senderTime: NTPTime?

    public init(
        payload: ByteBuffer, rtpTimestamp: UInt32, sequence: Int64, level: AudioLevel?, arrival: MonotonicInstant,
        content: NegotiatedMedia.Content = .main, senderTime: NTPTime? = nil
    ) {
        self.payload = payload
        self.rtpTimestamp = rtpTimestamp
        self.sequence = sequence
        self.level = level
        self.arrival = arrival
        self.content = content
        self.senderTime = senderTime
    }
}
