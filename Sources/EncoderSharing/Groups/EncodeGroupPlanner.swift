package import MediaCore

/// Decides which receivers share an encoder, and at which rate.
///
/// From the rates of all networks it makes the assignment in which the members lose least against encoders of their own
/// (`EncodeLoss`), within a number of encoders. An encoder exists for a difference: receivers of one rate share, even
/// if there are encoders for everybody.
///
/// Rates change all the time and assignments must not: a receiver that changes its encoder needs a keyframe, and all
/// receivers of the new encoder pay for it. So targets are averaged. Assignments and the rates of groups stay for two
/// seconds, because keyframes should not come more often. An assignment changes if the gain, over the time for which it
/// will probably hold, exceeds the cost of its keyframes. A group's rate changes sooner if its members lose far more
/// than necessary. Groups that have become alike merge, because a second encoder for the same takes time permanently,
/// and a keyframe is soon over (`GroupMerging`). A single member whose network suddenly carries far less than the
/// others' gets a spare encoder at once; until then it does not affect the group's rate.
package struct EncodeGroupPlanner: Sendable {
    /// The groups during an update. The groups' encoders keep their subscribers.
    package private(set) var groups: [Group] = []
    /// The number of moves of receivers between groups.
    package private(set) var moves: UInt64 = 0

    package var members: [ParticipantID: Member] = [:]
    /// The receivers in the order in which they were given.
    package var order: [ParticipantID] = []
    package let loss: EncodeLoss
    private var nextID = 0
    private var lastUpdate: MonotonicInstant?
    private var lastReview = MonotonicInstant.zero
    /// The last time that a receiver moved for another reason than that it came or its view changed.
    var lastChange = MonotonicInstant.zero
    private var changes = TokenBucket(rate: 0.5, capacity: 4)
    package var merging = GroupMerging()
    /// Groups that make a keyframe in any case.
    var expecting: Set<EncodeGroupID> = []

    /// A receiver's rates over time, and its place.
    package struct Member: Sendable {
        package var receiver: Receiver
        /// The logarithm of the network's rate; the same smoothed over some seconds, except for falls; and its mean
        /// over a second.
        package var current: Double
        package var smooth: Double
        package var mean: Double
        package var group: EncodeGroupID?
        package var since: MonotonicInstant
        package var reason = Reason.placed
        var isIsolated = false
        /// The time since which not even the lowest layer of its group fits.
        var starvesSince: MonotonicInstant?

        package var key: Key {
            Key(
                picture: receiver.picture, format: receiver.format, isolated: isIsolated ? receiver.id : nil)
        }
    }

    /// Properties that receivers must share to share an encoder.
    package struct Key: Hashable, Sendable {
        package var picture: Int
        package var format: Int
        package var isolated: ParticipantID?
    }

    /// The time over which rising and falling targets are smoothed.
    private static let smoothing = (rise: Duration.seconds(2), fall: Duration.milliseconds(300))
    /// The time over which their mean is taken.
    private static let averaging = Duration.milliseconds(700)
    /// The fall of the rate below its smoothed value, as a logarithm, that counts at once.
    private static let fall = 0.35
    /// The tolerated deficit of a member's rate below the layers' share.
    private static let tolerance = 0.05
    /// The assignment and the groups' rates are looked at so often: keyframes may come no more often in the long run.
    private static let reviewInterval = Duration.seconds(2)
    /// The shortest time of an assignment when there are encoders for everybody.
    private static let dwell = Duration.seconds(2)
    /// The price of a keyframe for each receiver: it takes about a tenth of a second's bits, is coarse for that, and
    /// the pictures behind it take a second to become as sharp as before.
    private static let keyframeCost = 0.3
    /// The accepted loss of others for the isolation of a receiver that requests keyframes endlessly, at its beginning
    /// and to its end.
    private static let isolationCost = (first: 0.5, last: 1.5)
    /// The expected time of an assignment: half of the last one's, within bounds.
    private static let horizon = 3.0...15.0
    /// The expected stay of a new receiver.
    private static let stay = 60.0
    /// The least gain, as a sum of logarithms, that justifies a change.
    private static let leastGain = 0.2

    /// - Parameter hasLayers: True if the encoders make temporal layers.
    package init(hasLayers: Bool) {
        loss = EncodeLoss(hasLayers: hasLayers)
    }

    /// The reason for which a receiver is in its group; nil if it is in none.
    package func reason(of id: ParticipantID) -> Reason? { members[id]?.reason }

    /// Takes the present receivers.
    ///
    /// - Parameters:
    ///   - current: The present groups.
    ///   - budget: The most groups; nil for as many as there are receivers. There are more if more different pictures
    ///     and formats are sent.
    ///   - expecting: The groups that make a keyframe in any case, so that a move to them costs no keyframe.
    /// - Returns: The new groups.
    package mutating func update(
        _ receivers: [Receiver], in current: [Group], budget: Int?, expecting: Set<EncodeGroupID> = [],
        now: MonotonicInstant
    ) -> [Group] {
        self.expecting = expecting
        observe(receivers, now: now)
        groups = current
        defer { groups = [] }
        for id in order { members[id]?.group = nil }
        for group in groups {
            for id in group.members { members[id]?.group = group.id }
        }
        isolate(budget: budget)
        release()
        if let budget {
            share(budget: max(budget, Set(members.values.map(\.key)).count), now: now)
        } else {
            separate(now: now)
        }
        for index in groups.indices {
            groups[index].rate = rate(of: groups[index], now: now)
            groups[index].isRateKept = groups[index].members.count > 1
        }
        return groups
    }

    // MARK: - Receivers

    private mutating func observe(_ receivers: [Receiver], now: MonotonicInstant) {
        let time = lastUpdate.map { now - $0 } ?? .zero
        lastUpdate = now
        order.removeAll(keepingCapacity: true)
        for receiver in receivers {
            order.append(receiver.id)
            let level = EncodeLoss.level(receiver.target)
            guard var member = members[receiver.id] else {
                members[receiver.id] = Member(
                    receiver: receiver, current: level, smooth: level, mean: level, since: now)
                continue
            }
            member.receiver = receiver
            member.current = level
            if level < member.smooth - Self.fall {
                member.smooth = level
            } else {
                let length = level < member.smooth ? Self.smoothing.fall : Self.smoothing.rise
                member.smooth += min(1, max(0, time / length)) * (level - member.smooth)
            }
            member.mean += min(1, max(0, time / Self.averaging)) * (level - member.mean)
            members[receiver.id] = member
        }
        guard members.count > receivers.count else { return }
        let present = Set(order)
        for id in members.keys where !present.contains(id) { members[id] = nil }
    }

    /// Gives encoders of their own to receivers that want isolation, as far as there are spare ones.
    private mutating func isolate(budget: Int?) {
        let wanting = order.filter { members[$0]?.receiver.wantsIsolation ?? false }
        for id in order where members[id]?.isIsolated ?? false && !wanting.contains(id) {
            members[id]?.isIsolated = false
        }
        guard let budget, !wanting.isEmpty else { return }
        for id in wanting.sorted(by: { isIsolated($0) && !isIsolated($1) }) {
            let bound = isIsolated(id) ? Self.isolationCost.last : Self.isolationCost.first
            members[id]?.isIsolated = false
            let without = plannedLoss(budget: budget)
            members[id]?.isIsolated = true
            let isAffordable =
                Set(members.values.map(\.key)).count <= budget && plannedLoss(budget: budget) - without <= bound
            if !isAffordable { members[id]?.isIsolated = false }
        }
    }

    /// The loss of all in the best assignment.
    private func plannedLoss(budget: Int) -> Double {
        bestPlan(budget: budget).reduce(0) { $0 + loss.best(for: means($1.members)).loss }
    }

    private func isIsolated(_ id: ParticipantID) -> Bool { members[id]?.isIsolated ?? false }

    /// Removes from each group the receivers that now see something else than most of its members, and removes empty
    /// groups.
    private mutating func release() {
        for index in groups.indices {
            var group = groups[index]
            group.members = group.members.filter { members[$0]?.group == group.id }
            let key = key(of: group)
            for id in group.members where members[id]?.key != key { members[id]?.group = nil }
            groups[index].members = group.members.filter { members[$0]?.group != nil }
        }
        groups.removeAll { $0.members.isEmpty }
    }

    /// The key of most members that the group's encoder suits.
    package func key(of group: Group) -> Key? {
        var counts: [Key: Int] = [:]
        var best: (key: Key, count: Int)?
        for id in group.members {
            guard let key = members[id]?.key, key.format == group.format else { continue }
            let count = (counts[key] ?? 0) + 1
            counts[key] = count
            if count > best?.count ?? 0 { best = (key, count) }
        }
        return best?.key
    }

    // MARK: - Assigning

    private mutating func separate(now: MonotonicInstant) {
        for id in order where members[id]?.group == nil { move(id, to: makeGroup(for: id), .dedicated, now: now) }
        guard groups.contains(where: { $0.members.count > 1 }), now - lastChange >= Self.dwell else { return }
        lastChange = now
        for group in groups where group.members.count > 1 {
            for id in group.members.dropFirst() { move(id, to: makeGroup(for: id), .dedicated, now: now) }
        }
        for id in order { members[id]?.reason = .dedicated }
    }

    private mutating func share(budget: Int, now: MonotonicInstant) {
        var isComplete = true
        for id in order where members[id]?.group == nil {
            if let place = bestPlace(for: id, budget: budget, now: now) {
                move(id, to: place, isIsolated(id) ? .isolated : .placed, now: now)
            } else {
                isComplete = false
            }
        }
        if !isComplete || groups.count > budget {
            adopt(bestPlan(budget: budget), now: now)
            return
        }
        rescue(budget: budget, now: now)
        guard now - lastReview >= Self.reviewInterval else { return }
        lastReview = now
        if !review(budget: budget, now: now), let pair = merging.choose(mergingCandidates(), now: now) {
            merge(pair, now: now)
        }
        for index in groups.indices { groups[index].isRateKept = false }
    }

    /// Moves members whose network has become much slower than their group.
    private mutating func rescue(budget: Int, now: MonotonicInstant) {
        for id in order {
            guard let member = members[id], let group = groups.first(where: { $0.id == member.group }) else { continue }
            let starves = member.current < EncodeLoss.level(group.rate) - loss.reach - Self.tolerance
            members[id]?.starvesSince = starves ? member.starvesSince ?? now : nil
            let others = levels(group.members.filter { $0 != id })
            // The best rate takes long to find, with a look at each pair of others. Few members are slow enough for it.
            let limit = member.smooth + loss.span + Self.tolerance
            guard let bound = loss.bound(for: others), limit < bound, limit < loss.best(for: others).level else {
                continue
            }
            guard groups.count < budget, changes.isAvailable(now: now) else { continue }
            let place = makeGroup(for: id)
            changes.charge()
            lastChange = now
            move(id, to: place, .fell, now: now)
        }
    }

    /// The group in which a receiver costs least, a new one among them; nil if there is none for it.
    private mutating func bestPlace(
        for id: ParticipantID, budget: Int, now: MonotonicInstant
    ) -> EncodeGroupID? {
        guard let member = members[id] else { return nil }
        let time = member.group == nil ? Self.stay : horizon(now: now)
        var best: (id: EncodeGroupID?, cost: Double)?
        if groups.count < budget { best = (nil, loss.encoder * time + Self.keyframeCost) }
        for group in groups where group.format == member.receiver.format {
            let others = group.members.filter { $0 != id }
            guard let first = others.first ?? group.members.first, members[first]?.key == member.key else { continue }
            let added = loss.best(for: levels(others + [id])).loss - loss.best(for: levels(others)).loss
            // A receiver that stays needs no keyframe, and one that comes in any case costs the others nothing.
            let payers = expecting.contains(group.id) ? 1 : others.count + 1
            let keyframes = member.group == group.id ? 0 : Self.keyframeCost * Double(payers)
            let cost = added * time + keyframes
            if cost < best?.cost ?? .infinity { best = (group.id, cost) }
        }
        return best.map { $0.id ?? makeGroup(for: id) }
    }

    /// Looks whether another assignment is worth its keyframes, and takes it then.
    private mutating func review(budget: Int, now: MonotonicInstant) -> Bool {
        let before = groups.reduce(0) { $0 + loss.encoder + loss.best(for: means($1.members)).loss }
        let plan = bestPlan(budget: budget)
        var (after, cost) = (0.0, 0.0)
        for share in plan {
            after += loss.encoder + loss.best(for: means(share.members)).loss
            let gains = share.members.contains { members[$0]?.group != share.group || share.group == nil }
            if gains { cost += Self.keyframeCost * Double(share.members.count) }
        }
        let gain = before - after
        guard gain >= Self.leastGain, gain * horizon(now: now) > cost else { return false }
        lastChange = now
        if plan.count > groups.count { merging.parted(now: now) }
        adopt(plan, now: now)
        return true
    }

    private func horizon(now: MonotonicInstant) -> Double {
        min(max((now - lastChange).seconds / 2, Self.horizon.lowerBound), Self.horizon.upperBound)
    }

    private mutating func adopt(_ plan: [Share], now: MonotonicInstant) {
        for share in plan {
            guard let first = share.members.first else { continue }
            let id = share.group ?? makeGroup(for: first)
            for member in share.members where members[member]?.group != id {
                assign(member, to: id, isIsolated(member) ? .isolated : .reviewed, now: now)
            }
        }
        groups.removeAll { $0.members.isEmpty }
    }

    private mutating func makeGroup(for id: ParticipantID) -> EncodeGroupID {
        nextID += 1
        let group = EncodeGroupID(rawValue: nextID)
        groups.append(
            Group(
                id: group, format: members[id]?.receiver.format ?? 0, members: [],
                rate: members[id]?.receiver.target ?? .zero))
        return group
    }

    /// Moves one receiver; a group that is left empty ends.
    package mutating func move(_ id: ParticipantID, to group: EncodeGroupID, _ reason: Reason, now: MonotonicInstant) {
        assign(id, to: group, reason, now: now)
        groups.removeAll { $0.members.isEmpty }
    }

    private mutating func assign(
        _ id: ParticipantID, to group: EncodeGroupID, _ reason: Reason, now: MonotonicInstant
    ) {
        let before = members[id]?.group
        if before != nil { moves &+= 1 }
        for index in groups.indices {
            if groups[index].id == before { groups[index].members.removeAll { $0 == id } }
            if groups[index].id == group { groups[index].members.append(id) }
        }
        members[id]?.group = group
        members[id]?.since = now
        members[id]?.reason = reason
        members[id]?.starvesSince = nil
    }

    package func means(_ ids: [ParticipantID]) -> [Double] {
        ids.map { members[$0]?.mean ?? 0 }.sorted()
    }

    package func levels(_ ids: [ParticipantID]) -> [Double] {
        ids.map { members[$0]?.smooth ?? 0 }.sorted()
    }
}
