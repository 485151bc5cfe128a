import Compositing
public import MediaCore
public import PeerConnection
import RoomAPI
import SDP
import SecureTransport

/// Films and streams that are members of a room. The driver opens and decodes them.
///
/// A player has a tile, a name, an id, and a seat, and moderators do with it what they do with people. It has no
/// connection: the driver hands in its pictures and its audio.
extension Room {
    /// The most players of a room at the same time: each has two threads, and decodes.
    static let maximumPlayers = 4

    /// The member that is the player of this id.
    func player(_ id: String) throws(RoomControlError) -> Participant {
        guard let member = participant(publicID: id), member.player != nil else { throw .noSuchPlayer(id) }
        return member
    }

    /// Takes the news of a player that goes on. Its tile comes and goes with its pictures and its audio.
    func setPlayer(_ status: PlayerStatus, now: MonotonicInstant) throws(RoomControlError) {
        let member = try player(status.id)
        let before = member.player
        guard before != status else { return }
        member.player = status
        if before?.video != status.video || before?.audio != status.audio { sessionChanged(of: member, now: now) }
        emit(.playerChanged(status))
    }

    /// Tells that all players have ended, with the room.
    func endPlayers(because reason: PlayerStatus.Reason) {
        for member in participants { tellEnd(of: member, because: reason) }
    }

    /// Tells that a player has ended; once.
    func tellEnd(of member: Participant, because reason: PlayerStatus.Reason) {
        guard var status = member.player, status.state != .ended else { return }
        (status.state, status.reason) = (.ended, reason)
        member.player = status
        emit(.playerChanged(status))
    }

    /// Shows a picture of a player.
    func show(_ picture: PixelBuffer, rotation: VideoRotation, of player: Participant, now: MonotonicInstant) {
        guard player.isAdmitted(.camera), let pipeline = player.makePipeline(for: .camera, budget: decoding) else {
            return
        }
        let before = pipeline.newest
        pipeline.show(picture, rotation: rotation, now: now)
        pictureDecoded(of: pipeline.source, at: now)
        if before.map({ $0 === picture }) != true { videoTicks.wake() }
    }
}

extension Relay {
    /// Makes a player a member of a room. It has a tile when the driver tells what it plays.
    func startPlayer(
        _ id: String, name: String, publisher: StreamPublisher?, in room: Room, now: MonotonicInstant
    ) throws(RoomControlError) {
        let limit = Room.maximumPlayers
        guard room.participants.count(where: { $0.player != nil }) < limit else { throw .tooManyPlayers(limit: limit) }
        guard room.seatCount < configuration.maximumParticipants else {
            throw .noSeat(reason: "the room has \(room.seatCount) members, which is the most")
        }
        if let refusal = overload.refusal { throw .noTime(reason: refusal.reason, retryAfter: refusal.retryAfter) }
        let member: Participant
        do {
            member = try makePlayer(id, name: name, publisher: publisher, room: room.id, now: now)
        } catch {
            throw .noTime(reason: "the player could not be made: \(error)", retryAfter: 10)
        }
        overload.seatTaken(now: now)
        room.add(member, downlink: nil)
        if let status = member.player { room.emit(.playerChanged(status)) }
    }

    private func makePlayer(
        _ id: String, name: String, publisher: StreamPublisher?, room: String, now: MonotonicInstant
    ) throws(SRTPError) -> Participant {
        let session = NegotiatedSession(media: [], cname: id)
        let address = configuration.mediaAddresses.first ?? TransportAddress(ipv4: 0x7f00_0001, port: 7000)
        let peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(
                rateLimits: configuration.rateLimits, trustsRemoteDescription: false, seed: random.next(),
                certificate: configuration.certificate), wallClock: wallClock, now: now)
        let member = Participant(
            id: nextEndpointID(), publicID: id, name: name, room: room, role: .publish,
            grants: publisher?.grants ?? MemberGrants(role: .participant), selfView: .never,
            hasAskedForSelfView: false, address: nil, client: publisher?.client, peer: peer,
            negotiation: Negotiation(
                answer: SessionDescription(
                    origin: .init(sessionID: "0", addressType: "IP4", address: "0.0.0.0")), session: session),
            policy: AnswerPolicy(publicAddress: address), mayStaySilent: false, queues: nextQueues(), now: now)
        member.player = PlayerStatus(id: id, name: name, state: .opening)
        member.adoptSession()
        member.connection = .connected
        member.isSeated = true
        return member
    }

    /// Ends a player. Its tile goes.
    func endPlayer(
        _ member: Participant, in room: Room, because reason: PlayerStatus.Reason, now: MonotonicInstant
    ) {
        room.tellEnd(of: member, because: reason)
        room.remove(member, now: now)
    }

    /// Shows a picture of a player. The same one may come again: then it is shown on, as what comes newly.
    public func show(
        _ picture: PixelBuffer, rotation: VideoRotation, ofPlayer id: String, room: String, now: MonotonicInstant
    ) {
        guard let room = rooms[room], let player = try? room.player(id) else { return }
        room.show(picture, rotation: rotation, of: player, now: now)
    }

    /// Takes a packet of a player's audio: Opus.
    public func receive(
        _ packet: ReceivedAudioPacket, ofPlayer id: String, room: String, now: MonotonicInstant
    ) {
        guard let room = rooms[room], let player = try? room.player(id) else { return }
        for receiver in room.audioPacket(packet, from: player, now: now) { recordTransmit(receiver) }
    }
}
