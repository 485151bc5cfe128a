import Synchronization

/// Cancels composing from any thread.
///
/// Compositors check it between two layers. Unfinished requests are answered with the last good picture.
public final class CompositionCancellation: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Cancels for good.
    public func cancel() { flag.store(true, ordering: .relaxed) }
}
