import MediaCore

/// Decides which failures of a receiver the log tells of. One that fails now and then, such as a server that takes only
/// so many requests a second, would fill it with two lines for each.
struct OutageNotes {
    /// The shortest time from one outage that is told to the next.
    static let interval = Duration.seconds(60)

    private var isTold = false
    private var next = MonotonicInstant.zero

    /// Something has failed. Returns true if the log is to say so: an outage that is not told at its beginning is told
    /// later, if it lasts.
    mutating func failed(now: MonotonicInstant) -> Bool {
        guard !isTold, now >= next else { return false }
        isTold = true
        next = now + Self.interval
        return true
    }

    /// Something has succeeded. Returns true if the log is to say that an outage is over.
    mutating func succeeded() -> Bool {
        defer { isTold = false }
        return isTold
    }
}
