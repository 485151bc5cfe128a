public import MediaCore
public import PeerConnection
public import RoomAPI
import SDP
import SecureTransport

/// Players as members of the relay's rooms.
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
        let peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(
                rateLimits: configuration.rateLimits, trustsRemoteDescription: false, seed: random.next(),
                certificate: configuration.certificate), wallClock: wallClock, now: now)
        let member = makeMember(
            id, name: name, room: room, role: .publish, grants: publisher?.grants ?? MemberGrants(role: .participant),
            client: publisher?.client, peer: peer, now: now)
        member.player = PlayerStatus(id: id, name: name, state: .opening)
        member.playerStream = PlayerStream(ssrc: random.next())
        member.adoptSession()
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
    ///
    /// - Returns: For what the pictures are to be encoded from now on; nil: for nothing.
    @discardableResult
    public func show(
        _ picture: PixelBuffer, rotation: VideoRotation, ofPlayer id: String, room: String, now: MonotonicInstant
    ) -> PlayerPictureDemand? {
        guard let room = rooms[room], let player = try? room.player(id) else { return nil }
        room.show(picture, rotation: rotation, of: player, now: now)
        return room.takePictureDemand(of: player)
    }

    /// Takes a player's picture as it was encoded on demand.
    ///
    /// - Parameter time: When it was shown.
    public func receive(
        _ sample: SampleBuffer, rotation: VideoRotation, shownAt time: MonotonicInstant, ofPlayer id: String,
        room: String, now: MonotonicInstant
    ) {
        guard let room = rooms[room], let player = try? room.player(id) else { return }
        let frame = ReceivedVideoFrame(sample: sample, firstArrival: time, lastArrival: time, rotation: rotation)
        for receiver in room.playerFrame(frame, of: player, now: now) { recordTransmit(receiver) }
    }

    /// Takes a packet of a player's audio: Opus.
    public func receive(
        _ packet: ReceivedAudioPacket, ofPlayer id: String, room: String, now: MonotonicInstant
    ) {
        guard let room = rooms[room], let player = try? room.player(id) else { return }
        for receiver in room.audioPacket(packet, from: player, now: now) { recordTransmit(receiver) }
    }
}
