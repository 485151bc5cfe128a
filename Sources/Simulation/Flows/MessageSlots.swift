/// What packets carry that are under way, so that the packets themselves stay plain values.
///
/// What was lost is overwritten in time; a slot's number that comes too late finds nothing.
struct MessageSlots<Message> {
    private var slots: [(number: Int64, message: Message)?]
    private var next: Int64 = 0

    init(capacity: Int = 4096) {
        slots = Array(repeating: nil, count: max(capacity, 1))
    }

    /// Keeps a message and returns the number to fetch it by.
    mutating func put(_ message: Message) -> Int64 {
        defer { next += 1 }
        slots[Int(next % Int64(slots.count))] = (next, message)
        return next
    }

    /// The message of a number; nil when it was fetched or overwritten.
    mutating func take(_ number: Int64) -> Message? {
        guard number >= 0 else { return nil }
        let place = Int(number % Int64(slots.count))
        guard let slot = slots[place], slot.number == number else { return nil }
        slots[place] = nil
        return slot.message
    }
}
