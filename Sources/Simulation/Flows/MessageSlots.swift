/// Storage for the contents of packets under way, so that the packets themselves stay plain values.
///
/// Nobody fetches the contents of lost packets: they are overwritten after some time. The storage grows instead, up to
/// a limit, since the packet may as well be under way. A number whose slot was overwritten returns nothing.
struct MessageSlots<Message> {
    private var slots: [(number: Int64, message: Message)?]
    private var next: Int64 = 0
    private let limit: Int

    /// - Parameter limit: The most messages; as many packets of 1200 bytes are 12 s of 50 Mbit/s.
    init(capacity: Int = 4096, limit: Int = 65_536) {
        slots = Array(repeating: nil, count: max(capacity, 1))
        self.limit = limit
    }

    /// Stores a message and returns the number with which to fetch it.
    mutating func put(_ message: Message) -> Int64 {
        defer { next += 1 }
        if slots[place(of: next)] != nil, slots.count < limit { grow() }
        slots[place(of: next)] = (next, message)
        return next
    }

    /// Removes and returns the message of a number; nil if it was fetched or overwritten before.
    mutating func take(_ number: Int64) -> Message? {
        guard number >= 0 else { return nil }
        let place = place(of: number)
        guard let slot = slots[place], slot.number == number else { return nil }
        slots[place] = nil
        return slot.message
    }

    private func place(of number: Int64) -> Int { Int(number % Int64(slots.count)) }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: nil, count: min(2 * old.count, limit))
        for case let slot? in old { slots[place(of: slot.number)] = slot }
    }
}
