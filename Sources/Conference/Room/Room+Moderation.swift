import Compositing
import MediaCore
import OrderedCollections
import RoomAPI

/// Moderation. The planes enforce it, regardless of what clients send.
extension Room {
    func moderate(_ member: Participant, _ wanted: MemberModeration, by actor: RoomActor, now: MonotonicInstant) {
        switch wanted.microphone {
        case .muted:
            setMuted(true, member)
            tell(.muted, member, by: actor)
        case .askedToUnmute:
            // A moderator cannot turn a microphone on: it goes on when the member turns it on.
            if member.moderation.isMuted { member.moderation.mayUnmute = true }
            tell(.askedToUnmute, member, by: actor)
        case .allowed:
            setMuted(false, member)
            tell(.microphoneAllowed, member, by: actor)
        case nil: break
        }
        if let camera = wanted.camera {
            member.moderation.isCameraOff = camera == .off
            admissionChanged(of: member, now: now)
            tell(camera == .off ? .cameraOff : .cameraAllowed, member, by: actor)
        }
        if let role = wanted.role {
            member.grants.role = role
            member.grants.permissions = role.permissions
            admissionChanged(of: member, now: now)
            tell(.roleChanged, member, by: actor)
        }
        announce(member)
    }

    func setMuted(_ isMuted: Bool, _ member: Participant) {
        member.moderation.isMuted = isMuted
        member.moderation.mayUnmute = false
        audio.setAdmitted(member.isMicrophoneAdmitted, of: member.id)
    }

    /// Applies the changes that moderators made at a member's former relay after the member had joined here.
    func adoptChanges(
        of told: CascadeState.Member, since before: CascadeState.Member, for member: Participant, now: MonotonicInstant
    ) {
        let isSame = told.muted == before.muted && told.cameraOff == before.cameraOff
        guard !isSame || told.accessRole != before.accessRole else { return }
        if told.muted != before.muted { setMuted(told.muted, member) }
        if told.cameraOff != before.cameraOff { member.moderation.isCameraOff = told.cameraOff }
        if let role = told.accessRole, role != before.accessRole {
            member.grants.role = role
            member.grants.permissions = role.permissions
        }
        admissionChanged(of: member, now: now)
        announce(member)
    }

    /// Lets the planes follow what of a member may be heard and seen now.
    private func admissionChanged(of member: Participant, now: MonotonicInstant) {
        audio.setAdmitted(member.isMicrophoneAdmitted, of: member.id)
        for content in SourceContent.allCases {
            guard member.pipeline(for: content) != nil else { continue }
            if member.isAdmitted(content) {
                member.wantKeyframe(content, now: now)
            } else {
                // Neither what was seen before nor what comes meanwhile is to be seen.
                end(content, of: member, now: now)
            }
        }
        updateScreenShare(member)
        composition.viewsChanged()
    }

    func spotlight(_ member: Participant?, by actor: RoomActor) {
        adopt(
            RoomLayout(
                member.map { .pinned(participant: $0.publicID) } ?? .grid, fit: layout.fit, hidden: layout.hidden))
        tell(ModerationEvent(.spotlight, participant: member?.publicID, by: actor))
    }

    func lowerHands(by actor: RoomActor) {
        for member in participants where member.hasRaisedHand && member.remote == nil {
            member.hasRaisedHand = false
            announce(member)
        }
        emit(.moderated(ModerationEvent(.handsLowered, by: actor)))
    }

    func setEntry(locked: Bool?, lobby: Bool?, pin: [UInt8]?, by actor: RoomActor) {
        door.conditions.isLocked = locked ?? door.conditions.isLocked
        if let pin { door.conditions.pin = pin.isEmpty ? nil : pin }
        if let lobby {
            door.conditions.hasLobby = lobby
            if !lobby { door.lobby.admitAll() }
        }
        tell(ModerationEvent(.entryChanged, by: actor))
        entryChanged()
    }

    func answer(waiting id: String, isAdmitted: Bool, by actor: RoomActor) throws(RoomControlError) {
        guard door.lobby.answer(id, isAdmitted: isAdmitted) else { throw .nobodyWaits(id) }
        tell(ModerationEvent(isAdmitted ? .admitted : .refused, participant: id, by: actor))
        entryChanged()
    }

    /// Reports the conditions for entering, and the number of people in the lobby.
    func entryChanged() { emit(.entryChanged(door.state, waiting: door.lobby.waiting.count)) }

    func tell(_ action: ModerationEvent.Action, _ member: Participant, by actor: RoomActor) {
        tell(ModerationEvent(action, participant: member.publicID, by: actor))
    }

    /// Tells what a moderator did, at the room's other relays too. What each relay does by itself each tells by itself.
    private func tell(_ event: ModerationEvent) {
        door.moderated(event)
        emit(.moderated(event))
        for link in links.values { link.acts.add(event) }
    }

    /// Takes what a moderator did at another relay of the room.
    func take(_ event: ModerationEvent) {
        door.moderated(event)
        emit(.moderatedElsewhere(event))
    }
}
