package import MediaCore

/// Runs the planner a few times a second, and at once when a receiver comes, leaves or changes its view.
package struct GroupPlanning: Sendable {
    /// The interval of checks whether the rates need other groups.
    private static let interval = Duration.milliseconds(100)

    private var planner: EncodeGroupPlanner
    /// The formats of receivers and groups, with the numbers by which the planner knows them. One that nobody has any
    /// more is forgotten: a member may come with a new one in each offer.
    private(set) var formats: [(format: EncodeFormat, number: Int)] = []
    private var lastFormat = 0
    private var needs: [EncodeGroupPlanner.Receiver] = []
    private var plannedNeeds: [EncodeGroupPlanner.Receiver] = []
    private var lastPlan = MonotonicInstant.zero

    /// A group that there is.
    package struct Known {
        package var id: EncodeGroupID
        package var format: EncodeFormat
        package var members: [ParticipantID]
        /// The planner's rate, and whether it stays until the next review.
        package var rate: BitRate
        package var isRateKept: Bool
        /// True if the group makes a keyframe in any case.
        package var expectsKeyframe: Bool

        package init(
            id: EncodeGroupID, format: EncodeFormat, members: [ParticipantID], rate: BitRate, isRateKept: Bool,
            expectsKeyframe: Bool
        ) {
            self.id = id
            self.format = format
            self.members = members
            self.rate = rate
            self.isRateKept = isRateKept
            self.expectsKeyframe = expectsKeyframe
        }
    }

    /// - Parameter hasLayers: True if the encoders make temporal layers.
    package init(hasLayers: Bool) {
        planner = EncodeGroupPlanner(hasLayers: hasLayers)
    }

    /// The number of moves of receivers between groups.
    package var moves: UInt64 { planner.moves }

    /// The reason for which a receiver is in its group; nil if it is in none.
    package func reason(of id: ParticipantID) -> EncodeGroupPlanner.Reason? { planner.reason(of: id) }

    /// Forgets the receivers, before those of this tick are added.
    package mutating func beginNeeds() { needs.removeAll(keepingCapacity: true) }

    /// Adds a receiver that needs an encoder.
    ///
    /// - Parameter picture: The number of its picture, equal for receivers that see the same.
    package mutating func addNeed(
        of downlink: DownlinkPipeline, id: ParticipantID, picture: Int, now: MonotonicInstant
    ) {
        needs.append(
            EncodeGroupPlanner.Receiver(
                id: id, picture: picture, format: number(of: downlink.format),
                target: downlink.dependableRate(now: now),
                wantsIsolation: downlink.keyframeLimiter.isExceeded(now: now)))
    }

    /// Returns true if the planner must check the added receivers.
    package func isDue(now: MonotonicInstant) -> Bool {
        now - lastPlan >= Self.interval || !needs.elementsEqual(plannedNeeds, by: { $0.isLike($1) })
    }

    /// Runs the planner. Returns the new groups.
    ///
    /// - Parameter budget: The most groups; nil for as many as there are receivers.
    package mutating func update(
        _ known: [Known], budget: Int?, now: MonotonicInstant
    ) -> [EncodeGroupPlanner.Group] {
        lastPlan = now
        swap(&plannedNeeds, &needs)
        var groups: [EncodeGroupPlanner.Group] = []
        for group in known where !group.members.isEmpty {
            groups.append(
                EncodeGroupPlanner.Group(
                    id: group.id, format: number(of: group.format), members: group.members, rate: group.rate,
                    isRateKept: group.isRateKept))
        }
        if formats.count > plannedNeeds.count + groups.count {
            let used = Set(plannedNeeds.map(\.format)).union(groups.map(\.format))
            formats.removeAll { !used.contains($0.number) }
        }
        return planner.update(
            plannedNeeds, in: groups, budget: budget,
            expecting: Set(known.lazy.filter(\.expectsKeyframe).map(\.id)), now: now)
    }

    package func format(of group: EncodeGroupPlanner.Group) -> EncodeFormat? {
        formats.first { $0.number == group.format }?.format
    }

    private mutating func number(of format: EncodeFormat) -> Int {
        if let known = formats.first(where: { $0.format == format }) { return known.number }
        lastFormat += 1
        formats.append((format, lastFormat))
        return lastFormat
    }
}
