import Compositing
import FlightRecording
public import MediaCore
public import NIOCore
public import RTP
import RateControl
public import SecureTransport
import VideoCoding

/// All rooms of a relay, sans I/O.
///
/// The driver hands in datagrams, joins, finished jobs and the time; after each call it drains `pollTransmit(now:)` and
/// `pollJob()`, and calls `wake(now:)` at `nextWakeUp`. Not thread-safe: it belongs to one event loop.
public final class Relay {
    public let configuration: RelayConfiguration
    private let wallClock: WallClock
    private var random: any RandomNumberGenerator
    var rooms: [String: Room] = [:]
    var participants: [ParticipantID: Participant] = [:]
    private var demultiplexer = MediaDemultiplexer()
    private var readyToTransmit = CircularBuffer<ParticipantID>()
    /// BYE packets of those who left, whose connections are gone.
    private var farewells = CircularBuffer<PeerConnection.Transmit>()
    private var orphanedJobs = CircularBuffer<Job>()
    private var nextQueue: UInt64 = 0
    private var nextParticipant: UInt64 = 0
    private var nextIdleCheck: MonotonicInstant
    private var isClosed = false
    var datagrams = DatagramCounters()
    let roomEvents = RoomEventLog()

    /// What a receiver without congestion feedback is sent, unless its limits say otherwise.
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
        nextIdleCheck = now + Self.idleCheckInterval
    }

    // MARK: Joining and leaving

    /// Answers an offer and adds the participant to the room, which is made if need be.
    public func join(_ request: JoinRequest, now: MonotonicInstant) throws(JoinError) -> JoinResult {
        guard !isClosed else { throw .closed }
        let negotiation: (answer: SessionDescription, session: NegotiatedSession)
        do throws(SDPError) {
            let offer = try SessionDescription(parsing: request.offer)
            negotiation = try OfferAnswer.answer(offer: offer, policy: policy(for: request), using: &random)
        } catch {
            throw .offer(error)
        }
        if let room = rooms[request.room] {
            guard room.participants.count < configuration.maximumParticipants else {
                throw .roomFull(limit: configuration.maximumParticipants)
            }
        } else if rooms.count >= configuration.maximumRooms {
            throw .tooManyRooms(limit: configuration.maximumRooms)
        }
        let participant = try makeParticipant(request, session: negotiation.session, now: now)
        let room = rooms[request.room] ?? makeRoom(request.room, now: now)
        participants[participant.id] = participant
        room.add(participant)
        demultiplexer.add(participant)
        service(participant, now: now)
        return JoinResult(participantID: participant.publicID, answer: negotiation.answer.encode())
    }

    private func makeParticipant(
        _ request: JoinRequest, session: NegotiatedSession, now: MonotonicInstant
    ) throws(JoinError) -> Participant {
        var limits = configuration.rateLimits
        let caps = [
            session.maximumBitRate, session.video?.maximumBitRate,
            session.video.flatMap { DownlinkFormat($0).maximumBitRate },
        ]
        if let cap = caps.compactMap(\.self).min() {
            limits = RateLimits(
                minimum: min(limits.minimum, cap), start: min(limits.start, cap), maximum: min(limits.maximum, cap))
        }
        let feedback = session.video?.feedback ?? session.audio?.feedback ?? .none
        if !feedback.transportCC, !feedback.remb {
            // Nothing will ever tell what more this path carries.
            limits = RateLimits(
                minimum: limits.minimum, start: min(max(limits.start, Self.startWithoutFeedback), limits.maximum),
                maximum: limits.maximum)
        }
        let peerConfiguration = PeerConfiguration(
            rateLimits: limits, trustsRemoteDescription: trustsDescription(of: request, session: session),
            seed: random.next())
        let publicID = makePublicID()
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
            room: request.room, role: request.role, selfView: request.selfView ?? configuration.selfView, peer: peer,
            queues: (makeQueue(), makeQueue()), now: now)
        if let video = session.video, video.sends {
            participant.downlink = makeDownlink(participant.id, video: video, start: limits.start)
        }
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

    private func makeDownlink(_ id: ParticipantID, video: NegotiatedMedia, start: BitRate) -> DownlinkPipeline {
        var setup = DownlinkFormat(video).compression(
            canvas: configuration.canvas, frameRate: configuration.frameRate, bitRate: start,
            maximumSliceSize: PeerConfiguration.maximumPayloadSize)
        setup.properties.preset = configuration.encoderPreset
        return DownlinkPipeline(
            participant: id, queue: makeQueue(), canBeAskedForKeyFrames: video.feedback.pli || video.feedback.fir,
            backEnd: configuration.encoder, setup: setup, frameRate: configuration.frameRate)
    }

    /// Whether media may go to the offer's addresses before anything authentic came from there: only back to the host
    /// that made the offer, so that nobody can aim the relay at someone else.
    private func trustsDescription(of request: JoinRequest, session: NegotiatedSession) -> Bool {
        guard let signallingPeer = request.signallingPeer else { return false }
        let addresses = session.media.flatMap { [$0.remoteRTPAddress, $0.remoteRTCPAddress] }.compactMap(\.self)
        // Some senders (ffmpeg) describe where they send to, which is this relay.
        return addresses.allSatisfy {
            $0.host == signallingPeer.host && !configuration.mediaAddresses.contains($0)
        }
    }

    private func makeRoom(_ id: String, now: MonotonicInstant) -> Room {
        let room = Room(
            id: id, configuration: configuration, composeQueue: makeQueue(), mixQueue: makeQueue(),
            events: roomEvents, now: now)
        rooms[id] = room
        return room
    }

    private func makeQueue() -> JobQueueID {
        nextQueue += 1
        return JobQueueID(rawValue: nextQueue)
    }

    private func makePublicID() -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String((0..<12).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
    }

    private func policy(for request: JoinRequest) -> AnswerPolicy {
        let wantsIPv6 = request.signallingPeer?.isIPv6 ?? false
        let addresses = configuration.mediaAddresses
        let address = addresses.first { $0.isIPv6 == wantsIPv6 } ?? addresses.first
        let direction = MediaDirection(sends: request.role != .publish, receives: request.role != .watch)
        return AnswerPolicy(
            publicAddress: address ?? TransportAddress(ipv4: 0x7f00_0001, port: 7000),
            alternativeAddresses: addresses.filter { $0 != address }, videoDirection: direction,
            audioDirection: direction)
    }

    /// Removes a participant, saying goodbye to its client. Returns whether there was one.
    public func leave(room: String, participant publicID: String, now: MonotonicInstant) -> Bool {
        guard let participant = rooms[room]?.participants.first(where: { $0.publicID == publicID }) else {
            return false
        }
        remove(participant, now: now)
        return true
    }

    private func remove(_ participant: Participant, now: MonotonicInstant) {
        participant.peer.close(now: now)
        while let farewell = participant.peer.pollTransmit(now: now) { farewells.append(farewell) }
        demultiplexer.remove(participant)
        participants[participant.id] = nil
        guard let room = rooms[participant.room] else { return }
        room.remove(participant)
        guard room.participants.isEmpty else { return }
        while let job = room.popJob() { orphanedJobs.append(job) }
        rooms[room.id] = nil
        roomEvents.append(.closed, room: room.id)
    }

    /// Says goodbye to everyone. `pollTransmit(now:)` then yields the BYE packets.
    public func close(now: MonotonicInstant) {
        isClosed = true
        for participant in participants.values { remove(participant, now: now) }
    }

    // MARK: Datagrams

    /// Takes a datagram from the socket. Whatever it holds, it disturbs nobody but whoever can authenticate it.
    public func receive(_ datagram: consuming ByteBuffer, from source: TransportAddress, now: MonotonicInstant) {
        let kind = DatagramKind.classify(datagram)
        guard kind == .rtp || kind == .rtcp else {
            if kind == .unknown { datagrams.malformed &+= 1 } else { datagrams.unsupported &+= 1 }
            return
        }
        let offset = datagram.readerIndex + (kind == .rtp ? 8 : 4)
        guard let ssrc = datagram.getInteger(at: offset, as: UInt32.self) else {
            datagrams.malformed &+= 1
            return
        }
        let owner = demultiplexer.route(ssrc: ssrc, source: source)
        var best = PeerConnection.ReceiveOutcome.unknown
        if let owner {
            best = deliver(copy datagram, to: owner, ssrc: ssrc, from: source, now: now)
            guard best == .unauthenticated else {
                count(best)
                return
            }
            // A client that ended and joined anew may use the same port and SSRC with new keys.
        }
        let candidates = demultiplexer.candidates(ssrc: ssrc, excluding: owner, now: now)
        for candidate in candidates {
            let outcome = deliver(copy datagram, to: candidate, ssrc: ssrc, from: source, now: now)
            if outcome == .accepted || outcome == .malformed {
                count(outcome)
                return
            }
            if outcome == .unauthenticated { best = .unauthenticated }
        }
        count(best)
    }

    private func deliver(
        _ datagram: consuming ByteBuffer, to participant: Participant, ssrc: UInt32, from source: TransportAddress,
        now: MonotonicInstant
    ) -> PeerConnection.ReceiveOutcome {
        let outcome = participant.peer.receive(datagram, from: source, now: now)
        if outcome == .accepted {
            demultiplexer.authenticated(participant, ssrc: ssrc, source: source)
            service(participant, now: now)
        }
        return outcome
    }

    private func count(_ outcome: PeerConnection.ReceiveOutcome) {
        switch outcome {
        case .accepted: datagrams.accepted &+= 1
        case .malformed: datagrams.malformed &+= 1
        case .unauthenticated: datagrams.unauthenticated &+= 1
        case .unknown: datagrams.unknown &+= 1
        }
    }

    // MARK: Time and jobs

    /// When `wake(now:)` is to be called at the latest.
    public var nextWakeUp: MonotonicInstant {
        var next = nextIdleCheck
        for room in rooms.values { next = min(next, room.nextTick) }
        for participant in participants.values { next = min(next, participant.nextWakeUp) }
        return next
    }

    /// Does what is due: ticks, retransmission requests, reports, pacing, leaving of the silent.
    public func wake(now: MonotonicInstant) {
        guard !isClosed else { return }
        for room in rooms.values where now >= room.nextTick { room.wake(now: now) }
        for participant in participants.values where now >= participant.nextWakeUp {
            participant.peer.wake(now: now)
            service(participant, now: now)
        }
        if now >= nextIdleCheck {
            nextIdleCheck = now + Self.idleCheckInterval
            for participant in participants.values
            where participant.isIdle(timeout: configuration.idleTimeout, now: now) {
                remove(participant, now: now)
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
        switch completion.output {
        case .decoded(let source, let batch):
            guard let participant = participants[source.participant], let room = rooms[participant.room] else {
                return
            }
            room.complete(batch, for: participant, source.content, of: completion, now: now)
            service(participant, now: now)
        case .composed(let id, let tick):
            // A room may have emptied, and one of the same name begun, since the job went out.
            guard let room = rooms[id], room.composeQueue == completion.queue else { return }
            room.complete(tick, of: completion, now: now)
        case .encoded(let id, let result):
            guard let participant = participants[id], let room = rooms[participant.room] else { return }
            room.complete(result, for: participant, of: completion, now: now)
            service(participant, now: now)
        case .mixed(let id, let ticks):
            guard let room = rooms[id], room.mixQueue == completion.queue else { return }
            room.complete(ticks, now: now)
            for participant in room.participants where participant.hearsMix { service(participant, now: now) }
        }
    }

    /// Moves a connection's events into its room, and notes that it may have something to send.
    private func service(_ participant: Participant, now: MonotonicInstant) {
        guard let room = rooms[participant.room] else { return }
        while let event = participant.peer.pollEvent() {
            switch event {
            case .videoFrame(let frame): room.videoFrame(frame, from: participant, now: now)
            case .audioPacket(let packet): room.audioPacket(packet, from: participant)
            case .keyFrameRequested: participant.downlink?.requestKeyFrame()
            case .videoBitRateChanged(let rate): participant.downlink?.setBitRate(rate)
            case .audioBitRateChanged(let rate): room.audioBitRateChanged(rate, for: participant)
            case .goodbye:
                remove(participant, now: now)
                return
            }
        }
        participant.nextWakeUp = participant.peer.nextWakeUp(now: now)
        guard !participant.isQueuedForTransmit else { return }
        participant.isQueuedForTransmit = true
        readyToTransmit.append(participant.id)
    }

    /// The next datagram to send, if any.
    public func pollTransmit(now: MonotonicInstant) -> PeerConnection.Transmit? {
        if let farewell = farewells.popFirst() { return farewell }
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
