public import MediaCore

/// The answer to one frame that was pushed into a decoder. Every frame has exactly one.
public struct DecodeOutput: Sendable {
    public var presentationTime: MediaTime
    /// The caller's token of the sample.
    public var token: FrameToken
    public var result: DecodeResult

    public var picture: DecodedPicture? {
        if case .picture(let picture) = result { picture } else { nil }
    }
}

/// A frame's picture, or why it has none.
public enum DecodeResult: Sendable {
    case picture(DecodedPicture)
    /// The frame was taken and shows nothing.
    case dropped(DropReason)
    /// The frame could not be decoded.
    case failed(VideoCodingError)
}

/// The reason for which a frame shows nothing.
public enum DropReason: Hashable, Sendable {
    /// Decoding has not begun: no keyframe or recovery point came since the session was made or finished, or none since
    /// frames were skipped to which this one may refer.
    case awaitingKeyframe
    /// The frame is not wanted: see `DecodingEffort.Frames`.
    case skipped
    /// The frame holds no slice data.
    case empty
    /// The sample is the second field of a frame, whose picture was given for the first.
    case secondField
    /// The decoder made no picture of the frame: its slices were unusable, or it came too late for its place in the
    /// order.
    ///
    /// If `frame_num` wraps around during a loss, libavcodec may take the frames after it for older ones and show none
    /// until the next keyframe: ask the sender for one.
    case noPicture
    /// The session was invalidated or released before the frame was decoded or shown.
    case sessionInvalidated
}
