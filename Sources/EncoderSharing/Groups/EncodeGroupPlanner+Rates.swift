package import MediaCore

extension EncodeGroupPlanner {
    /// The ratio of a group's loss to the possible minimum at which its rate changes before the next review.
    private static let urgency = 1.5
    /// The time after which the cost of a member without frames has doubled.
    private static let starvingDoubles = Duration.seconds(1)
    /// The longest time for which a member may get no frames, whatever the others lose.
    private static let longestStarving = Duration.seconds(10)

    package func rate(of group: Group, now: MonotonicInstant) -> BitRate {
        let ids = group.members.sorted { (current($0), $0) < (current($1), $1) }
        if ids.count > 1, !group.isRateKept { return EncodeLoss.rate(loss.best(for: means(ids)).level) }
        let levels = ids.map(current)
        let costs = ids.map { starvingCost(since: members[$0]?.starvesSince, now: now) }
        let best = loss.best(for: levels, starving: { costs[$0] })
        if ids.count == 1 { return EncodeLoss.rate(best.level) }
        // A rise can wait for the next review.
        guard EncodeLoss.rate(best.level) < group.rate else { return group.rate }
        let held = loss.loss(of: levels, at: EncodeLoss.level(group.rate), starving: { costs[$0] })
        return held > best.loss + Self.urgency ? EncodeLoss.rate(best.level) : group.rate
    }

    /// The loss of a member that gets nothing: little for a moment, then ever more.
    private func starvingCost(since: MonotonicInstant?, now: MonotonicInstant) -> Double {
        guard let since, now - since < Self.longestStarving else { return .infinity }
        return EncodeLoss.starving(for: (now - since) / Self.starvingDoubles)
    }

    private func current(_ id: ParticipantID) -> Double { members[id]?.current ?? 0 }
}
