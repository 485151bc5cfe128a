/// Storage for the contents of packets under way, so that the packets themselves stay plain values.
///
/// The contents of lost packets are overwritten after some time. A number whose slot was overwritten returns nothing.
struct MessageSlots<Message> {
    private var slots: [(number: Int64, message: Message)?]
    private var next: Int64 = 0

    init(capacity: Int = 4096) {
        slots = Array(repeating: nil, count: max(capacity, 1))
    }

    /// Stores a message and returns the number with which to fetch it.
    mutating func put(_ message: Message) -> Int64 {
        defer { next += 1 }
        slots[Int(next % Int64(slots.count))] = (next, message)
        return next
    }

    /// Removes and returns the message of a number; nil if it was fetched or overwritten before.
    mutating func take(_ number: Int64) -> Message? {
        guard number >= 0 else { return nil }
        let place = Int(number % Int64(slots.count))
        guard let slot = slots[place], slot.number == number else { return nil }
        slots[place] = nil
        return slot.message
    }
}
