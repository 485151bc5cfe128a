import MediaCore

/// In which order layers lie above each other while they move, so that nothing that is seen is covered at once, neither
/// when the change begins nor when it ends.
///
/// Layers that overlap at the beginning lie as they lay, and layers that overlap at the end as they are to lie. All
/// others are free: those that go lie lowest, then those that stay where they are, those that come, and highest those
/// that glide, the largest at last on top.
///
/// Where both cannot be had, as for two that change places and of which one lies within the other, the one that would
/// have to come up through the other does not glide: it goes where it is, and comes anew where it is to be.
struct StackingOrder {
    /// A layer now and at the end; only one of the two for what goes or comes.
    struct Movement: Hashable {
        /// Among the layers on screen, from the lowest to the highest.
        var current: Int?
        /// Among the layers wanted, from the lowest to the highest.
        var target: Int?
    }

    private let current: [PixelRect]
    private let target: [PixelRect]

    /// - Parameters:
    ///   - current: The places of what is on screen, from the lowest to the highest.
    ///   - target: The places of what is wanted, likewise.
    init(current: [PixelRect], target: [PixelRect]) {
        self.current = current
        self.target = target
    }

    /// The movements from the lowest to the highest; some of them may have come apart into one that goes and one that
    /// comes.
    func sorted(_ movements: [Movement]) -> [Movement] {
        var waiting = movements.sorted { rank($0) < rank($1) }
        var sorted: [Movement] = []
        sorted.reserveCapacity(waiting.count)
        while !waiting.isEmpty {
            if let next = waiting.firstIndex(where: { isFree($0, among: waiting) }) {
                sorted.append(waiting.remove(at: next))
                continue
            }
            // The lowest on screen has none of those below it to wait for: it waits for those that are to be below it.
            let lowest = waiting.indices.filter { waiting[$0].current != nil }.min {
                (waiting[$0].current ?? 0) < (waiting[$1].current ?? 0)
            }
            guard let lowest else { return sorted + waiting }
            sorted.append(Movement(current: waiting[lowest].current, target: nil))
            waiting[lowest].current = nil
        }
        return sorted
    }

    /// Whether nothing that must lie below it is still waiting.
    private func isFree(_ movement: Movement, among waiting: [Movement]) -> Bool {
        !waiting.contains { other in
            if let own = movement.current, let others = other.current, others < own,
                current[others].overlaps(current[own])
            {
                return true
            }
            if let own = movement.target, let others = other.target, others < own,
                target[others].overlaps(target[own])
            {
                return true
            }
            return false
        }
    }

    /// How low it likes to lie.
    private func rank(_ movement: Movement) -> (Int, Int, Int) {
        switch (movement.current, movement.target) {
        case (let current?, nil): (0, 0, current)
        case (let from?, let to?) where current[from] == target[to]: (1, 0, to)
        case (nil, let to?): (2, 0, to)
        case (_?, let to?): (3, target[to].area, to)
        case (nil, nil): (0, 0, 0)
        }
    }
}
