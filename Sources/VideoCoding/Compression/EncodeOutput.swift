import DequeModule
public import MediaCore
import Synchronization

/// The one answer to a frame that a compression session took.
public struct EncodeOutput: Sendable {
    public var presentationTime: MediaTime
    /// The caller's token of the frame.
    public var token: FrameToken
    public var result: EncodeResult

    /// The frame; nil if there is none.
    public var frame: EncodedFrame? {
        if case .frame(let frame) = result { frame } else { nil }
    }
}

/// The outcome of a frame.
public enum EncodeResult: Sendable {
    case frame(EncodedFrame)
    /// The frame was dropped.
    case dropped(EncodeDropReason)
    /// The encoder failed on the frame; the session continues with the next.
    case failed(VideoCodingError)
}

/// The reason for a dropped frame.
public enum EncodeDropReason: String, CaseIterable, Sendable {
    /// The rate control saved it, or a data rate limit had no room for it.
    case rateControl
    /// The frame would have been larger than `maxFrameBytes` at every QP.
    case tooLarge
    /// The session was invalidated before it came out.
    case sessionEnded
}

/// Stores outputs, as an output handler for callers who prefer to fetch them.
///
///     let outputs = EncodeOutputQueue()
///     let session = try CompressionSession(dimensions: size, properties: properties, outputHandler: outputs.append)
///     try session.encode(picture, presentationTime: time)
///     let output = outputs.next()
public final class EncodeOutputQueue: Sendable {
    private let outputs = Mutex(Deque<EncodeOutput>())

    public init() {}

    public func append(_ output: EncodeOutput) {
        outputs.withLock { $0.append(output) }
    }

    /// The oldest output that has not been taken; nil when there is none.
    public func next() -> EncodeOutput? { outputs.withLock { $0.popFirst() } }
}
