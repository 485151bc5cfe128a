public import MediaCore

/// Where joins go.
extension ClusterDirectory {
    /// Decides where a join of a room goes.
    ///
    /// - Parameters:
    ///   - hops: How often the client was sent on by relays of the cluster, as its ticket proves; nil: it has no
    ///     ticket.
    ///   - isFurther: The ticket says that this relay is to join the room's relays, which have no seats in reserve.
    ///   - isFull: The room takes no more participants at this relay.
    ///   - mayExtend: The room may go on to further relays. One whose door may keep somebody out may not: this relay
    ///     has the key.
    ///   - isImpatient: The directory was asked about the room, and has not answered in time.
    public mutating func place(
        _ room: String, hops: Int? = nil, isFurther: Bool = false, isFull: Bool = false, mayExtend: Bool = true,
        isImpatient: Bool = false, now: MonotonicInstant
    ) -> PlacementDecision {
        defer { wake(now: now) }
        if record.state == .draining { return placeElsewhere(room, now: now) }
        if let local = rooms[room], local.isWanted(now: now) {
            switch standing(of: room, now: now) {
            case .following(let other, _) where !isFurther: return elsewhere(other, hops: hops, now: now)
            case .leading where mayExtend && !isFurther && hops ?? 0 < Self.maximumHops:
                if let next = furtherRelay(of: room, isFull: isFull, now: now) { return next }
                expect(room, now: now)
                return .here
            case .following(let leader, _) where isFull && hops ?? 0 < Self.maximumHops:
                // The relay that sent the client could not know.
                if let next = furtherRelay(of: room, besides: leader, isFull: true, now: now) { return next }
                expect(room, now: now)
                return .here
            case .following, .leading:
                expect(room, now: now)
                return .here
            case .unplaced, nil:
                if local.isPresent || isImpatient || !isReachable(now: now) {
                    expect(room, now: now)
                    return .here
                }
                return .pending
            }
        }
        if !isFurther, let ownership = mirror.contents.owners[room] {
            let owner = ownership.owner
            if owner.node != node, nodes[owner.node]?.instance == owner.instance {
                return elsewhere(owner.node, hops: hops, now: now)
            }
            // The owner's record is gone: its key goes too, and the claim waits for that.
        }
        if !isFurther, let other = successor(of: room, now: now), let url = nodes[other]?.url {
            promises.add(other, now: now)
            return .further(other, url: url)
        }
        if hops == nil, mirror.isLive, let other = choose(now: now), other != node {
            return elsewhere(other, hops: nil, now: now)
        }
        let expected = rooms.values.count { !$0.isPresent && $0.isWanted(now: now) }
        guard rooms[room] != nil || expected < Self.maximumExpectedRooms else {
            return .refused(reason: "too many rooms are being opened at this relay")
        }
        expect(room, now: now)
        return isReachable(now: now) && !isImpatient ? .pending : .here
    }

    /// The relay for the next participant of a room that this relay has: nil, if it has seats in reserve, or no other
    /// has. Relays that have the room come first, and a room has a full mesh of links.
    ///
    /// - Parameter leader: The relay that sent the client here although the room takes nobody more here. Then the
    ///   room's other relays may have no place either, and new ones come first.
    private mutating func furtherRelay(
        of room: String, besides leader: NodeID? = nil, isFull: Bool, now: MonotonicInstant
    ) -> PlacementDecision? {
        let all = candidates(now: now)
        let own = all.first { $0.node == node }?.seats ?? 0
        guard isFull || own <= Placement.reserve else { return nil }
        let relays = otherRelays(of: room)
        let present = all.filter { relays.contains($0.node) && $0.node != leader && $0.seats > Placement.reserve }
        var new: [Placement.Candidate] = []
        if relays.count + 1 < Self.maximumRelaysOfRoom {
            new = all.filter { $0.node != node && !relays.contains($0.node) && $0.seats > Placement.reserve }
        }
        let (first, second) = leader == nil ? (present, new) : (new, present)
        let chosen =
            Placement.choose(first, region: record.region, using: &random)
            ?? Placement.choose(second, region: record.region, using: &random)
        guard let chosen, let url = nodes[chosen]?.url else { return nil }
        promises.add(chosen, now: now)
        return .further(chosen, url: url)
    }

