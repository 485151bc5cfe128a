import AudioMixing
import Compositing
import MediaCore
import PeerConnection
import RoomAPI

extension Room {
    /// Shows every receiver, from a tick on, what is wanted for them as things are.
    func direct(at time: MediaTime) {
        wantedTiles.removeAll(keepingCapacity: true)
        shownRates.expire()
        var views: [CompositionView: Int] = [:]
        for receiver in participants {
            receiver.canvases = encoding.canvases(of: receiver)
            guard let canvases = receiver.canvases, let whole = receiver.downlink?.dimensions else {
                (receiver.directors, receiver.shares) = ([], [])
                continue
            }
            // Two views are equal if they differ only in size.
            let wholeView = view(for: receiver, canvas: whole)
            receiver.viewNumber = views[wholeView] ?? views.count
            views[wholeView] = receiver.viewNumber
            receiver.preference = wholeView.preference(on: whole)
            receiver.shares = wholeView.shares
            var before = receiver.directors
            // Nobody else holds them, so that they are changed in their place.
            receiver.directors = []
            for canvas in [canvases.own, canvases.followed].compactMap(\.self) {
                let view = canvas == whole ? wholeView : view(for: receiver, canvas: canvas)
                let known = before.firstIndex { $0.canvas == canvas }
                // One of another size begins with what is wanted now: nothing glides because the size is another.
                var director =
                    known.map { before.remove(at: $0) }
                    ?? CompositionDirector(canvas: canvas, transitions: configuration.transitions)
                director.show(view, at: time)
                receiver.directors.append(director)
                for layer in view.layers {
                    let size = layer.rect.dimensions
                    if size.area > wantedTiles[layer.source]?.area ?? 0 { wantedTiles[layer.source] = size }
                }
            }
        }
    }

    /// Whether a receiver's pictures are to be of other sizes than were asked for last.
    var canvasesHaveChanged: Bool {
        participants.contains { encoding.canvases(of: $0) != $0.canvases }
    }

    /// Who is sent which picture at a time.
    func makeViewPlan(at time: MediaTime) -> ViewPlan {
        var plan = ViewPlan()
        for receiver in participants {
            // Nothing can be sent before there are keys and an address: a join alone costs no picture.
            guard receiver.isSeated || receiver.peer.canSendVideo else { continue }
            guard receiver.forwarding.isComposed else {
                if let director = receiver.directors.first {
                    plan.record(director.instruction(at: time), for: receiver.id)
                }
                continue
            }
            for (position, director) in receiver.directors.enumerated() {
                plan.add(
                    director.instruction(at: time), canvas: director.canvas, for: receiver.id, isFollowed: position > 0)
            }
        }
        return plan
    }

    /// What a receiver is to be shown, by what is chosen for them or else for the room.
    private func view(for receiver: Participant, canvas: VideoDimensions) -> CompositionView {
        let arrangement = receiver.layout?.arrangement ?? layout.arrangement
        let fit = receiver.layout?.fit ?? layout.fit ?? .contain
        var view = compositionLayout(arrangement).view(of: scene(for: receiver), canvas: canvas, fit: fit)
        view.overlays += resolvedOverlays
        return view
    }

    /// The participants that a receiver can be shown. Without a self-view, that is everyone else: neither one's own
    /// face nor the screen that one presents, on which the picture may be. A hidden participant counts as one without
    /// video.
    private func scene(for receiver: Participant) -> LayoutScene {
        let showsSelf = encoding.showsSelf(receiver)
        let hidden = layout.hidden + (receiver.layout?.hidden ?? [])
        let shown = participants.filter { (showsSelf || $0 !== receiver) && !hidden.contains($0.publicID) }
        let names = Dictionary(uniqueKeysWithValues: shown.map { ($0.id, $0.name) })
        return LayoutScene(
            cameras: shown.filter(\.isSource).map(\.id), presenters: presenters.filter { names[$0] != nil },
            speakers: speaker.recentSpeakers, names: names)
    }

