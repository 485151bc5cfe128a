public import CongestionControl
public import H264
public import MediaCore
public import NIOCore
public import SDP
public import SecureTransport

/// Events of a `PeerConnection` for its owner.
public enum PeerEvent: Sendable {
    /// A whole compressed frame, in decoding order.
    case videoFrame(ReceivedVideoFrame)
    /// A packet of a video stream, as it came and ahead of its frame, where the owner taps the stream.
    case videoPacket(ReceivedVideoPacket)
    /// An Opus packet, in the order of arrival.
    case audioPacket(ReceivedAudioPacket)
    /// The remote side cannot decode a video stream of ours until it gets a keyframe. Repeats of one request are
    /// coalesced.
    case keyframeRequested(NegotiatedMedia.Content)
    /// The same, where the remote side also goes on with a picture that refers to nothing but what it has acknowledged.
    case pictureLost(NegotiatedMedia.Content)
    /// The remote side has the picture whole that was taken at this time, and what came before it since the last with
    /// which it could begin.
    case pictureAcknowledged(NegotiatedMedia.Content, captureTime: MonotonicInstant)
    /// A video stream of the remote side has ended, for now at least: its sender said so (RTCP BYE), or the session no
    /// longer has it.
    case videoEnded(NegotiatedMedia.Content)
    /// The rate of the video encoders together, from now on.
    case videoBitRateChanged(VideoBitRate)
    /// The rate of the audio encoder, from now on.
    case audioBitRateChanged(BitRate)
    /// How the path to the remote side is now.
    case connectionStateChanged(ConnectionState)
    /// The remote side has left.
    case goodbye
}

/// A compressed frame and when it came.
public struct ReceivedVideoFrame: Sendable {
    public var sample: SampleBuffer
    /// When the frame's first packet came.
    public var firstArrival: MonotonicInstant
    /// When the last of its packets came.
    public var lastArrival: MonotonicInstant
    /// What it shows.
    public var content = NegotiatedMedia.Content.main
    /// How it is to be turned to stand upright.
    public var rotation = VideoRotation.none
    /// Whether it is to be decoded and not to be shown: what it shows comes in part from before a loss.
    public var isRecovering = false
    /// The pictures and slices that a decoder has to decode of it.
    public var codedPictures = CodedPictureCount()
}

/// An Opus packet and when it came.
public struct ReceivedAudioPacket: Sendable {
    public var payload: ByteBuffer
    /// RTP timestamp at 48 kHz.
    public var rtpTimestamp: UInt32
    /// The unwrapped sequence number.
    public var sequence: Int64
    /// How loud it is, as its header extension (RFC 6464) says; that of the packet that it was taken from, where it was
    /// repeated.
    public var level: AudioLevel?
    public var arrival: MonotonicInstant
}
