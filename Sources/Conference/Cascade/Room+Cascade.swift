import AudioMixing
import Compositing
import CongestionControl
import MediaCore
import NIOCore
import OrderedCollections
import PeerConnection
import RoomAPI

/// The part of a room at other relays: the state and packets that they get, and the members that they have.
///
/// A relay sends only what its own participants send. Nothing that came by a link leaves by another: every two relays
/// of a room have a link.
extension Room {
    /// True if a participant of this relay is in the room.
    var hasParticipants: Bool { participants.contains { $0.remote == nil && $0.player == nil } }

    /// The participant of this relay with this id.
    func localParticipant(publicID: String) -> Participant? {
        participants.first { $0.remote == nil && $0.player == nil && $0.publicID == publicID }
    }

    // MARK: State for other relays

    /// Sends the sources that the other side of a link shows, and tells it this relay's part of the room.
    func update(_ link: CascadeLink, now: MonotonicInstant) {
        link.setSources(sources(for: link), now: now)
        var state = CascadeState()
        for participant in participants where participant.remote == nil && isTold(participant) {
            state.members.append(CascadeState.Member(participant))
        }
        state.wants = wants(of: link)
        state.stage = ownStage
        link.tell(state, now: now)
        updateCrossingSources()
        requestKeyframes(for: link, now: now)
        var rate = BitRate.zero
        for (source, sender) in link.outgoing where sender.isSending {
            guard let id = pictureID(of: source) else { continue }
            rate = rate + forwarding.peakRate(of: id, now: now)
        }
        link.peer.setForwardedDemand(max(rate * 1.5, CascadeLink.leastDemand), now: now)
        link.peer.setForwardingRate(rate * ForwardingPlane.pace)
    }

    private func isTold(_ participant: Participant) -> Bool { participant.isSeated && !participant.grants.isHidden }

    /// The sources of this relay that a link carries.
    private func sources(for link: CascadeLink) -> OrderedSet<CascadeSource> {
        var sources: OrderedSet<CascadeSource> = []
        for participant in participants where participant.remote == nil && isTold(participant) {
            let audio = CascadeSource(participant: participant.publicID, content: .audio)
            if participant.sendsAudio, participant.isMicrophoneAdmitted { sources.append(audio) }
            for content in SourceContent.allCases where isRelayable(content, of: participant) {
                let source = CascadeSource(participant: participant.publicID, content: .init(content))
                if link.wanted[source] != nil { sources.append(source) }
            }
        }
        return sources
    }

    private func isRelayable(_ content: SourceContent, of participant: Participant) -> Bool {
        switch content {
        case .camera: participant.sendsVideo && participant.isCameraShown
        case .screenShare: participant.sharesScreen
        }
    }

    /// The pictures of the other side that are shown or recorded here.
    private func wants(of link: CascadeLink) -> [CascadeState.Want] {
        var wants: [CascadeState.Want] = []
        for member in link.members.values {
            guard let told = member.remote?.told else { continue }
            for content in SourceContent.allCases where content == .camera ? told.sendsVideo : told.sharesScreen {
                var tile = demands.layer(of: SourceID(participant: member.id, content: content))?.tile ?? .nothing
                // A screen has no tile before its first picture.
                let isAwaited = content == .screenShare && member.screenShare?.newest == nil
                if recorder != nil || isAwaited { tile = recordedTile(tile) }
                guard tile.area > 0 else { continue }
                wants.append(
                    CascadeState.Want(
                        source: CascadeSource(participant: member.publicID, content: .init(content)),
                        width: tile.width, height: tile.height))
            }
        }
        return wants
    }

    /// The largest tile of a source at other relays.
    func relayedTile(of source: SourceID) -> VideoDimensions {
        guard let participant = participant(source.participant), participant.remote == nil, !links.isEmpty else {
            return .nothing
        }
        let key = CascadeSource(participant: participant.publicID, content: .init(source.content))
        return links.values.reduce(.nothing) { tile, link in
            tile.covering(link.wanted[key] ?? .nothing)
        }
    }

    private func pictureID(of source: CascadeSource) -> SourceID? {
        guard let content = source.content.picture, let participant = participant(publicID: source.participant),
            participant.remote == nil
        else { return nil }
        return SourceID(participant: participant.id, content: content)
    }

    /// Has the packets of all pictures handed out that cross a link.
    private func updateCrossingSources() {
        var crossing: Set<SourceID> = []
        for link in links.values { crossing.formUnion(link.outgoing.keys.compactMap(pictureID)) }
        let before = forwarding.crossing
        guard crossing != before else { return }
        forwarding.crossing = crossing
        videoTicks.wake()
    }

