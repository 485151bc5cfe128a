import CongestionControl
import EncoderSharing
public import MediaCore
import NIOCore
public import PeerConnection
public import RTP
import RoomAPI
import SDP
import SecureTransport
import VideoCoding

/// All rooms of a relay, sans I/O.
///
/// The driver hands in datagrams, joins, finished jobs and the time; after each call it drains `pollTransmit(now:)` and
/// `pollJob()`, and calls `wake(now:)` at `nextWakeUp`. Not thread-safe: it belongs to one event loop.
public final class Relay {
    public let configuration: RelayConfiguration
    /// The media addresses that answers name by now.
    var mediaAddresses: [TransportAddress]
    var wallClock: WallClock
    var random: any RandomNumberGenerator
    var rooms: [String: Room] = [:]
    var participants: [ParticipantID: Participant] = [:]
    /// The links to other relays that have rooms of this one.
    var links: [ParticipantID: CascadeLink] = [:]
    /// The members of rooms that are at other relays.
    var remoteMembers: [ParticipantID: Participant] = [:]
    var linkCounters = CascadeCounters()
    /// The names of links that other relays made, the newest last.
    var recentLinks = CircularBuffer<String>()
    /// Rooms that end as soon as the other relays know.
    var endingRooms: [String: EndingRoom] = [:]
    /// Orders of other relays about people of whom one of them is about to tell.
    var heldOrders = HeldOrders()
    /// Finds the owners of packets whose keys were negotiated with their addresses.
    var demultiplexer = MediaDemultiplexer()
    /// Finds the owners of datagrams on paths that ICE found.
    var paths = PathDirectory()
    var handshakes = HandshakeGate<ParticipantID>()
    /// The participants that have not connected yet.
    var unconnected = UnconnectedJoins()
    var returning = ReturningParticipants()
    var joinCounters = JoinCounters()
    var notices: RelayNoticeLog
    private var readyToTransmit = CircularBuffer<Endpoint>()
    /// BYE packets of participants that left, whose connections are gone.
    private var byes = CircularBuffer<PeerConnection.Transmit>()
    private var orphanedJobs = CircularBuffer<Job>()
    private let queues = JobQueueAllocator()
    private var lastEndpoint: UInt64 = 0
    private var nextIdleCheck: MonotonicInstant
    private(set) var isClosed = false
    private(set) var isDraining = false
    var datagrams = DatagramCounters()
    let roomEvents = RoomEventLog()
    let recordings = RecordingLog()
    let overload: OverloadControl
    let decoding: DecodeBudget
    /// The work of devices that compose.
    private(set) var composing = DeviceCompositionSnapshot()
    private(set) var copies = DeviceCopies()

    private static let idleCheckInterval = Duration.seconds(1)
    /// A check that comes later than this comes after a standstill, as of a paused container.
    private static let longestDelay = Duration.seconds(5)
    /// The time in which a member is heard again after a standstill: it sends RTCP at least every 7.5 s.
    private static let patienceAfterStandstill = Duration.seconds(10)

