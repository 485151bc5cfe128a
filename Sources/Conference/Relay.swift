import Compositing
import CongestionControl
import EncoderSharing
import FlightRecording
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
    private let wallClock: WallClock
    var random: any RandomNumberGenerator
    var rooms: [String: Room] = [:]
    var participants: [ParticipantID: Participant] = [:]
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
    private var readyToTransmit = CircularBuffer<ParticipantID>()
    /// BYE packets of participants that left, whose connections are gone.
    private var byes = CircularBuffer<PeerConnection.Transmit>()
    private var orphanedJobs = CircularBuffer<Job>()
    private let queues = JobQueueAllocator()
    private var nextParticipant: UInt64 = 0
    private var nextRoom: UInt64 = 0
    private var nextIdleCheck: MonotonicInstant
    private(set) var isClosed = false
    private(set) var isDraining = false
    var datagrams = DatagramCounters()
    let roomEvents = RoomEventLog()
    let recordings = RecordingLog()
    let overload: OverloadControl
    let decoding: DecodeBudget

    /// The rate for a receiver without congestion feedback, within its limits.
    private static let startWithoutFeedback = BitRate.megabits(1)
    private static let idleCheckInterval = Duration.seconds(1)

    /// - Parameters:
    ///   - wallClock: Maps the instants the relay is given to NTP time.
    ///   - random: Makes keys, SSRCs and identifiers; anything but the system's generator is for tests.
    public init(
        configuration: RelayConfiguration, wallClock: WallClock,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), now: MonotonicInstant
    ) {
        self.configuration = configuration
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
        let isReturning = isReturning(request, now: now)
        guard !isDraining || isReturning else { throw .draining }
        if !isReturning, let refusal = doorRefusal(of: request, now: now) { throw refusal }
        if !isReturning, let refusal = unconnected.refusal(for: request.client, now: now) {
            joinCounters.refusedUnconnected &+= 1
            throw refusal
        }
        if !isReturning, let refusal = overload.refusal {
            overload.recordRefusal()
            throw .overloaded(reason: refusal.reason, retryAfter: refusal.retryAfter)
        }
        let negotiation: Negotiation
        do throws(SDPError) {
            let offer = try request.offer.description.get()
            let (answer, session) = try OfferAnswer.answer(
                offer: offer, policy: policy(for: request), using: &random)
            negotiation = Negotiation(answer: answer, session: session)
        } catch {
            throw .offer(error)
        }
        if !isReturning, let refusal = refusal(forRoom: request.room) { throw refusal }
        let former = formerRights(of: request, now: now)
        removeFormer(of: request, now: now)
        let participant = try makeParticipant(request, negotiation: negotiation, now: now)
        if let former { participant.adopt(former) }
        let isCreator = request.makesCreatorModerator && rooms[request.room] == nil
        if isCreator { participant.grants = MemberGrants(role: .moderator) }
        let room = rooms[request.room] ?? makeRoom(request.room, now: now)
        participants[participant.id] = participant
        participant.isReturning = isReturning
        unconnected.add(participant.id, from: request.client, now: now)
        room.add(
            participant,
            downlink: makeDownlink(
                for: negotiation.session, start: participant.peer.configuration.rateLimits.start))
        notices.append(.joined(participant.member))
        if let transport = negotiation.session.transport {
            paths.add(participant, usernameFragment: transport.localCredentials.usernameFragment)
        } else {
            demultiplexer.add(participant)
        }
        service(participant, now: now)
        var result = participant.joinResult
        result.createdRoom = isCreator ? room.instance : nil
        return result
    }

    private func makeParticipant(
        _ request: JoinRequest, negotiation: Negotiation, now: MonotonicInstant
    ) throws(JoinError) -> Participant {
        let session = negotiation.session
        var limits = configuration.rateLimits
        let caps = [
            session.maximumBitRate, session.video?.maximumBitRate,
            session.video.flatMap { DownlinkFormat($0).maximumBitRate },
        ]
        if let cap = caps.compactMap(\.self).min() {
            limits = RateLimits(
                minimum: min(limits.minimum, cap), start: min(limits.start, cap), maximum: min(limits.maximum, cap))
        }
        if !session.describesPath {
            // Nothing will ever show that this path carries more.
            limits = RateLimits(
                minimum: limits.minimum, start: min(max(limits.start, Self.startWithoutFeedback), limits.maximum),
                maximum: limits.maximum)
        }
        var peerConfiguration = PeerConfiguration(
            rateLimits: limits, trustsRemoteDescription: trustsDescription(of: request, session: session, now: now),
            seed: random.next(), certificate: configuration.certificate)
        peerConfiguration.silenceLimit = configuration.silenceLimit
        let publicID = idToKeep(request) ?? makePublicID()
        let peer: PeerConnection
        do {
            peer = try PeerConnection(
                session: session, configuration: peerConfiguration, wallClock: wallClock,
                controller: makeController(limits: limits, for: request, publicID: publicID, now: now), now: now)
        } catch {
            throw .resources("the SRTP session could not be made: \(error)")
        }
        nextParticipant += 1
        let participant = Participant(
            id: ParticipantID(rawValue: nextParticipant), publicID: publicID, name: request.name,
            room: request.room, role: request.role, grants: request.grants,
            selfView: request.selfView ?? configuration.selfView,
            hasAskedForSelfView: request.selfView != nil, address: request.signallingPeer, client: request.client,
            peer: peer, negotiation: negotiation, policy: policy(for: request),
            mayStaySilent: mayStaySilent(request, session: session, now: now),
            queues: (queues.next(), queues.next()), now: now)
        return participant
    }

    private func makeController(
        limits: RateLimits, for request: JoinRequest, publicID: String, now: MonotonicInstant
    ) -> any CongestionController {
        let controller = configuration.congestionController.makeController(limits: limits, now: now)
        let isIPv6 = request.signallingPeer?.isIPv6 ?? false
        let recorder = configuration.makeFlightRecorder?(
            FlightHeader(
                controller: configuration.congestionController.rawValue, limits: limits, start: now,
                packetOverhead: DataSize(bytes: isIPv6 ? 48 : 28), room: request.room, participant: request.name,
                participantID: publicID))
        return recorder.map { RecordingController(controller, recorder: $0) } ?? controller
    }

    /// Returns the video pipeline for a session; nil without video.
    func makeDownlink(for session: NegotiatedSession, start: BitRate) -> DownlinkPipeline? {
        guard let video = session.video, video.sends else { return nil }
        return DownlinkPipeline(
            format: DownlinkFormat(video).encoding(
                canvas: configuration.canvas, frameRate: configuration.frameRate, bitRate: start,
                preset: configuration.encoderPreset, maximumSliceSize: PeerConfiguration.maximumPayloadSize),
            bitRate: start)
    }

    private func makeRoom(_ id: String, now: MonotonicInstant) -> Room {
        nextRoom += 1
        let room = Room(
            id: id, instance: nextRoom, configuration: configuration, overload: overload, decoding: decoding,
            queues: queues, events: roomEvents, wallClock: wallClock, now: now)
        rooms[id] = room
        return room
    }

    /// The id that a participant had on another relay, unless somebody here has it.
    private func idToKeep(_ request: JoinRequest) -> String? {
        request.rejoiningAs.flatMap { id in rooms[request.room]?.participant(publicID: id) == nil ? id : nil }
    }

    func makePublicID() -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String((0..<12).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
    }

    private func policy(for request: JoinRequest) -> AnswerPolicy {
        let wantsIPv6 = request.signallingPeer?.isIPv6 ?? false
        let addresses = configuration.mediaAddresses
        let address = addresses.first { $0.isIPv6 == wantsIPv6 } ?? addresses.first
        let direction = MediaDirection(sends: request.role != .publish, receives: request.role != .watch)
        var policy = AnswerPolicy(
            publicAddress: address ?? TransportAddress(ipv4: 0x7f00_0001, port: 7000),
            alternativeAddresses: addresses.filter { $0 != address },
            certificateFingerprint: configuration.certificate?.fingerprint, videoDirection: direction,
            audioDirection: direction)
        policy.feedbackInterval = FeedbackTiming.statedInterval
        return policy
    }

    /// Removes a participant, saying goodbye to its client. Returns true if there was one.
    public func leave(room: String, participant publicID: String, now: MonotonicInstant) -> Bool {
        guard let participant = rooms[room]?.participant(publicID: publicID) else {
            return false
        }
        remove(participant, because: .left, now: now)
        return true
    }

    func remove(_ participant: Participant, because reason: LeaveReason, now: MonotonicInstant) {
        notices.append(.left(participant.member, reason, after: now - participant.joined))
        if reason == .neverConnected { joinCounters.neverConnected &+= 1 }
        unconnected.remove(participant.id)
        if participant.holdsSeat, reason.mayReturn {
            returning.add(participant.publicID, of: participant.room, rights: participant.rights, now: now)
        }
        participant.peer.close(now: now)
        while let bye = participant.peer.pollTransmit(now: now) { byes.append(bye) }
        demultiplexer.remove(participant)
        paths.remove(participant)
        handshakes.release(participant.id)
        participants[participant.id] = nil
        guard let room = rooms[participant.room] else { return }
        room.remove(participant, now: now)
        guard room.participants.isEmpty else { return }
        room.end(now: now)
        while let job = room.popJob() { orphanedJobs.append(job) }
        rooms[room.id] = nil
        roomEvents.append(.closed, room: room.id)
    }

    /// Takes no more joins, except of clients that come back to their call.
    public func drain() { isDraining = true }

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
        }
        for participant in participants.values { remove(participant, because: .closing, now: now) }
    }

    // MARK: Time and jobs

    /// The latest time of the next call to `wake(now:)`.
    public var nextWakeUp: MonotonicInstant {
        var next = nextIdleCheck
        for room in rooms.values { next = min(next, room.nextTick) }
        for participant in participants.values { next = min(next, participant.nextWakeUp) }
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
        if now >= nextIdleCheck {
            nextIdleCheck = now + Self.idleCheckInterval
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
            guard let participant = participants[source.participant], let room = rooms[participant.room] else {
                return
            }
            room.complete(batch, for: participant, source.content, of: completion, now: now)
            service(participant, now: now)
        case .composed(let id, let tick):
            // A room may have emptied, and one of the same name begun, since the job went out.
            guard let room = rooms[id], room.composition.queue == completion.queue else { return }
            room.complete(tick, of: completion, now: now)
        case .encoded(let id, let result):
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
    private func recordTransmit(_ participant: Participant) {
        guard !participant.isQueuedForTransmit else { return }
        participant.isQueuedForTransmit = true
        readyToTransmit.append(participant.id)
    }

    /// The next datagram to send, if any.
    public func pollTransmit(now: MonotonicInstant) -> PeerConnection.Transmit? {
        if let bye = byes.popFirst() { return bye }
        while let id = readyToTransmit.first {
            if let participant = participants[id] {
                if let transmit = participant.peer.pollTransmit(now: now) { return transmit }
                participant.isQueuedForTransmit = false
                participant.nextWakeUp = participant.peer.nextWakeUp(now: now)
            }
            readyToTransmit.removeFirst()
        }
        return nil
    }
}
