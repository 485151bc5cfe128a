/// The time at which the output of a frame happens.
public enum DecodeMode: Hashable, Sendable {
    /// Before the call returns, except for frames that the stream's reordering holds back.
    case synchronous
    /// Later, on the session's own queue. The call returns once the frame is handed over.
    case asynchronous
}