    /// - Parameters:
    ///   - wallClock: Maps the instants the relay is given to NTP time.
    ///   - random: Makes keys, SSRCs and identifiers; anything but the system's generator is for tests.
    public init(
        configuration: RelayConfiguration, wallClock: WallClock,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), now: MonotonicInstant
    ) {
        self.configuration = configuration
        mediaAddresses = configuration.mediaAddresses
        self.wallClock = wallClock
        self.random = random
        overload = OverloadControl(configuration: configuration, now: now)
        notices = RelayNoticeLog(now: now)
        decoding = DecodeBudget(limits: configuration.decodeLimits)
        nextIdleCheck = now + Self.idleCheckInterval
    }

    // MARK: Joining and leaving

    /// Answers an offer and adds the participant to the room, which is made if need be.
    public func join(_ request: JoinRequest, now: MonotonicInstant) throws(JoinError) -> JoinResult {
        guard !isClosed else { throw .closed }
        let conditions = rooms[request.room]?.door.conditions ?? request.inheritedConditions
        let key = conditions?.moderatorKey
        var request = request
        if let key, request.moderatorKey == key { request.grants = MemberGrants(role: .moderator) }
        let isReturning = isReturning(request, now: now)
        try checkAdmission(of: request, isReturning: isReturning, now: now)
        let negotiation = try negotiate(request.offer, policy: policy(for: request))
        try Self.checkScreenShare(in: negotiation.session, by: request.grants, mayHaveShared: request.mayHaveShared)
        if !isReturning, let refusal = refusal(forRoom: request.room) { throw refusal }
        let former = formerRights(of: request, now: now)
        removeFormer(of: request, now: now)
        let participant: Participant
        do throws(JoinError) {
            participant = try makeParticipant(request, negotiation: negotiation, now: now)
        } catch {
            if let room = rooms[request.room] { endIfEmpty(room, now: now) }
            throw error
        }
        if let former { participant.adopt(former) }
        let newKey = rooms[request.room] == nil && key == nil ? request.newModeratorKey : nil
        if newKey != nil { participant.grants = MemberGrants(role: .moderator) }
        let room = rooms[request.room] ?? makeRoom(request.room, inherited: request.inheritedConditions, now: now)
        if let newKey { room.door.conditions.moderatorKey = newKey }
        // A relay that knows nothing of the way here has not been told of the last move at least.
        if request.rejoiningAs != nil { participant.moves = 1 }
        // Newer than the last word of a lost relay is what this one has known of the client since.
        let told =
            room.participant(publicID: participant.publicID)?.remote?.told ?? request.former
            ?? (former == nil ? room.door.expectedMember(participant.publicID, now: now) : nil)
        if let told {
            participant.moves = min(told.moves ?? 0, .max - 1) + 1
            participant.adoptModeration(of: told)
        }
        let place = removeFromLinks(participant.publicID, of: room, now: now)
        // An admission lasts until a join succeeds.
        room.door.lobby.entered(by: request.ticket, identity: request.grants.identity)
        participants[participant.id] = participant
        participant.isReturning = isReturning
        unconnected.add(participant.id, from: request.client, now: now)
        room.add(
            participant,
            downlink: makeDownlink(
                for: negotiation.session, start: participant.peer.configuration.rateLimits.start),
            at: place)
        if let layout = told?.layout { try? room.setLayout(room.possible(layout).ownLayout, for: participant) }
        notices.append(.joined(participant.member))
        if let transport = negotiation.session.transport {
            paths.add(participant, usernameFragment: transport.localCredentials.usernameFragment)
        } else {
            demultiplexer.add(participant)
        }
        service(participant, now: now)
        var result = participant.joinResult
        result.moderatesByKey = newKey != nil
        carryOutHeldOrders(about: participant.publicID, in: room, now: now)
        return result
    }

    /// A number for a participant or a link.
    func nextEndpointID() -> ParticipantID {
        lastEndpoint += 1
        return ParticipantID(rawValue: lastEndpoint)
    }

    /// Queues in which a member's pictures are decoded.
    func nextQueues() -> (camera: JobQueueID, screenShare: JobQueueID) { (queues.next(), queues.next()) }

    private func makeRoom(_ id: String, inherited: EntryConditions?, now: MonotonicInstant) -> Room {
        let room = Room(
            id: id, inherited: inherited, configuration: configuration, overload: overload, decoding: decoding,
            queues: queues, events: roomEvents, wallClock: wallClock, now: now)
        rooms[id] = room
        return room
    }

    /// Removes a participant, saying goodbye to its client. Returns true if there was one.
    public func leave(room: String, participant publicID: String, now: MonotonicInstant) -> Bool {
        guard let participant = rooms[room]?.localParticipant(publicID: publicID) else {
            return false
        }
        remove(participant, because: .left, now: now)
        return true
    }

    func remove(_ participant: Participant, because reason: LeaveReason, now: MonotonicInstant) {
        guard participant.player == nil else {
            if let room = rooms[participant.room] { endPlayer(participant, in: room, because: .stopped, now: now) }
            return
        }
        notices.append(.left(participant.member, reason, after: now - participant.joined))
        if reason == .neverConnected { joinCounters.neverConnected &+= 1 }
        unconnected.remove(participant.id)
        if participant.holdsSeat, reason.mayReturn {
            returning.add(participant.publicID, of: participant.room, rights: participant.rights, now: now)
        }
        close(participant, now: now)
        demultiplexer.remove(participant)
        paths.remove(participant)
        handshakes.release(participant.id)
        participants[participant.id] = nil
        guard let room = rooms[participant.room] else { return }
        if reason == .left, participant.isSeated { room.door.left(participant.publicID) }
        removeMember(participant, from: room, now: now)
        // The same client is about to join again.
        if reason != .replaced { endIfEmpty(room, now: now) }
    }

    /// Ends a room that no participant is in.
    private func endIfEmpty(_ room: Room, now: MonotonicInstant) {
        guard !room.hasParticipants else { return }
        endLinks(of: room, now: now)
        room.end(now: now)
        while let job = room.popJob() { orphanedJobs.append(job) }
        rooms[room.id] = nil
        // A room of this name that begins now is another.
        endingRooms[room.id] = nil
        heldOrders.forget(room: room.id)
        roomEvents.append(.closed, room: room.id)
    }

    /// Ends a connection; its last packets wait for `pollTransmit(now:)`.
    func close(_ endpoint: Endpoint, now: MonotonicInstant) {
        endpoint.peer.close(now: now)
        while let bye = endpoint.peer.pollTransmit(now: now) { byes.append(bye) }
    }

    /// Takes no more joins, except of clients that come back to their call.
    ///
    /// - Parameter isMoving: Whether clients are told to go to other relays of the cluster.
    public func drain(isMoving: Bool) {
        isDraining = true
        guard isMoving else { return }
        for room in rooms.values { room.emit(.moved) }
    }

    /// Takes joins again.
    public func endDraining() { isDraining = false }

    /// True if there are no participants.
    public var isEmpty: Bool { participants.isEmpty }

    /// Sends a BYE to everyone. `pollTransmit(now:)` then returns the BYE packets.
    public func close(now: MonotonicInstant) {
        isClosed = true
        for room in rooms.values {
            room.endRecording(because: .shutDown, now: now)
            room.endOutputs(because: .shutDown)
            room.endPlayers(because: .shutDown)
        }
        for participant in participants.values { remove(participant, because: .closing, now: now) }
    }

    // MARK: Time and jobs

    /// The latest time of the next call to `wake(now:)`.
    public var nextWakeUp: MonotonicInstant {
        var next = nextIdleCheck
        for room in rooms.values { next = min(next, room.nextTick) }
        for participant in participants.values { next = min(next, participant.nextWakeUp) }
        for link in links.values { next = min(next, link.nextWakeUp, link.nextCheck) }
        return next
    }

    /// Performs due work: ticks, retransmission requests, reports, pacing, removal of silent participants.
    public func wake(now: MonotonicInstant) {
        guard !isClosed else { return }
        govern(now: now)
        for room in rooms.values where now >= room.nextTick { room.wake(now: now) }
        for participant in participants.values where now >= participant.nextWakeUp {
            participant.peer.wake(now: now)
            service(participant, now: now)
        }
        wakeLinks(now: now)
        if now >= nextIdleCheck {
            let stoodStill = now - nextIdleCheck > Self.longestDelay
            nextIdleCheck = now + (stoodStill ? Self.patienceAfterStandstill : Self.idleCheckInterval)
            // What came meanwhile was not read, or found the socket full: nobody was silent.
            guard !stoodStill else { return }
            notices.tellFailures(now: now)
            expireLobbies(now: now)
            for participant in participants.values {
                if participant.stopAwaitingFirstPacket(now: now) {
                    rooms[participant.room]?.composition.receiversChanged()
                }
                guard let reason = leaveReason(of: participant, now: now) else { continue }
                remove(participant, because: reason, now: now)
            }
        }
    }

    /// The next job to run on a worker, if any.
    public func pollJob() -> Job? {
        if let job = orphanedJobs.popFirst() { return job }
        for room in rooms.values {
            if let job = room.popJob() { return job }
        }
        return nil
    }

    /// Takes a finished job's result.
    public func complete(_ completion: JobCompletion, now: MonotonicInstant) {
        overload.observe(completion, now: now)
        switch completion.output {
        case .decoded(let source, let batch):
            guard let participant = participants[source.participant] ?? remoteMembers[source.participant],
                let room = rooms[participant.room]
            else { return }
            room.complete(batch, for: participant, source.content, of: completion, now: now)
            copies.fromDevice &+= batch.copied
            if let fault = batch.deviceFault {
                notices.append(.deviceFailed(participant.member, reason: fault.description))
            }
            service(participant.carrier, now: now)
        case .composed(let id, let tick):
            // A room may have emptied, and one of the same name begun, since the job went out.
            guard let room = rooms[id], room.composition.queue == completion.queue else { return }
            composing.count(tick.device)
            copies.toDevice &+= tick.device.uploads
            copies.fromDevice &+= tick.device.downloads
            if let reason = tick.device.reason {
                notices.append(.compositionDeviceFailed(room: id, reason: reason))
            }
            room.complete(tick, of: completion, now: now)
        case .encoded(let id, let result):
            if result.isUploaded { copies.toDevice &+= 1 }
            guard let room = rooms[id] else { return }
            for participant in room.complete(result, of: completion, now: now) { service(participant, now: now) }
        case .mixed(let id, let ticks):
            guard let room = rooms[id], room.audio.queue == completion.queue else { return }
            room.complete(ticks, now: now)
            for participant in room.participants where participant.hearsMix { service(participant, now: now) }
        }
    }

    /// Moves a connection's events into its room, and notes that it may have something to send.
    func service(_ participant: Participant, now: MonotonicInstant) {
        guard let room = rooms[participant.room] else { return }
        while let event = participant.peer.pollEvent() {
            switch event {
            case .videoFrame(let frame): room.videoFrame(frame, from: participant, now: now)
            case .videoPacket(let packet):
                for receiver in room.videoPacket(packet, from: participant, now: now) where receiver !== participant {
                    recordTransmit(receiver)
                }
            case .videoEnded(let content): room.videoEnded(content, of: participant, now: now)
            case .audioPacket(let packet):
                for receiver in room.audioPacket(packet, from: participant, now: now) { recordTransmit(receiver) }
            case .keyframeRequested: room.keyframeRequested(by: participant, now: now)
            case .pictureLost: room.pictureLost(by: participant, now: now)
            case .pictureAcknowledged(_, let time): room.encoders.pictureAcknowledged(at: time, by: participant.id)
            case .videoBitRateChanged(let rate):
                room.videoBitRateChanged(rate, for: participant, now: now)
            case .audioBitRateChanged(let rate): room.audio.setBitRate(rate, of: participant.id)
            case .connectionStateChanged(let state):
                guard state != .failed else {
                    remove(participant, because: .failed, now: now)
                    return
                }
                if participant.peer.isPausedForSilence {
                    notices.append(.fellSilent(participant.member, after: configuration.silenceLimit))
                }
                room.connectionChanged(state, of: participant)
            case .goodbye:
                remove(participant, because: .left, now: now)
                return
            }
        }
        if !participant.isSeated, participant.isConnected {
            takeSeat(for: participant, in: room, now: now)
            guard participant.isSeated else { return }
        }
        room.handOutDecodes(of: participant, now: now)
        room.updateHeard(participant)
        recordTransmit(participant)
    }

    /// Records that a connection may have something to send. When that has been sent, its next wake-up is read.
    func recordTransmit(_ participant: Endpoint) {
        guard !participant.isQueuedForTransmit else { return }
        participant.isQueuedForTransmit = true
        readyToTransmit.append(participant)
    }

    /// The next datagram to send, if any.
    public func pollTransmit(now: MonotonicInstant) -> PeerConnection.Transmit? {
        if let bye = byes.popFirst() { return bye }
        // The connections of those that have left meanwhile are closed, and have nothing to send.
        while let endpoint = readyToTransmit.first {
            if let transmit = endpoint.peer.pollTransmit(now: now) { return transmit }
            endpoint.isQueuedForTransmit = false
            endpoint.nextWakeUp = endpoint.peer.nextWakeUp(now: now)
            readyToTransmit.removeFirst()
        }
        return nil
    }
}
