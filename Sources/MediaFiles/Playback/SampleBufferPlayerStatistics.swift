/// Counters of a player's samples.
public struct SampleBufferPlayerStatistics: Hashable, Sendable {
    /// Samples taken.
    public var enqueued = 0
    /// Samples refused because too many waited.
    public var refused = 0
    /// Samples that no other depends on, and that were not decoded because they came too late to be shown.
    public var skipped = 0
    /// Pictures decoded.
    public var decoded = 0
    /// The number of shown pictures that are damaged.
    public var concealed = 0
    /// Samples that the decoder made no picture of.
    public var dropped = 0
    /// Samples that could not be decoded.
    public var failed = 0
    /// Pictures decoded on the way to the time that was asked for, and so not shown.
    public var prerolled = 0
    /// Pictures dropped because the next one was due as well.
    public var late = 0
    /// Pictures shown.
    public var shown = 0
    /// The largest delay of a picture after its time, by the timebase.
    public var largestLateness: Duration = .zero
    /// Samples that wait to be decoded now.
    public var waitingSamples = 0
    /// Decoded pictures that wait to be shown now.
    public var waitingPictures = 0
}
