import MediaCore

/// The last frames that a session took, by their number: which of them wait for an answer, and when each is shown.
struct FrameLedger {
    struct Entry {
        var serial: Int64
        var presentationTime: MediaTime
        var duration: MediaTime?
        var token: FrameToken
        var isPending: Bool
    }

    private var entries: [Entry?]
    private(set) var nextSerial: Int64 = 0
    private(set) var pendingCount = 0
    /// No frame before this one is pending.
    private var firstPending: Int64 = 0

    /// - Parameter capacity: The number of frames that are remembered: more than an encoder holds back.
    init(capacity: Int) {
        entries = Array(repeating: nil, count: capacity)
    }

    /// The oldest frame that is remembered.
    var firstSerial: Int64 { max(0, nextSerial - Int64(entries.count)) }

    subscript(serial: Int64) -> Entry? {
        guard serial >= firstSerial, serial < nextSerial else { return nil }
        return entries[index(serial)]
    }

    /// Takes a frame in and numbers it.
    mutating func push(presentationTime: MediaTime, duration: MediaTime?, token: FrameToken) -> Int64 {
        let serial = nextSerial
        entries[index(serial)] = Entry(
            serial: serial, presentationTime: presentationTime, duration: duration, token: token, isPending: true)
        nextSerial += 1
        pendingCount += 1
        return serial
    }

    /// Takes the frame as answered; nil when it has been already.
    mutating func answer(_ serial: Int64) -> Entry? {
        guard serial >= firstSerial, serial < nextSerial, let entry = entries[index(serial)], entry.isPending else {
            return nil
        }
        entries[index(serial)]?.isPending = false
        pendingCount -= 1
        return entry
    }

    /// Takes the oldest frame that waits for an answer as answered.
    mutating func answerOldest() -> Entry? {
        guard pendingCount > 0 else { return nil }
        firstPending = max(firstPending, firstSerial)
        while firstPending < nextSerial {
            let serial = firstPending
            firstPending += 1
            if let entry = answer(serial) { return entry }
        }
        return nil
    }

    /// Returns true if a frame with a presentation time of at most `time` waits for an answer.
    func isPending(until time: MediaTime) -> Bool {
        guard pendingCount > 0 else { return false }
        return (firstSerial..<nextSerial).contains { serial in
            guard let entry = entries[index(serial)], entry.isPending else { return false }
            return entry.presentationTime <= time
        }
    }

    /// The first frame with a presentation time of at least `time`; `nextSerial` if there is none.
    func firstFrame(from time: MediaTime) -> Int64 {
        var first = nextSerial
        while first > firstSerial, let entry = entries[index(first - 1)], entry.presentationTime >= time { first -= 1 }
        return first
    }

    private func index(_ serial: Int64) -> Int { Int(serial % Int64(entries.count)) }
}
