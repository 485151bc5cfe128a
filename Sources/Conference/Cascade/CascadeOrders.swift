/// A link's orders in both directions: each is told until the other side has it, and is carried out once.
struct CascadeOrders {
    /// Orders that wait at once.
    static let limit = 32

    /// The orders to tell, the oldest first.
    private(set) var waiting: [CascadeState.Order] = []
    private var lastNumber: UInt64 = 0
    /// The newest order of the other side that was taken.
    private var lastTaken: UInt64 = 0

    /// Whether a further order can wait.
    var hasRoom: Bool { waiting.count < Self.limit }

    /// Adds an order. Returns false if too many wait. A layout replaces one that waits, and so do overlays.
    mutating func add(_ change: CascadeState.Order.Change) -> Bool {
        switch change {
        case .layout: waiting.removeAll { if case .layout = $0.change { true } else { false } }
        case .overlays: waiting.removeAll { if case .overlays = $0.change { true } else { false } }
        case .moderation, .ban: break
        }
        guard hasRoom else { return false }
        lastNumber += 1
        waiting.append(CascadeState.Order(number: lastNumber, change: change))
        return true
    }

    /// The other side has these orders.
    mutating func delivered(_ orders: [CascadeState.Order]) {
        guard let last = orders.last?.number else { return }
        waiting.removeAll { $0.number <= last }
    }

    /// Takes the other side's orders. Returns those that are new.
    mutating func take(_ orders: [CascadeState.Order]) -> [CascadeState.Order.Change] {
        orders.prefix(Self.limit).compactMap { order in
            guard order.number > lastTaken else { return nil }
            lastTaken = order.number
            return order.change
        }
    }
}
