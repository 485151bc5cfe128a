public import MediaCore

/// What pictures are composed from at one moment.
public struct CompositionInputs: Sendable {
    /// What the sources show. A layer of a source that is not among them stays background.
    public var sources: [SourceID: CompositionSource]
    /// The time of day for clocks, in seconds since 1970 (Unix time); nil where nobody wants to know.
    public var wallClock: Int64?

    public init(sources: [SourceID: CompositionSource], wallClock: Int64? = nil) {
        self.sources = sources
        self.wallClock = wallClock
    }
}
