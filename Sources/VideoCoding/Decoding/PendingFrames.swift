import MediaCore

/// The frames that a decoder holds, so that each is answered exactly once.
struct PendingFrames {
    /// A frame that has not been answered.
    struct Entry {
        var serial: Int64
        var presentationTime: MediaTime
        var token: FrameToken
    }

    private var entries: [Entry] = []
    private var nextSerial: Int64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Takes a frame in and numbers it.
    mutating func push(presentationTime: MediaTime, token: FrameToken) -> Int64 {
        defer { nextSerial &+= 1 }
        entries.append(Entry(serial: nextSerial, presentationTime: presentationTime, token: token))
        return nextSerial
    }

    /// Returns true if the frame `serial` has not been answered.
    func has(_ serial: Int64) -> Bool { entries.contains { $0.serial == serial } }

    /// Takes out the frame `serial`; nil when it has been answered already.
    mutating func take(_ serial: Int64) -> Entry? {
        for index in entries.indices where entries[index].serial == serial { return entries.remove(at: index) }
        return nil
    }

    /// Takes out the oldest frame, as long as there are more than `count`.
    mutating func takeOldest(butNewest count: Int) -> Entry? {
        entries.count > count ? entries.removeFirst() : nil
    }
}
