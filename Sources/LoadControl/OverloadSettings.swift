/// The machine, as overload control knows it.
public struct OverloadSettings: Sendable {
    /// Threads that run jobs, and processors that they have: no more of either than of the other are of use.
    public var workers: Int

    public init(workers: Int) {
        self.workers = max(1, workers)
    }
}
