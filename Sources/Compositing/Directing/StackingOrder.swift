import MediaCore

/// The order in which moving layers lie above each other. Nothing visible is covered suddenly, neither when the change
/// begins nor when it ends.
///
/// Layers that overlap at the beginning keep their order, and layers that overlap at the end have their final order.
/// The others are free: leaving layers lie lowest, then layers that stay, then arriving ones, and highest the moving
/// ones, the largest on top.
///
/// If both is impossible, as for two layers that change places and of which one lies within the other, the layer that
/// would have to rise through the other does not move: it fades out at its place and fades in at the new one.
struct StackingOrder {
    /// A layer's rectangles now and at the end. Leaving and arriving layers have only one of them.
    struct Movement: Hashable {
        /// The layer's position among the layers on screen, from the lowest to the highest.
        var current: Int?
        /// The layer's position among the wanted layers, from the lowest to the highest.
        var target: Int?
    }

    private let current: [PixelRect]
    private let target: [PixelRect]

    /// - Parameters:
    ///   - current: The rectangles on screen, from the lowest to the highest.
    ///   - target: The rectangles at the end, in the same order.
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
            // The lowest layer on screen waits for no layer below it on screen, only for those that must end below it.
            let lowest = waiting.indices.filter { waiting[$0].current != nil }.min {
                (waiting[$0].current ?? 0) < (waiting[$1].current ?? 0)
            }
            guard let lowest else { return sorted + waiting }
            sorted.append(Movement(current: waiting[lowest].current, target: nil))
            waiting[lowest].current = nil
        }
        return sorted
    }

    /// Returns true if no waiting layer must lie below it.
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

    /// The preferred height of a free layer; lower values lie lower.
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
