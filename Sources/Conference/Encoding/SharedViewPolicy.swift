import MediaCore

/// Whether those on the canvas see a picture of their own, without themselves, or all the same: pictures of one's own
/// while there is an encoder for each.
struct SharedViewPolicy: Sendable {
    /// There must have been encoders enough for so long before the views become personal again.
    private static let patience = Duration.seconds(10)

    private(set) var isShared = false
    private var enoughSince: MonotonicInstant?

    /// - Parameters:
    ///   - pictures: How many different ones personal views make.
    ///   - budget: How many encoders there are; nil for as many as one likes.
    /// - Returns: Whether it has changed.
    mutating func update(pictures: Int, budget: Int?, now: MonotonicInstant) -> Bool {
        let before = isShared
        if let budget, pictures > budget {
            isShared = true
            enoughSince = nil
        } else if isShared {
            let since = enoughSince ?? now
            enoughSince = since
            if now - since >= Self.patience { isShared = false }
        }
        return isShared != before
    }
}
