public import MediaCore

/// The rooms of this relay in the directory.
extension ClusterDirectory {
    // MARK: What the relay tells

    /// Participants are in a room.
    public mutating func roomOpened(_ room: String, now: MonotonicInstant) {
        guard rooms[room]?.isPresent != true else { return }
        expect(room, now: now)
        rooms[room]?.isPresent = true
        wake(now: now)
    }

    /// The last participant has left a room.
    public mutating func roomClosed(_ room: String, now: MonotonicInstant) {
        guard let local = rooms[room] else { return }
        rooms[room]?.isPresent = false
        // A client that was let in a moment ago may still come, and begins a room without them.
        if local.settings != nil { rooms[room]?.areSettingsWritten = !local.disposesOfSettings }
        rooms[room]?.settings = nil
        // It is sent on to those who are in the room: their relay knows the conditions for entering, and leads it next.
        if record.state == .draining || successor(of: room, now: now) != nil { rooms[room]?.expectedUntil = now }
        unsettled.insert(room)
        wake(now: now)
    }

    /// The layout or overlays of a room have changed. They are kept for the relay that has the room next.
    public mutating func setSettings(_ settings: [UInt8], of room: String, now: MonotonicInstant) {
        guard let local = rooms[room], local.settings != settings, settings.count <= DirectoryValue.maximumSize else {
            return
        }
        rooms[room]?.settings = settings
        rooms[room]?.areSettingsWritten = false
        unsettled.insert(room)
        wake(now: now)
    }

    /// Gives all rooms away, or takes new ones again.
    public mutating func setDraining(_ isDraining: Bool, now: MonotonicInstant) {
        record.state = isDraining ? .draining : .serving
        for room in rooms.keys { rooms[room]?.isReleased = isDraining }
        unsettled.formUnion(rooms.keys)
        wake(now: now)
    }

    /// The owner of a room has been asked and does not answer. This relay takes its place.
    ///
    /// - Parameter epoch: The room's epoch while that owner was found dead: a later owner is not touched.
    public mutating func depose(_ epoch: Int64, of room: String, now: MonotonicInstant) {
        guard record.state == .serving, mirror.contents.owners[room]?.epoch == epoch else { return }
        expect(room, now: now)
        rooms[room]?.deposed = epoch
        setStanding(.unplaced, of: room)
        wake(now: now)
    }

    /// Prepares for a client that was let in.
    mutating func expect(_ room: String, now: MonotonicInstant) {
        if rooms[room] == nil {
            rooms[room] = LocalRoom(expectedUntil: now + Self.expectation)
            if record.state == .draining { rooms[room]?.isReleased = true }
        }
        rooms[room]?.expectedUntil = now + Self.expectation
        unsettled.insert(room)
    }

    // MARK: Steps

    mutating func setStanding(_ standing: RoomStanding, of room: String) {
        unsettled.insert(room)
        guard rooms[room] != nil, rooms[room]?.standing != standing else { return }
        rooms[room]?.standing = standing
        if case .leading = standing {
            rooms[room]?.deposed = nil
        } else if rooms[room]?.listing == .present {
            rooms[room]?.listing = .unsure
        }
        if case .following = standing, rooms[room]?.settings == nil { rooms[room]?.areSettingsWritten = true }
        tell(.standing(standing, room: room))
    }

    /// Compares rooms with what the directory now says of their owners.
    mutating func reconcile(_ changed: Set<String>, now: MonotonicInstant) {
        for room in changed {
            let actual = mirror.contents.owners[room]
            guard let local = rooms[room] else {
                takeBack(room, now: now)
                continue
            }
            switch local.standing {
            case .leading(let epoch), .following(_, let epoch):
                // A mirror that is behind knows nothing of this epoch yet.
                if mirror.hasSeen(epoch), actual?.epoch != epoch { setStanding(.unplaced, of: room) }
            case .unplaced:
                if let epoch = local.closing, !local.isBusy, mirror.hasSeen(epoch), actual?.epoch != epoch {
                    rooms[room]?.closing = nil
                }
                unsettled.insert(room)
            }
        }
    }

    /// A claim whose answer was lost may have made this relay the owner of a room that nobody wants any more. The room
    /// is closed properly, or it would be blocked for as long as the lease is renewed.
    private mutating func takeBack(_ room: String, now: MonotonicInstant) {
        guard let actual = mirror.contents.owners[room], actual.owner.instance == record.instance,
            actual.owner.lease == nodeLease.heldLease?.rawValue
        else { return }
        // The mirror may be behind a close that has just been answered.
        rooms[room] = LocalRoom(
            expectedUntil: now, retryAt: now + Self.retryInterval, closing: actual.epoch)
        unsettled.insert(room)
    }

    mutating func rewriteSettings() {
        for (room, local) in rooms where local.settings != nil {
            rooms[room]?.areSettingsWritten = false
            unsettled.insert(room)
        }
    }

