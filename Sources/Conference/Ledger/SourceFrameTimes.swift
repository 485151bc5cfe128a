import Compositing
import MediaCore

/// When a source's frame passed the stages up to its picture.
struct SourceFrameTimes: Sendable {
    var source: SourceID
    /// Tells the source's pictures apart.
    var number: UInt64
    /// When its last packet came.
    var received: MonotonicInstant
    /// When it left the jitter buffer.
    var assembled: MonotonicInstant
    var decodeStarted: MonotonicInstant
    /// When its picture, and that of all frames that were decoded with it, was there.
    var decoded: MonotonicInstant
}
