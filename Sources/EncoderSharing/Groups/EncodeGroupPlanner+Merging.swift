package import MediaCore

extension EncodeGroupPlanner {
    /// The most that each member of two alike groups loses when they become one.
    private static let alike = 0.06

    /// The pairs of groups of the same picture and format, with the loss if they merge.
    func mergingCandidates() -> [GroupMerging.Candidate] {
        let known = groups.map { group in
            let levels = means(group.members)
            return (group: group, key: key(of: group), levels: levels, loss: loss.best(for: levels).loss)
        }
        return known.indices.flatMap { index in
            known[(index + 1)...].compactMap { other in
                let one = known[index]
                guard let key = one.key, key == other.key else { return nil }
                let together = loss.best(for: (one.levels + other.levels).sorted()).loss
                // The review decides on receivers that differ.
                guard together <= Self.alike * Double(one.levels.count + other.levels.count) else { return nil }
                return GroupMerging.Candidate(
                    pair: GroupMerging.Pair(one.group.id, other.group.id),
                    gain: loss.encoder - (together - one.loss - other.loss),
                    isFree: expecting.contains(larger(one.group, other.group).id))
            }
        }
    }

    /// Makes one of two groups: that of fewer members ends.
    package mutating func merge(_ pair: GroupMerging.Pair, now: MonotonicInstant) {
        guard let one = groups.first(where: { $0.id == pair.first }),
            let other = groups.first(where: { $0.id == pair.second })
        else { return }
        let target = larger(one, other)
        lastChange = now
        merging.merged(now: now)
        for id in (target.id == one.id ? other : one).members { move(id, to: target.id, .reviewed, now: now) }
    }

    private func larger(_ one: Group, _ other: Group) -> Group {
        (one.members.count, other.id) > (other.members.count, one.id) ? one : other
    }
}
