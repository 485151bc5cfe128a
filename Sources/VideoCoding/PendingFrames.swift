import MediaCore

/// The frames that a decoder holds, so that each one pushed is answered exactly once.
struct PendingFrames {
    /// A frame that has not been answered.
    struct Entry {
        var serial: Int64
        var presentationTime: MediaTime
    }

    private var entries: [Entry] = []
    private var nextSerial: Int64 = 0

    /// Takes a frame in and numbers it.
    mutating func push(presentationTime: MediaTime) -> Int64 {
        defer { nextSerial &+= 1 }
        entries.append(Entry(serial: nextSerial, presentationTime: presentationTime))
        return nextSerial
    }

    /// Takes out the frame `serial`; nil when it has been answered already.
    mutating func take(_ serial: Int64) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.serial == serial }) else { return nil }
        return entries.remove(at: index)
    }

    /// Gives up all but the `count` newest frames, and says how many that were.
    mutating func dropAll(butNewest count: Int) -> Int {
        let surplus = max(0, entries.count - count)
        entries.removeFirst(surplus)
        return surplus
    }
}