    mutating func stepRooms(now: MonotonicInstant) {
        for (room, local) in rooms where !local.isWanted(now: now) { unsettled.insert(room) }
        for room in unsettled.sorted() {
            guard roomRequests < Self.maximumRoomRequests else { return }
            step(room, now: now)
        }
    }

    private mutating func step(_ room: String, now: MonotonicInstant) {
        guard let local = rooms[room] else {
            unsettled.remove(room)
            return
        }
        guard !local.isBusy, now >= local.retryAt else { return }
        guard isReachable(now: now), let lease = nodeLease.lease(now: now) else {
            if !local.isWanted(now: now), !local.mayHaveKeys { forget(room, now: now) }
            return
        }
        unsettled.remove(room)
        guard let (purpose, transaction) = next(for: room, local, lease: lease, now: now) else { return }
        unsettled.insert(room)
        rooms[room]?.isBusy = true
        roomRequests += 1
        send(.commit(transaction), for: .room(room, purpose))
    }

    private mutating func forget(_ room: String, now: MonotonicInstant) {
        rooms[room] = nil
        unsettled.remove(room)
        takeBack(room, now: now)
    }

    /// A transaction of the directory about a room, and its purpose.
    private typealias RoomStep = (RoomPurpose, DirectoryTransaction)

    /// The next thing to do about a room; nil: nothing, for now.
    private mutating func next(
        for room: String, _ local: LocalRoom, lease: LeaseID, now: MonotonicInstant
    ) -> RoomStep? {
        if case .leading(let epoch) = local.standing, local.isReleased || !local.isWanted(now: now) {
            rooms[room]?.closing = epoch
            setStanding(.unplaced, of: room)
        }
        if let epoch = rooms[room]?.closing {
            return close(room, of: epoch, withSettings: !local.isWanted(now: now))
        }
        guard local.isWanted(now: now) else { return clear(room, local, now: now) }
        switch local.standing {
        case .unplaced where local.deposed != nil: return depose(local.deposed ?? 0, of: room)
        case .unplaced where local.isReleased: return follow(room, lease: lease, now: now)
        case .unplaced: return claim(room, lease: lease)
        case .leading(let epoch): return writeSettings(of: room, local, epoch: epoch, now: now)
        case .following(_, let epoch): return list(room, local, epoch: epoch, lease: lease)
        }
    }

    /// - Parameter withSettings: False: the relay that has the room next takes its settings.
    private func close(_ room: String, of epoch: Int64, withSettings: Bool) -> RoomStep {
        let owner = DirectoryKey.owner(room: room)
        var changes: [DirectoryTransaction.Change] = [.delete(owner), .delete(.relay(node, room: room))]
        if withSettings { changes.append(.delete(.settings(room: room))) }
        return (.close, Self.transaction(if: owner, isOf: epoch, changes))
    }

    /// Deletes the keys of a room that is not wanted any more.
    private mutating func clear(_ room: String, _ local: LocalRoom, now: MonotonicInstant) -> RoomStep? {
        if local.listing != .absent {
            // A client that comes before the answer has the room listed anew.
            rooms[room]?.listing = .unsure
            let listing = DirectoryKey.relay(node, room: room)
            return (.unlist, DirectoryTransaction(conditions: [], changes: [.delete(listing)], reads: []))
        }
        if case .unplaced = local.standing, local.leavesSettings {
            return (
                .deleteSettings,
                Self.transaction(if: .owner(room: room), isOf: 0, [.delete(.settings(room: room))])
            )
        }
        forget(room, now: now)
        return nil
    }

    private func depose(_ epoch: Int64, of room: String) -> RoomStep {
        let owner = DirectoryKey.owner(room: room)
        return (.depose, Self.transaction(if: owner, isOf: epoch, [.delete(owner)]))
    }

    /// A room that was given away is another's, once one has come.
    private mutating func follow(_ room: String, lease: LeaseID, now: MonotonicInstant) -> RoomStep? {
        guard let actual = mirror.contents.owners[room], actual.owner.instance != record.instance else { return nil }
        setStanding(.following(actual.owner.node, epoch: actual.epoch), of: room)
        return rooms[room].flatMap { next(for: room, $0, lease: lease, now: now) }
    }

    private func claim(_ room: String, lease: LeaseID) -> RoomStep {
        let owner = DirectoryKey.owner(room: room)
        let value = DirectoryValue.encode(RoomOwner(node: node, instance: record.instance, lease: lease.rawValue))
        return (
            .claim(lease),
            Self.transaction(
                if: owner, isOf: 0, [.put(owner, value, lease), .put(.relay(node, room: room), [], lease)],
                reads: [owner, .settings(room: room)])
        )
    }

