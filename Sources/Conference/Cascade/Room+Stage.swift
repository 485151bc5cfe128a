import Compositing
import MediaCore
import OrderedCollections
import RoomAPI

/// The common view of a room on several relays: the relay that leads the room decides it, and the others follow.
///
/// Each relay composes its own pictures. They are the same, because layout, order and speakers are.
extension Room {
    /// Speakers that are told.
    private static let maximumSpeakers = 16
    /// Members that are told: eight relays with a full room each.
    private static let maximumOrder = 8 * 200
    /// Bytes of a digest or a PIN's verifier.
    private static let maximumKeyLength = 64

    /// The stage that this relay decides; nil if it does not lead the room.
    var ownStage: CascadeState.Stage? {
        conductedEpoch.map { epoch in
            CascadeState.Stage(
                epoch: epoch, layout: ReadableLayout(layout), overlays: overlays, order: participants.map(\.publicID),
                speakers: audio.recentSpeakers.prefix(Self.maximumSpeakers).compactMap { participant($0)?.publicID },
                entry: door.state, waiting: door.lobby.waiting.count, moderatorKey: door.conditions.moderatorKey,
                pin: door.conditions.pin, roomBegan: door.conditions.roomBegan)
        }
    }

    /// The link to the relay that leads the room; nil if this one does, or none is known.
    var conductor: CascadeLink? {
        stage.flatMap { stage in links.values.first { $0.conductedEpoch == stage.epoch } }
    }

    /// Sets whether this relay leads the room, and with which epoch.
    func conduct(_ epoch: Int64?) {
        guard epoch != conductedEpoch else { return }
        conductedEpoch = epoch
        if let epoch, let stage, stage.epoch < epoch { follow(nil) }
    }

    /// Takes the stage that another relay decides. One of a lower epoch than before is discarded, and so is any while
    /// this relay leads with a higher one.
    func take(_ wanted: CascadeState.Stage) {
        guard wanted.epoch >= max(stage?.epoch ?? .min, conductedEpoch ?? .min), conductedEpoch != wanted.epoch,
            wanted.order.count <= Self.maximumOrder
        else { return }
        follow(wanted)
        adoptConditions(of: wanted)
        // A layout may name a member that this relay does not know yet. Then a later message brings it again.
        if let told = wanted.layout { adopt(possible(told).layout(or: layout.mode)) }
        if let overlays = wanted.overlays { try? setOverlays(overlays) }
    }

    /// Takes the conditions for entering: this relay answers by them who asks what happens in the room, and lets people
    /// in by them if it leads the room next.
    private func adoptConditions(of wanted: CascadeState.Stage) {
        if let key = wanted.moderatorKey, key.count <= Self.maximumKeyLength { door.conditions.moderatorKey = key }
        door.isPart(ofRoomBegunAt: wanted.roomBegan)
        door.conditions.isLocked = wanted.entry.locked
        door.conditions.hasLobby = wanted.entry.lobby
        if !wanted.entry.pin {
            door.conditions.pin = nil
        } else if let pin = wanted.pin, pin.count <= Self.maximumKeyLength {
            door.conditions.pin = pin
        }
    }

    /// The relay that led the room with this epoch leads it no more, or its link has ended: until another leads, this
    /// relay decides for itself.
    func conductorLeft(_ epoch: Int64?) {
        if let epoch, stage?.epoch == epoch { follow(nil) }
    }

    private func follow(_ wanted: CascadeState.Stage?) {
        guard wanted != stage else { return }
        let (speaker, entry) = (activeSpeaker?.publicID, entryState)
        let showsOthers = wanted?.order != stage?.order || wanted?.speakers != stage?.speakers
        stage = wanted
        if showsOthers { composition.viewsChanged() }
        if activeSpeaker?.publicID != speaker { emit(.activeSpeakerChanged(id: activeSpeaker?.publicID)) }
        if entryState != entry { emit(.entryChanged(entryState.conditions, waiting: entryState.waiting)) }
    }

    /// The conditions for entering, and the number of people in the lobby, at the relay that lets people in.
    var entryState: EntryState {
        stage.map { EntryState(conditions: $0.entry, waiting: $0.waiting) }
            ?? EntryState(conditions: door.state, waiting: door.lobby.waiting.count)
    }

    struct EntryState: Equatable {
        var conditions: RoomEntryState
        var waiting: Int
    }

    /// The members that spoke, the latest first.
    var stageSpeakers: [ParticipantID] {
        guard let stage else { return audio.recentSpeakers }
        return stage.speakers.prefix(Self.maximumSpeakers).compactMap { participant(publicID: $0)?.id }
    }

    /// The members in the order of their tiles.
    var stageMembers: [Participant] {
        guard let stage else { return Array(participants) }
        let places = Dictionary(stage.order.enumerated().map { ($1, $0) }) { first, _ in first }
        // Members that the conductor does not know yet come last, in their order here.
        return participants.enumerated().sorted { left, right in
            let (first, second) = (places[left.element.publicID] ?? .max, places[right.element.publicID] ?? .max)
            return (first, left.offset) < (second, right.offset)
        }.map(\.element)
    }
}
