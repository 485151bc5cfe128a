import Compositing
import EncoderSharing
import MediaCore
import RoomAPI

/// A room's members, layout and overlays: all that pictures are planned by.
struct RoomScene {
    var layout: RoomLayout
    /// The marks in members' pictures, which tell them something.
    var marks: [CompositionOverlay] = []
    /// Images, texts and clocks above everybody's picture.
    var overlays: [CompositionOverlay]
    /// The members in the order of joining.
    var members: [Member]
    /// The members that share a screen, the newest last.
    var presenters: [ParticipantID]
    /// The members that spoke, the latest first.
    var speakers: [ParticipantID]

    struct Member {
        var id: ParticipantID
        var publicID: String
        var name: String
        /// True if the member has a tile. A join that has not connected has none: it proves nothing about its client.
        var isSource: Bool
        /// Its own choice of layout; nil: it follows the room.
        var layout: ParticipantLayout?
        /// True if the member's own tiles are in its picture.
        var showsSelf: Bool
        /// The size of its whole picture; nil if it is sent no video.
        var canvas: VideoDimensions?
        /// True if pictures are composed for the member.
        var isComposed: Bool
        /// True if anything can be sent to the member.
        var mayBeSent: Bool
        /// False for a composite, which is no person: others neither see it nor are told of it.
        var isPerson = true
    }

    /// A receiver's view, by its own choice of layout or else the room's.
    func view(for receiver: Member, canvas: VideoDimensions, images: ImageLibrary) -> CompositionView {
        let mode = receiver.layout?.mode ?? layout.mode
        let fit = receiver.layout?.fit ?? layout.fit ?? .contain
        let layout = mode.layout(images: images) { id in members.first { $0.publicID == id }?.id }
        var view = layout.view(
            of: layoutScene(for: receiver), canvas: canvas, fit: fit)
        view.overlays += (receiver.isPerson ? marks : []) + overlays
        return view
    }

    /// The members that a receiver can see. Without self-view these are all others: neither its own camera nor its own
    /// screen share, which may show the picture itself. A hidden member counts as one without video.
    private func layoutScene(for receiver: Member) -> LayoutScene {
        let hidden = layout.hidden + (receiver.layout?.hidden ?? [])
        let shown = members.filter {
            $0.isPerson && (receiver.showsSelf || $0.id != receiver.id) && !hidden.contains($0.publicID)
        }
        let names = Dictionary(uniqueKeysWithValues: shown.map { ($0.id, $0.name) })
        return LayoutScene(
            cameras: shown.filter(\.isSource).map(\.id), presenters: presenters.filter { names[$0] != nil },
            speakers: speakers, names: names)
    }
}

extension CompositionView {
    /// A screen share that takes this part of the canvas is the main content.
    private static let leadingShare = 0.25

    /// Returns the preference for motion or detail at low bitrates.
    func preference(on canvas: VideoDimensions) -> Ladder.DegradationPreference {
        let least = Double(canvas.area) * Self.leadingShare
        return layers.contains { $0.source.content == .screenShare && Double($0.rect.dimensions.area) >= least }
            ? .detail : .motion
    }

    /// The part of the picture's samples that each source takes.
    var shares: [(source: SourceID, share: Double)] {
        let whole = layers.reduce(0) { $0 + $1.rect.dimensions.area }
        return layers.map { ($0.source, Double($0.rect.dimensions.area) / Double(max(whole, 1))) }
    }
}
