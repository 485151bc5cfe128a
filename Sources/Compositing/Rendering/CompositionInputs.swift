public import MediaCore

/// The inputs of composing at one moment.
public struct CompositionInputs: Sendable {
    /// The contents of the sources. A layer whose source is missing here shows the background.
    public var sources: [SourceID: CompositionSource]
    /// The time of day for clocks, in seconds since 1970 (Unix time); nil if nobody wants to know.
    public var wallClock: Int64?

    public init(sources: [SourceID: CompositionSource], wallClock: Int64? = nil) {
        self.sources = sources
        self.wallClock = wallClock
    }
}
