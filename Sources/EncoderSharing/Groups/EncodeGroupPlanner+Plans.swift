package import MediaCore

extension EncodeGroupPlanner {
    /// Receivers that are to share an encoder: a known group's, or a new one.
    package struct Share {
        package var group: EncodeGroupID?
        package var format: Int
        package var members: [ParticipantID]
    }

    /// The assignment by which least is lost, with as few moves as it takes.
    func bestPlan(budget: Int) -> [Share] {
        var keys: [Key] = []
        var receivers: [Key: [ParticipantID]] = [:]
        for id in order {
            guard let key = members[id]?.key else { continue }
            if receivers[key] == nil { keys.append(key) }
            receivers[key, default: []].append(id)
        }
        let sorted = keys.map { sortedByRate(receivers[$0] ?? []) }
        let partition = EncodePartition.best(
            sorted.map { $0.map { members[$0]?.mean ?? 0 } }, budget: budget, loss: loss)
        return zip(keys, zip(sorted, partition)).flatMap { key, parts in
            shares(
                parts.1.map { Array(parts.0[$0]) }, format: key.format, of: groups.filter { self.key(of: $0) == key })
        }
    }

    /// Gives each share the group with which it has most in common.
    private func shares(_ parts: [[ParticipantID]], format: Int, of groups: [Group]) -> [Share] {
        var shares = parts.map { Share(group: nil, format: format, members: $0) }
        var pairs: [(common: Int, share: Int, group: Int)] = []
        for (share, part) in parts.enumerated() {
            for (index, group) in groups.enumerated() {
                pairs.append((part.count { members[$0]?.group == group.id }, share, index))
            }
        }
        pairs.sort { ($1.common, $0.share, $0.group) < ($0.common, $1.share, $1.group) }
        var used: Set<Int> = []
        for pair in pairs where shares[pair.share].group == nil && !used.contains(pair.group) {
            shares[pair.share].group = groups[pair.group].id
            used.insert(pair.group)
        }
        return shares
    }

    private func sortedByRate(_ ids: [ParticipantID]) -> [ParticipantID] {
        ids.sorted { ((members[$0]?.mean ?? 0), $0) < ((members[$1]?.mean ?? 0), $1) }
    }
}
