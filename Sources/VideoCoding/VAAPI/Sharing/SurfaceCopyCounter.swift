import Synchronization

/// Counts the pictures that were left on a device and copied into memory after all, as somebody looked at them.
public final class SurfaceCopyCounter: Sendable {
    private let copies = Atomic<UInt64>(0)

    public init() {}

    public var count: UInt64 { copies.load(ordering: .relaxed) }

    func add() { copies.add(1, ordering: .relaxed) }
}
