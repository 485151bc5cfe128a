package import MediaCore

/// Decides whether participants see a picture without themselves, or all the same one: pictures of their own while
/// there is an encoder for each.
package struct SharedViewPolicy: Sendable {
    /// There must have been encoders enough for this time before the views become personal again.
    private static let patience = Duration.seconds(10)

    package private(set) var isShared = false
    /// True if all see the same because there is no time for more pictures.
    package private(set) var isForced = false
    private var enoughSince: MonotonicInstant?

    package init() {}

    /// - Parameters:
    ///   - pictures: The number of different personal pictures.
    ///   - budget: The number of encoders; nil for no limit.
    ///   - isForced: True if there is no time for more than one.
    /// - Returns: True if the choice has changed.
    package mutating func update(pictures: Int, budget: Int?, isForced: Bool, now: MonotonicInstant) -> Bool {
        let before = (isShared, self.isForced)
        self.isForced = isForced
        if isForced || budget.map({ pictures > $0 }) ?? false {
            isShared = true
            enoughSince = nil
        } else if isShared {
            let since = enoughSince ?? now
            enoughSince = since
            if now - since >= Self.patience { isShared = false }
        }
        return (isShared, isForced) != before
    }
}
