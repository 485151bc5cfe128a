import Synchronization

/// Says from any thread that pictures being composed are not wanted any more.
///
/// Compositors look at it between two layers. What was not done yet is answered with the last good picture.
public final class CompositionCancellation: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Cancels, once and for all.
    public func cancel() { flag.store(true, ordering: .relaxed) }
}