    /// A layout about someone who has left is none: `setLayout` and `remove` see to it that there is no such.
    private func compositionLayout(_ arrangement: LayoutArrangement) -> Layout {
        let subject = arrangement.participant.flatMap { id in participants.first { $0.publicID == id }?.id }
        return switch arrangement {
        case .grid: .grid
        case .speaker: .speaker
        case .sideBySide: .sideBySide
        case .pictureInPicture: .pictureInPicture
        case .presentation: .presentation
        case .pinned: subject.map(Layout.pinned) ?? .speaker
        case .solo: subject.map(Layout.solo) ?? .speaker
        case .template(let template): .template(template, images: configuration.images)
        }
    }

    // MARK: Sources

    /// What the sources of a plan show now.
    func compositionSources(_ plan: ViewPlan, now: MonotonicInstant) -> [SourceID: CompositionSource] {
        var sources: [SourceID: CompositionSource] = [:]
        sources.reserveCapacity(plan.requiredSources.count)
        for id in plan.requiredSources {
            if let source = compositionSource(id, now: now) {
                sources[id] = source
                // It is there again, or was not quite gone.
                exiting.remove(id)
            } else {
                sources[id] = exiting[id]
            }
        }
        return sources
    }

    /// What a source shows; nil where it is no more.
    private func compositionSource(_ id: SourceID, now: MonotonicInstant) -> CompositionSource? {
        guard let participant = participant(id.participant), participant.sends(id.content) else { return nil }
        return CompositionSource(
            id: id, name: participant.name, content: tileContent(id.content, of: participant, now: now),
            decoration: decoration(id.content, of: participant))
    }

    /// Keeps what a source shows that is about to end, for where it still fades out.
    func keepDeparting(_ content: SourceContent, of participant: Participant, now: MonotonicInstant) {
        let id = SourceID(participant: participant.id, content: content)
        guard viewPlan?.requiredSources.contains(id) == true, let source = compositionSource(id, now: now) else {
            return
        }
        exiting.insert(source)
    }

    private func tileContent(
        _ content: SourceContent, of participant: Participant, now: MonotonicInstant
    ) -> TileContent {
        guard let pipeline = participant.pipeline(for: content), let silence = pipeline.silence(now: now),
            let time = pipeline.newestTime
        else { return .placeholder(avatar: participant.avatar) }
        // A screen on which nothing moves is not sent again and again; its stream's end is what ends it.
        let isScreen = content == .screenShare
        if !isScreen, silence > configuration.silentAfter || !participant.cameraIsOn { pipeline.forgetPicture() }
        guard let picture = pipeline.newest else { return .placeholder(avatar: participant.avatar) }
        // Of one whom nobody saw, what is shown until the next keyframe is no older than that of one who fell silent.
        guard isScreen || now - time <= configuration.silentAfter else {
            return .placeholder(avatar: participant.avatar)
        }
        return .picture(
            picture, rotation: pipeline.rotation, isStale: !isScreen && silence > configuration.staleAfter)
    }

    /// A microphone that is off is told of where the participant is seen, not where their screen is.
    private func decoration(_ content: SourceContent, of participant: Participant) -> TileDecoration? {
        guard configuration.labels else { return nil }
        return switch content {
        case .screenShare: TileDecoration(icons: .screen)
        case .camera:
            TileDecoration(
                icons: participant.sendsAudio && participant.microphoneIsOn ? [] : .microphoneMuted,
                isSpeaking: speaker.isSpeaking(participant.id))
        }
    }
}

extension CompositionView {
    /// A screen that takes this much of the canvas is what is looked at.
    private static let leadingShare = 0.25

    /// What is to be kept of the picture where something must give way.
    func preference(on canvas: VideoDimensions) -> Ladder.DegradationPreference {
        let least = Double(canvas.area) * Self.leadingShare
        return layers.contains { $0.source.content == .screenShare && Double($0.rect.dimensions.area) >= least }
            ? .detail : .motion
    }
}
