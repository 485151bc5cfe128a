import EncoderSharing
import MediaCore
import OrderedCollections
import PeerConnection

/// The room as its planes see it.
extension Room {
    /// The state by which the composition plane decides.
    var scene: RoomScene {
        RoomScene(
            layout: layout, marks: marks, overlays: resolvedOverlays,
            members: stageMembers.map { participant in
                RoomScene.Member(
                    id: participant.id, publicID: participant.publicID, name: participant.name,
                    isSource: participant.isSource && participant.holdsSeat, layout: participant.layout,
                    showsSelf: showsSelf(participant),
                    canvas: encoders.downlink(of: participant.id)?.dimensions,
                    isComposed: forwarding.isComposed(participant.id),
                    mayBeSent: participant.mayBeSentPictures)
            } + compositeReceivers, presenters: presenters, speakers: stageSpeakers)
    }

    /// The present state of receivers, for their encoders.
    func viewers(_ ids: some Sequence<ParticipantID>, now: MonotonicInstant) -> EncoderPlane.Viewers {
        var viewers = EncoderPlane.Viewers()
        for id in ids {
            let link = participant(id)?.peer.link(now: now) ?? composite(id).map { storageLink(of: $0, now: now) }
            guard let link else { continue }
            let view = composition.view(of: id)
            viewers[id] = EncoderPlane.Viewer(
                id: id, viewNumber: view?.number ?? 0, preference: view?.preference ?? .motion,
                isComposed: forwarding.isComposed(id), link: link)
        }
        return viewers
    }
}
