import AudioMixing
import Compositing
import MediaCore

extension Room {
    /// Who is sent which picture as things are.
    func makeViewPlan() -> ViewPlan {
        var plan = ViewPlan()
        for receiver in participants {
            guard let canvas = receiver.downlink?.dimensions else { continue }
            plan.add(CompositionRequest(canvas: canvas, layers: layers(for: receiver, canvas: canvas)), for: receiver.id)
        }
        return plan
    }

    /// What a receiver is shown, by what is chosen for them or else for the room.
    private func layers(for receiver: Participant, canvas: VideoDimensions) -> [CompositionLayer] {
        let arrangement = receiver.layout?.arrangement ?? layout.arrangement
        let layers = compositionLayout(arrangement).layers(of: scene(for: receiver), canvas: canvas)
        guard let fit = receiver.layout?.fit ?? layout.fit else { return layers }
        return layers.map { layer in
            // Of a screen all must be seen.
            guard layer.source.content == .camera else { return layer }
            var layer = layer
            layer.fit.mode = fit
            return layer
        }
    }

    /// Whom a receiver can be shown. Without a self-view that is everyone else: neither one's own face nor the screen
    /// that one presents, on which the picture may be. Who is hidden is as if they sent no video.
    private func scene(for receiver: Participant) -> LayoutScene {
        let showsSelf = (receiver.layout?.selfView ?? receiver.selfView) == .always
        let hidden = layout.hidden + (receiver.layout?.hidden ?? [])
        let shown = participants.filter { (showsSelf || $0 !== receiver) && !hidden.contains($0.publicID) }
        let shownIDs = Set(shown.map(\.id))
        return LayoutScene(
            cameras: shown.filter(\.isSource).map(\.id), presenters: presenters.filter(shownIDs.contains),
            speakers: speaker.recentSpeakers)
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
        }
    }

    /// Tells which sources' tiles have another size now.
    func announceTiles(of plan: ViewPlan) {
        for participant in participants {
            for content in SourceContent.allCases where participant.sends(content) {
                let source = SourceID(participant: participant.id, content: content)
                let size = plan.tiles[source] ?? VideoDimensions(width: 0, height: 0)
                guard participant.announcedTiles[content] != size else { continue }
                participant.announcedTiles[content] = size
                emit(.tileChanged(id: participant.publicID, content: content, size))
            }
        }
    }
}
