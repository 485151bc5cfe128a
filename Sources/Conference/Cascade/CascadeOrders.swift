import RoomAPI

/// Items that one side of a link tells the other once: each is repeated until the other side has it, and is taken once.
struct CascadeBacklog<Item> {
    /// Items that wait at once.
    static var limit: Int { 32 }

    /// The items to tell, the oldest first.
    private(set) var waiting: [Item] = []
    private let number: KeyPath<Item, UInt64>
    private var lastNumber: UInt64 = 0
    /// The newest item of the other side that was taken.
    private var lastTaken: UInt64 = 0

    init(number: KeyPath<Item, UInt64>) { self.number = number }

    /// True if a further item can wait.
    var hasRoom: Bool { waiting.count < Self.limit }

    mutating func add(_ make: (_ number: UInt64) -> Item) {
        lastNumber += 1
        waiting.append(make(lastNumber))
    }

    mutating func drop(where isObsolete: (Item) -> Bool) { waiting.removeAll(where: isObsolete) }

    mutating func dropOldest() { waiting.removeFirst() }

    /// The other side has these items.
    mutating func delivered(_ items: [Item]) {
        guard let last = items.last?[keyPath: number] else { return }
        waiting.removeAll { $0[keyPath: number] <= last }
    }

    /// Takes the other side's items. Returns those that are new.
    mutating func take(_ items: [Item]) -> [Item] {
        items.prefix(Self.limit).filter { item in
            guard item[keyPath: number] > lastTaken else { return false }
            lastTaken = item[keyPath: number]
            return true
        }
    }
}

/// A link's orders in both directions.
struct CascadeOrders {
    private var backlog = CascadeBacklog<CascadeState.Order>(number: \.number)

    /// The orders to tell, the oldest first.
    var waiting: [CascadeState.Order] { backlog.waiting }

    /// True if a further order can wait.
    var hasRoom: Bool { backlog.hasRoom }

    /// Adds an order. Returns false if too many wait. A layout replaces one that waits, and so do overlays.
    mutating func add(_ change: CascadeState.Order.Change) -> Bool {
        switch change {
        case .layout: backlog.drop { if case .layout = $0.change { true } else { false } }
        case .overlays: backlog.drop { if case .overlays = $0.change { true } else { false } }
        case .moderation, .ban: break
        }
        guard hasRoom else { return false }
        backlog.add { CascadeState.Order(number: $0, change: change) }
        return true
    }

    /// The other side has these orders.
    mutating func delivered(_ orders: [CascadeState.Order]) { backlog.delivered(orders) }

    /// Takes the other side's orders. Returns those that are new.
    mutating func take(_ orders: [CascadeState.Order]) -> [CascadeState.Order.Change] {
        backlog.take(orders).map(\.change)
    }
}

/// A link's acts of moderators in both directions.
struct CascadeActs {
    private var backlog = CascadeBacklog<CascadeState.Act>(number: \.number)

    /// The acts to tell, the oldest first.
    var waiting: [CascadeState.Act] { backlog.waiting }

    /// Adds an act. Of too many that wait the oldest is not told.
    mutating func add(_ event: ModerationEvent) {
        if !backlog.hasRoom { backlog.dropOldest() }
        backlog.add { CascadeState.Act(number: $0, event: event) }
    }

    /// The other side has these acts.
    mutating func delivered(_ acts: [CascadeState.Act]) { backlog.delivered(acts) }

    /// Takes the other side's acts. Returns those that are new.
    mutating func take(_ acts: [CascadeState.Act]) -> [ModerationEvent] { backlog.take(acts).map(\.event) }
}
