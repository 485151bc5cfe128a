/// Recently used values of a limited total cost. The least recently used ones are removed first.
struct RecentlyUsed<Key: Hashable, Value> {
    private struct Entry {
        var value: Value
        var cost: Int
        var lastUse: Int
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    private var useCount = 0
    /// The cost of all values that are kept.
    private(set) var cost = 0

    /// - Parameter capacity: The most that all values may cost. One that costs more by itself is not kept.
    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The value that is kept for `key`, which is in use by that.
    mutating func use(_ key: Key) -> Value? {
        guard let index = entries.index(forKey: key) else { return nil }
        useCount += 1
        entries.values[index].lastUse = useCount
        return entries.values[index].value
    }

    /// Keeps a value, in place of the one that was kept for `key`.
    mutating func keep(_ value: Value, for key: Key, cost: Int) {
        useCount += 1
        if let replaced = entries.updateValue(Entry(value: value, cost: cost, lastUse: useCount), forKey: key) {
            self.cost -= replaced.cost
        }
        self.cost += cost
        while self.cost > capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            entries[oldest.key] = nil
            self.cost -= oldest.value.cost
        }
    }
}
