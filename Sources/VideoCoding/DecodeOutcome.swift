public import MediaCore

/// A picture out of a decoder, in the decoder's own memory.
public struct DecodedPicture: Sendable {
    /// The picture as shown (after cropping), I420.
    public var pixelBuffer: PixelBuffer
    /// The presentation time of the sample it came from.
    public var presentationTime: MediaTime
    /// Whether the decoder knows that parts of the picture are guessed: slices missing or damaged, or references
    /// missing. Pictures that refer to a concealed one are not marked.
    public var isConcealed: Bool

    public init(pixelBuffer: PixelBuffer, presentationTime: MediaTime, isConcealed: Bool) {
        self.pixelBuffer = pixelBuffer
        self.presentationTime = presentationTime
        self.isConcealed = isConcealed
    }
}

/// What became of one frame that was pushed into a decoder.
public enum DecodeOutcome: Sendable {
    case picture(DecodedPicture)
    /// The frame was taken and shows nothing.
    case dropped(DropReason)
    /// The frame could not be decoded.
    case failed(VideoCodingError)
}

/// Why a frame shows nothing.
public enum DropReason: Hashable, Sendable {
    /// Decoding has not begun: no key frame or recovery point came since the session was made or finished.
    case awaitingKeyFrame
    /// The frame holds no slice data.
    case empty
    /// The decoder made no picture of it: its slices were unusable, or it is the second field of a frame.
    ///
    /// Where `frame_num` wraps around during a loss, libavcodec may take the frames after it for older ones and show
    /// none until the next key frame: ask the sender for one.
    case noPicture
}