    private func writeSettings(
        of room: String, _ local: LocalRoom, epoch: Int64, now: MonotonicInstant
    ) -> RoomStep? {
        guard !local.areSettingsWritten else { return nil }
        var change = DirectoryTransaction.Change.delete(.settings(room: room))
        if let settings = local.settings {
            guard let lease = settingsLease.lease(now: now) else { return nil }
            change = .put(.settings(room: room), settings, lease)
        }
        return (
            .settings(local.settings, epoch: epoch),
            Self.transaction(if: .owner(room: room), isOf: epoch, [change])
        )
    }

    private mutating func list(_ room: String, _ local: LocalRoom, epoch: Int64, lease: LeaseID) -> RoomStep? {
        // A client that lost the race for the room here is at the other relay by now.
        guard local.isPresent, local.listing != .present else { return nil }
        rooms[room]?.listing = .unsure
        let listing = DirectoryTransaction.Change.put(.relay(node, room: room), [], lease)
        return (.list(epoch: epoch), Self.transaction(if: .owner(room: room), isOf: epoch, [listing]))
    }

    /// Changes on the condition that a room's owner key is of an epoch; zero: that there is none.
    private static func transaction(
        if owner: DirectoryKey, isOf epoch: Int64, _ changes: [DirectoryTransaction.Change], reads: [DirectoryKey] = []
    ) -> DirectoryTransaction {
        DirectoryTransaction(
            conditions: [.init(key: owner, createRevision: epoch)], changes: changes, reads: reads)
    }

    mutating func receive(
        _ response: DirectoryResponse, to purpose: RoomPurpose, of room: String, now: MonotonicInstant
    ) {
        roomRequests -= 1
        rooms[room]?.isBusy = false
        unsettled.insert(room)
        guard rooms[room] != nil else { return }
        if case .failed = response {
            rooms[room]?.retryAt = now + Self.retryInterval
            // It may have been performed all the same: what follows finds out.
            return
        }
        switch purpose {
        case .depose: rooms[room]?.deposed = nil
        case .claim(let lease): receiveClaim(response, by: lease, of: room, now: now)
        case .list(let epoch):
            guard case .following(_, epoch) = rooms[room]?.standing else { return }
            if case .committed = response {
                rooms[room]?.listing = .present
            } else {
                setStanding(.unplaced, of: room)
            }
        case .settings(let settings, let epoch):
            guard rooms[room]?.standing == .leading(epoch: epoch) else { return }
            if case .committed = response {
                let isNewest = rooms[room]?.settings == settings
                rooms[room]?.areSettingsWritten = isNewest
            } else {
                setStanding(.unplaced, of: room)
            }
        case .close:
            rooms[room]?.closing = nil
            if case .committed = response { rooms[room]?.listing = .absent }
        case .unlist:
            if case .committed = response { rooms[room]?.listing = .absent }
        case .deleteSettings:
            // Where another relay has the room by now, they are that one's.
            rooms[room]?.areSettingsWritten = true
        }
    }

    private mutating func receiveClaim(
        _ response: DirectoryResponse, by lease: LeaseID, of room: String, now: MonotonicInstant
    ) {
        let owner = DirectoryKey.owner(room: room).path
        // The mirror may have seen the end of the epoch before the answer came: the standing is compared with it.
        switch response {
        case .committed(let revision, let read):
            // A key that was made with an earlier lease has ended with it.
            guard lease == nodeLease.heldLease else { return }
            lead(room, epoch: revision, settings: read)
            reconcile([room], now: now)
        case .conflict(let read):
            guard let entry = read.first(where: { $0.path == owner }),
                let actual = DirectoryValue.decode(RoomOwner.self, from: entry.value)
            else {
                rooms[room]?.retryAt = now + Self.retryInterval
                return
            }
            if actual.node != node {
                setStanding(.following(actual.node, epoch: entry.createRevision), of: room)
                reconcile([room], now: now)
            } else if actual.instance == record.instance, actual.lease == nodeLease.heldLease?.rawValue {
                // The answer to an earlier claim was lost.
                lead(room, epoch: entry.createRevision, settings: read)
                reconcile([room], now: now)
            } else {
                // A key of a lease that ends: of this name's last process, or of this one's last lease.
                rooms[room]?.retryAt = now + Self.retryInterval
            }
        default: rooms[room]?.retryAt = now + Self.retryInterval
        }
    }

    private mutating func lead(_ room: String, epoch: Int64, settings read: [DirectoryEntry]) {
        let path = DirectoryKey.settings(room: room).path
        setStanding(.leading(epoch: epoch), of: room)
        rooms[room]?.listing = .present
        guard rooms[room]?.areSettingsWritten == true else { return }
        guard let found = read.first(where: { $0.path == path }) else {
            // The settings that this room has from before are written again.
            if rooms[room]?.settings != nil { rooms[room]?.areSettingsWritten = false }
            return
        }
        guard rooms[room]?.settings != found.value, found.value.count <= DirectoryValue.maximumSize else { return }
        rooms[room]?.settings = found.value
        tell(.settings(found.value, room: room))
        // They get the lease of this relay.
        rooms[room]?.areSettingsWritten = false
    }
}