    /// Packets of these sources leave by links: they are repaired although nobody here sees them.
    func repairRelayed(_ source: SourceID, now: MonotonicInstant) {
        guard let participant = participant(source.participant),
            participant.pipeline(for: source.content)?.skipMode == .keyframes
        else { return }
        participant.peer.setUnseen(
            !forwarding.crossing.contains(source) && recorder == nil, content: participant.stream(of: source.content),
            needsKeyframe: false, now: now)
    }

    private func requestKeyframes(for link: CascadeLink, now: MonotonicInstant) {
        for source in link.outgoing.keys {
            guard let id = pictureID(of: source), link.outgoing[source]?.takeKeyframeRequest(now: now) == true else {
                continue
            }
            repairRelayed(id, now: now)
            wantKeyframe(id, now: now)
        }
    }

    /// The other side of a link asks for a keyframe.
    func keyframeRequested(onLine line: Int, of link: CascadeLink, now: MonotonicInstant) {
        guard let source = link.source(ofLine: line), let id = pictureID(of: source) else { return }
        wantKeyframe(id, now: now)
    }

    // MARK: Packets

    /// Sends a packet of a picture to the relays that show it. Returns their links.
    func relay(
        _ packet: ForwardedPacket, of id: SourceID, parameterSets: [ByteBuffer], isRestart: Bool,
        now: MonotonicInstant
    ) -> [Endpoint] {
        guard let participant = participant(id.participant), participant.remote == nil else { return [] }
        let source = CascadeSource(participant: participant.publicID, content: .init(id.content))
        var served: [Endpoint] = []
        for link in links.values {
            guard let content = link.outgoing[source]?.content else { continue }
            var leavesOutDispensable = false
            if link.outgoing[source]?.isSending == true {
                if isRestart { link.peer.forwardingRestarts(at: packet, content: content) }
                link.outgoing[source]?.meter(packet, now: now)
                let backlog = link.peer.backlog(now: now).sent
                leavesOutDispensable = packet.startsFrame && backlog > LatencyBudget.beforeDispensableFrame
                // A frame that has begun is sent to its end, if it ever ends.
                if backlog > (packet.startsFrame ? LatencyBudget.debt : LatencyBudget.mostDebt) {
                    relieve(link, by: backlog, now: now)
                }
            } else if link.outgoing[source]?.begins(with: packet, now: now) == true {
                link.peer.beginForwarding(at: packet, parameterSets: [], content: content, now: now)
            }
            guard link.outgoing[source]?.isSending == true else { continue }
            let count = link.peer.forward(
                packet, parameterSets: parameterSets, leavesOutDispensable: leavesOutDispensable, content: content,
                now: now)
            guard count > 0 else { continue }
            link.packetsSent &+= count
            served.append(link)
        }
        return served
    }

    /// Holds a picture back, because a link carries too little: first one that alone is more than the link carries, if
    /// another one fits, then one that is neither a screen nor of the active speaker, then the speaker's; of several
    /// the one of the highest rate. Audio leaves before all pictures.
    private func relieve(_ link: CascadeLink, by backlog: Duration, now: MonotonicInstant) {
        let carried = link.peer.videoBitRate
        let speaker = activeSpeaker?.publicID
        // Without one that fits, to be too large tells no picture from the others.
        let oneFits = link.outgoing.keys.contains { sentRate(of: $0, on: link, now: now) ?? carried < carried }
        var count = 0
        var least: (source: CascadeSource, importance: Int, rate: BitRate)?
        for source in link.outgoing.keys {
            guard let rate = sentRate(of: source, on: link, now: now) else { continue }
            let isTooLarge = oneFits && rate > carried
            let importance = isTooLarge ? 0 : source.content == .screen ? 3 : source.participant == speaker ? 2 : 1
            count += 1
            if let least, (least.importance, rate) <= (importance, least.rate) { continue }
            least = (source, importance, rate)
        }
        // The last one that is left goes on while the link is not too far behind.
        guard count > 1 || backlog > LatencyBudget.mostDebt, let least,
            least.rate > carried || link.mayHold(now: now), let content = link.outgoing[least.source]?.content
        else { return }
        link.outgoing[least.source]?.hold(now: now)
        // What waits of it would keep the others waiting, and they would be held back, too.
        link.peer.endForwarding(content: content, cutsFrame: true, now: now)
        link.picturesHeld &+= 1
    }

