public import MediaCore

/// Composes canvases from the newest picture of each source. Belongs to one caller at a time.
public final class GridCompositor {
    /// What the compositor has done since it was made.
    public struct Statistics: Hashable, Sendable {
        /// Canvases composed anew.
        public var compositions = 0
        /// Canvases asked for again with nothing changed, and handed out again.
        public var reuses = 0
        /// Pictures scaled.
        public var scales = 0
        /// Tiles copied: finished tiles from another canvas, and pictures that had the right size already.
        public var copies = 0
        /// Placeholders laid out and drawn.
        public var placeholdersRendered = 0
        /// Pictures allocated, the pools' and the placeholders'. Stands still in steady state.
        public var pictureAllocations = 0

        public init() {}
    }

    public private(set) var statistics = Statistics()

    public init() {}

    /// Composes a canvas (I420) for each request, in their order.
    ///
    /// Each source is scaled once per distinct tile size; other canvases copy the finished tile. A request that is the
    /// same as in the call before, with the same pictures, gets the same picture again.
    public func compose(
        _ requests: [CompositionRequest], sources: [ParticipantID: CompositionSource]
    ) -> [PixelBuffer] {
        []
    }
}
