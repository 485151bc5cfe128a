import MediaCore
import PeerConnection
import RoomAPI

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

    func show(_ picture: PixelBuffer, rotation: VideoRotation, of player: Participant, now: MonotonicInstant) {
        guard player.isAdmitted(.camera), let pipeline = player.makePipeline(for: .camera, budget: decoding) else {
            return
        }
        let isNew = pipeline.show(picture, rotation: rotation, now: now)
        pictureDecoded(of: pipeline.source, at: now)
        if isNew { videoTicks.wake() }
    }

    /// For what a player's pictures are to be encoded now; nil: nobody wants them but this relay's viewers.
    func takePictureDemand(of player: Participant) -> PlayerPictureDemand? {
        let source = SourceID(participant: player.id, content: .camera)
        guard player.isCameraShown, recorder != nil || forwarding.crossing.contains(source) else { return nil }
        let relayed = relayedTile(of: source)
        let tile = recorder == nil ? relayed : recordedTile(relayed)
        guard tile.area > 0 else { return nil }
        defer { player.playerStream?.needsKeyframe = false }
        return PlayerPictureDemand(
            tile: tile,
            rate: UplinkPrice.rate(ofTile: tile, frameRate: configuration.frameRate, content: .camera),
            needsKeyframe: player.playerStream?.needsKeyframe ?? false)
    }

    /// Takes an encoded picture of a player, as one that a camera has sent. Returns the receivers to which something
    /// is sent.
    func playerFrame(_ frame: ReceivedVideoFrame, of player: Participant, now: MonotonicInstant) -> [Endpoint] {
        guard player.isCameraShown else { return [] }
        let source = SourceID(participant: player.id, content: .camera)
        forwarding.observe(frame, of: source, now: now)
        record(frame, from: player, now: now)
        guard forwarding.crossing.contains(source) else { return [] }
        let time = MediaTime(frame.firstArrival - .zero, timescale: 90_000)
        let packets = player.playerStream?.packets(of: frame, timestamp: UInt32(truncatingIfNeeded: time.value))
        return (packets ?? []).flatMap { videoPacket($0, from: player, now: now) }
    }
}