    /// The rate at which a picture crosses a link; nil while it does not.
    private func sentRate(of source: CascadeSource, on link: CascadeLink, now: MonotonicInstant) -> BitRate? {
        guard source.content != .audio, link.outgoing[source]?.isSending == true else { return nil }
        return link.outgoing[source]?.rate(now: now)
    }

    /// Sends an audio packet of a participant to the other relays, if it is one of the loudest. Returns their links.
    func relay(
        _ packet: ReceivedAudioPacket, from participant: Participant, now: MonotonicInstant
    ) -> [Endpoint] {
        guard !links.isEmpty, participant.remote == nil, participant.isMicrophoneAdmitted,
            packet.payload.readableBytes <= ForwardingPolicy.maximumPayload,
            let sampleCount = OpusDecoder.sampleCount(of: packet.payload)
        else { return [] }
        let level = packet.level ?? audio.state(of: participant.id)?.report?.level ?? .silence
        let size = DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead
        guard voices.observe(participant.isHeard ? level : .silence, size: size, of: participant.id, now: now)
        else { return [] }
        let source = CascadeSource(participant: participant.publicID, content: .audio)
        return links.values.filter { link in
            guard let sender = link.outgoing[source], sender.isReady,
                link.peer.forward(
                    packet, sampleCount: sampleCount, level: level, content: sender.content, now: now)
            else { return false }
            link.packetsSent &+= 1
            return true
        }
    }

    // MARK: Members of other relays

    /// Updates a member from what its relay tells.
    func remoteMemberChanged(_ member: Participant, told: CascadeState.Member, now: MonotonicInstant) {
        let before = member.remote?.told
        member.remote?.told = told
        member.hasRaisedHand = told.hand
        if let role = told.accessRole { member.grants.role = role }
        if told.avatar == nil { member.avatar = nil }
        member.moderation.isMuted = told.muted
        member.moderation.isCameraOff = told.cameraOff
        member.microphoneIsOn = told.microphone || told.muted
        audio.setMicrophone(isOn: member.microphoneIsOn, of: member.id)
        let cameraIsOn = told.camera || told.cameraOff
        if cameraIsOn != member.cameraIsOn {
            member.cameraIsOn = cameraIsOn
            member.uplink?.forgetPicture()
            if !cameraIsOn { recorder?.end(.camera, of: member.id, now: now) }
        }
        if before?.sendsAudio == told.sendsAudio, before?.sendsVideo == told.sendsVideo,
            before?.sharesScreen == told.sharesScreen
        {
            audio.setAdmitted(member.isMicrophoneAdmitted, of: member.id)
            announce(member)
        } else {
            sessionChanged(of: member, now: now)
        }
    }

    /// Updates which lines of a link bring a member's pictures and audio.
    func linesChanged(of link: CascadeLink, now: MonotonicInstant) {
        var lines: [String: [SourceContent: Int]] = [:]
        var audioLines: [String: Int] = [:]
        for (line, stream) in link.incoming {
            if let content = stream.source.content.picture {
                lines[stream.source.participant, default: [:]][content] = line
            } else {
                audioLines[stream.source.participant] = line
            }
        }
        for (id, member) in link.members {
            member.remote?.audioLine = audioLines[id]
            let own = lines[id] ?? [:]
            guard let before = member.remote?.lines, before != own else { continue }
            member.remote?.lines = own
            for content in SourceContent.allCases where before[content] != own[content] {
                // Another stream has its own numbers, and begins with a keyframe.
                if before[content] != nil { end(content, of: member, now: now) }
            }
        }
    }
}

extension CascadeState.Member {
    init(_ participant: Participant) {
        self.init(
            id: participant.publicID, name: participant.name, role: participant.role,
            accessRole: participant.grants.role, sendsAudio: participant.sendsAudio,
            sendsVideo: participant.sendsVideo, sharesScreen: participant.sharesScreen,
            microphone: participant.isHeard, camera: participant.isCameraShown, hand: participant.hasRaisedHand,
            muted: participant.moderation.isMuted, cameraOff: participant.moderation.isCameraOff,
            moves: participant.moves, avatar: participant.avatar?.digest,
            layout: participant.layout.flatMap { Self.isTold($0) ? ReadableLayout($0) : nil })
    }

    /// More would make the message large in which all members are told.
    private static let maximumHidden = 16

    private static func isTold(_ layout: ParticipantLayout) -> Bool {
        if case .template = layout.mode { return false }
        return layout.hidden.count <= maximumHidden
    }
}