    /// The relay to which joins of a room go when this one has nobody in it any more; nil: no other has the room, or
    /// all that have it drain.
    func successor(of room: String, now: MonotonicInstant) -> NodeID? {
        let others = otherRelays(of: room)
        return candidates(now: now).first { others.contains($0.node) }?.node
    }

    /// The URL of the relay to which a request about a room goes; nil: this one answers.
    ///
    /// - Parameter isOfLobby: True if the request is about the lobby, which is at the room's owner.
    public func otherOwner(of room: String, isOfLobby: Bool, now: MonotonicInstant) -> String? {
        // Without participants this relay knows nothing of the room, though it may follow another one, to which it has
        // just sent somebody.
        if rooms[room]?.isPresent == true {
            guard isOfLobby, case .following = standing(of: room, now: now) else { return nil }
        }
        guard let owner = owner(of: room), owner.node != node else { return nil }
        return nodes[owner.node]?.url
    }

    /// The relays of a room: each two have a link.
    public static let maximumRelaysOfRoom = 8

    /// Rooms that wait for their first participant; each costs the directory some writes.
    static let maximumExpectedRooms = 256

    /// Two relays at which a client may try if the one that it is sent to does not answer.
    public mutating func alternates(to node: NodeID, now: MonotonicInstant) -> [String] {
        var urls: [String] = []
        // The client may be here longer than a drain lasts, and a relay that drains sends joins on.
        for state in [NodeRecord.State.serving, .draining] {
            var left = candidates(state, now: now).filter { $0.node != node }
            while urls.count < 2, let next = Placement.choose(left, region: record.region, using: &random) {
                left.removeAll { $0.node == next }
                if let url = nodes[next]?.url { urls.append(url) }
            }
        }
        return urls
    }

    /// The relay that a room goes to when this one drains: where its owner is, or else a chosen one.
    private mutating func placeElsewhere(_ room: String, now: MonotonicInstant) -> PlacementDecision {
        if let owner = mirror.contents.owners[room]?.owner, owner.node != node {
            return elsewhere(owner.node, hops: nil, now: now)
        }
        guard let other = choose(now: now), other != node else { return .here }
        return elsewhere(other, hops: nil, now: now)
    }

    private mutating func elsewhere(_ other: NodeID, hops: Int?, now: MonotonicInstant) -> PlacementDecision {
        guard (hops ?? 0) < Self.maximumHops else {
            return .refused(reason: "the relays of the cluster do not agree on the room's relay yet")
        }
        guard let record = nodes[other] else {
            return .refused(reason: "the room's relay '\(other)' is gone, and the room is not free yet")
        }
        promises.add(other, now: now)
        return .elsewhere(other, url: record.url)
    }

    /// A relay was found not to answer. Nobody is sent to this process of it until its lease must have ended.
    public mutating func relayIsMissing(_ node: NodeID, now: MonotonicInstant) {
        missing = missing.filter { now < $0.value.until }
        guard missing.count < Self.maximumMissing, let instance = nodes[node]?.instance else { return }
        missing[node] = (instance, now + Self.leaseDuration * 2)
    }

    private func isMissing(_ node: NodeID, now: MonotonicInstant) -> Bool {
        missing[node].map { now < $0.until && $0.instance == nodes[node]?.instance } ?? false
    }

    private static let maximumMissing = 1024

    private mutating func choose(now: MonotonicInstant) -> NodeID? {
        Placement.choose(candidates(now: now), region: record.region, using: &random)
    }

    private func candidates(
        _ state: NodeRecord.State = .serving, now: MonotonicInstant
    ) -> [Placement.Candidate] {
        var all = nodes
        // This relay knows newer figures of itself. Without a registration its name is another relay's.
        all[node] = isRegistered ? record : nil
        return all.filter { $0.value.state == state && !isMissing($0.key, now: now) }.sorted { $0.key < $1.key }.map {
            id, record in
            Placement.Candidate(
                node: id, region: record.region, seats: record.freeSeats - promises.count(id, now: now))
        }
    }
}
