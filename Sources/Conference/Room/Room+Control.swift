import Compositing
import MediaCore
import PeerConnection
import RoomAPI
import SDP

extension Room {
    // MARK: Layouts

    func setLayout(_ wanted: ParticipantLayout?, for participant: Participant) throws(RoomControlError) {
        if let wanted { try check(wanted.mode, hidden: wanted.hidden) }
        let wanted = wanted.flatMap { $0.isEmpty ? nil : $0 }
        guard wanted != participant.layout else { return }
        participant.layout = wanted
        composition.viewsChanged()
        announce(participant)
    }

    /// The part of a layout from another relay that is possible here: somebody whom it names may have left, or not be
    /// known yet.
    func possible(_ layout: ReadableLayout) -> ReadableLayout {
        var possible = layout
        let isModePossible: Void? = try? check(layout.mode, hidden: [])
        if isModePossible == nil { possible.mode = nil }
        possible.hidden.removeAll { !isHere($0) }
        return possible
    }

    func check(_ mode: LayoutMode?, hidden: [String]) throws(RoomControlError) {
        if let id = mode?.participant, !isHere(id) { throw .layoutNamesNobody(participant: id) }
        if case .template(let template) = mode,
            let error = template.error(ofImagesIn: configuration.images, at: "template")
        {
            throw .noSuchImages(error)
        }
        for (index, id) in hidden.enumerated() where !isHere(id) {
            throw .nobodyToHide(participant: id, index: index)
        }
    }

    private func isHere(_ publicID: String) -> Bool { participant(publicID: publicID) != nil }

    /// Resets layouts that name a participant that has left: the room returns to the grid, a participant to the room's
    /// layout. Hidden lists forget it too.
    func forgetLayouts(about publicID: String) {
        for composite in composites { composite.forget(publicID) }
        for participant in participants {
            guard var own = participant.layout else { continue }
            if own.mode?.participant == publicID { own.mode = nil }
            own.hidden.removeAll { $0 == publicID }
            guard own != participant.layout else { continue }
            participant.layout = own.isEmpty ? nil : own
            announce(participant)
        }
        var changed = layout
        if changed.mode.participant == publicID { changed.mode = .grid }
        changed.hidden.removeAll { $0 == publicID }
        adopt(changed)
    }

    // MARK: Overlays and avatars

    func setOverlays(_ wanted: OverlayList) throws(RoomControlError) {
        try check(wanted)
        adopt(wanted)
    }

    func check(_ wanted: OverlayList) throws(RoomControlError) {
        if let error = wanted.error(ofImagesIn: configuration.images) { throw .noSuchImages(error) }
    }

    func setAvatar(_ avatar: Avatar?, of participant: Participant) {
        participant.avatar = avatar
        videoTicks.wake()
        announce(participant)
    }

    // MARK: Media

    func setMediaState(_ state: MediaState, of participant: Participant, now: MonotonicInstant) {
        participant.microphoneIsOn = state.microphone ?? participant.microphoneIsOn
        participant.hasRaisedHand = state.hand ?? participant.hasRaisedHand
        if state.microphone == true, participant.moderation.mayUnmute { setMuted(false, participant) }
        audio.setMicrophone(isOn: participant.microphoneIsOn, of: participant.id)
        if let camera = state.camera, camera != participant.cameraIsOn {
            participant.cameraIsOn = camera
            // When the camera is on again, neither earlier pictures nor those in between may be shown.
            participant.uplink?.forgetPicture()
            if !camera { recorder?.end(.camera, of: participant.id, now: now) }
        }
        announce(participant)
    }

    func connectionChanged(_ state: ConnectionState, of participant: Participant) {
        participant.connection = state
        announce(participant)
    }

    /// Updates the streams of a participant whose session was renegotiated.
    func sessionChanged(of participant: Participant, now: MonotonicInstant) {
        for content in SourceContent.allCases { keepExiting(content, of: participant, now: now) }
        participant.adoptSession()
        setAudioStreams(of: participant)
        if !participant.sendsVideo { end(.camera, of: participant, now: now) }
        if !participant.sendsScreenShare { end(.screenShare, of: participant, now: now) }
        if !participant.sendsAudio { recorder?.endAudio(of: participant.id, now: now) }
        if !participant.isSource { demands.remove(.camera(participant.id)) }
        updateScreenShare(participant)
        composition.viewsChanged()
        announce(participant)
    }

    /// A stream has ended, for now at least: its picture is not to be seen any longer. Of one that ends again and
    /// again, the last picture stays.
    func videoEnded(_ content: NegotiatedMedia.Content, of participant: Participant, now: MonotonicInstant) {
        let isShown = participant.pipeline(for: SourceContent(content))?.newest != nil
        guard !isShown || participant.changeLimits.goodbyes.secondsToWait(now: now) == nil else { return }
        keepExiting(SourceContent(content), of: participant, now: now)
        end(SourceContent(content), of: participant, now: now)
        updateScreenShare(participant)
    }

    func end(_ content: SourceContent, of participant: Participant, now: MonotonicInstant) {
        recorder?.end(content, of: participant.id, now: now)
        participant.pipeline(for: content)?.end()
        videoTicks.wake()
        forwarding.end(SourceID(participant: participant.id, content: content))
        participant.peer.setForwarded(false, content: participant.stream(of: content))
    }

    /// Marks a participant as connected after its first packet, or without one where it need not send any, if its path
    /// is not checked.
    func updateHeard(_ participant: Participant) {
        guard participant.connection == .new, participant.isConnected, participant.peer.session.transport == nil
        else { return }
        connectionChanged(.connected, of: participant)
    }

    // MARK: Speakers

    /// Sends events for changed speakers.
    ///
    /// - Parameter before: The active speaker of the last event.
    func tellSpeakers(unless before: ParticipantID?) {
        for participant in participants
        where audio.isSpeaking(participant.id) != participant.announced?.isSpeaking { announce(participant) }
        tellActiveSpeaker(unless: before)
    }

    /// Has pictures show the active speaker, and sends an event, if it has changed.
    func tellActiveSpeaker(unless before: ParticipantID?) {
        guard stage == nil, audio.activeSpeaker != before else { return }
        composition.viewsChanged()
        emit(.activeSpeakerChanged(id: activeSpeaker?.publicID))
    }

    var activeSpeaker: Participant? {
        stage == nil ? audio.activeSpeaker.flatMap { participant($0) } : stageSpeakers.first.flatMap { participant($0) }
    }

    // MARK: Telling

    func summary(of participant: Participant) -> ParticipantSummary {
        ParticipantSummary(
            id: participant.publicID, name: participant.name, role: participant.role,
            microphone: participant.sendsAudio && participant.isHeard,
            camera: participant.sendsVideo && participant.isCameraShown,
            screenShare: participant.sharesScreen, connection: participant.connection,
            isSpeaking: audio.isSpeaking(participant.id), layout: participant.layout,
            avatar: participant.avatar != nil, accessRole: participant.grants.role, hand: participant.hasRaisedHand,
            muted: participant.moderation.isMuted, cameraOff: participant.moderation.isCameraOff)
    }

    /// Sends an event that a participant came, or has changed since its last event.
    func announce(_ participant: Participant) {
        guard !participant.grants.isHidden else { return }
        let summary = summary(of: participant)
        guard summary != participant.announced else { return }
        emit(participant.announced == nil ? .participantJoined(summary) : .participantChanged(summary))
        participant.announced = summary
        // A tile tells who speaks and whose microphone is off.
        videoTicks.wake()
    }
}
