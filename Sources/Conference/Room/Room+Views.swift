import AudioMixing
import Compositing
import MediaCore

extension Room {
    /// Who is sent which picture as things are.
    func makeViewPlan() -> ViewPlan {
        var plan = ViewPlan()
        for receiver in participants {
            guard let canvas = receiver.downlink?.dimensions else { continue }
            let layout = compositionLayout(receiver.layout ?? layout)
            let tiles = layout.layers(of: scene(for: receiver), canvas: canvas)
            plan.add(CompositionRequest(canvas: canvas, tiles: tiles), for: receiver.id)
        }
        return plan
    }

    /// Whom a receiver can be shown. Without a self-view that is everyone else: neither one's own face nor the screen
    /// that one presents, on which the picture may be.
    private func scene(for receiver: Participant) -> LayoutScene {
        let showsSelf = encoding.showsSelf(receiver)
        return LayoutScene(
            cameras: participants.filter { $0.isSource && (showsSelf || $0 !== receiver) }.map(\.id),
            presenters: presenters.filter { showsSelf || $0 != receiver.id }, speakers: speaker.recentSpeakers)
    }

    /// A layout about someone who has left is none: `setLayout` and `remove` see to it that there is no such.
    private func compositionLayout(_ layout: RoomLayout) -> Layout {
        let subject = layout.participant.flatMap { publicID in participants.first { $0.publicID == publicID }?.id }
        return switch layout {
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
