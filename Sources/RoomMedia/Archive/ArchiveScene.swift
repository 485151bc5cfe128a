import Compositing
import MediaCore
import RoomAPI

/// The room of a recording at a time: who is there, who speaks, who shares a screen, and how all are laid out.
///
/// Entries take effect at the first frame of the film that is not before them. Going through them again, from the
/// beginning to any frame, gives the same picture.
struct ArchiveScene {
    private let entries: [RecordingTimelineEntry]
    private let canvas: VideoDimensions
    private let frameRate: Int
    /// The layout that is shown whatever the room's was; nil: the room's.
    private let layoutChoice: LayoutMode?
    private let ids: [String: ParticipantID]
    /// The participants of whom there is a camera or audio track.
    private let sources: Set<String>

    private var next = 0
    private var director: CompositionDirector
    private var participants: [RecordedParticipant] = []
    private var former: [String: RecordedParticipant] = [:]
    private var speakers: [String] = []
    private var presenters: [String] = []
    private var layout = RoomLayout.grid
    private var rotations: [RecordingTrack: VideoRotation] = [:]

    /// - Parameter start: The time of the recording at which the film begins.
    init(
        _ recording: RecordingReader, canvas: VideoDimensions, frameRate: Int, layout: LayoutMode?, start: Double
    ) {
        entries = recording.entries.map { entry in
            RecordingTimelineEntry(at: max(0, entry.at - start), entry.event)
        }
        self.canvas = canvas
        self.frameRate = frameRate
        layoutChoice = layout
        var ids: [String: ParticipantID] = [:]
        for entry in recording.entries {
            guard case .joined(let participant) = entry.event, ids[participant.id] == nil else { continue }
            ids[participant.id] = ParticipantID(rawValue: UInt64(ids.count) + 1)
        }
        self.ids = ids
        sources = Set(recording.files.compactMap(\.track.participant))
        director = CompositionDirector(canvas: canvas, transitions: .standard)
    }

    /// Takes in what happened until a frame of the film.
    mutating func advance(to frame: Int) {
        while next < entries.count, tick(of: entries[next]) <= frame {
            let tick = tick(of: entries[next])
            while next < entries.count, self.tick(of: entries[next]) == tick {
                take(entries[next].event)
                next += 1
            }
            director.show(view, at: MediaTime(value: Int64(tick), timescale: Int32(clamping: frameRate)))
        }
    }

    private func tick(of entry: RecordingTimelineEntry) -> Int {
        // A microsecond is what the timeline rounds to.
        Int(((entry.at - 1e-6) * Double(frameRate)).rounded(.up))
    }

    private mutating func take(_ event: RecordingTimelineEntry.Event) {
        switch event {
        case .joined(let participant), .changed(let participant):
            if let index = participants.firstIndex(where: { $0.id == participant.id }) {
                participants[index] = participant
            } else {
                participants.append(participant)
            }
            former[participant.id] = participant
            if participant.screenShare != presenters.contains(participant.id) {
                if participant.screenShare {
                    presenters.append(participant.id)
                } else {
                    presenters.removeAll { $0 == participant.id }
                }
            }
        case .left(let id):
            participants.removeAll { $0.id == id }
            presenters.removeAll { $0 == id }
            speakers.removeAll { $0 == id }
        case .speaker(let id?):
            speakers.removeAll { $0 == id }
            speakers.insert(id, at: 0)
        case .layout(let layout): self.layout = layout
        case .rotation(let track, let degrees):
            rotations[track] = VideoRotation(rawValue: UInt8(clamping: degrees / 90)) ?? VideoRotation.none
        case .speaker(nil), .file, .fileEnded, .gap, .anchored, .ended, .unknown: return
        }
    }

    private var view: CompositionView {
        let shown = participants.filter { !layout.hidden.contains($0.id) && sources.contains($0.id) }
        let numbers = { (ids: [String]) in ids.compactMap { id in self.ids[id] } }
        let mode = layoutChoice ?? layout.mode
        let names = Dictionary(
            uniqueKeysWithValues: shown.compactMap { person in ids[person.id].map { ($0, person.name) } })
        let scene = LayoutScene(
            cameras: numbers(shown.map(\.id)), presenters: numbers(presenters).filter { names[$0] != nil },
            speakers: numbers(speakers), names: names)
        return mode.layout(images: ImageLibrary()) { ids[$0] }.view(
            of: scene, canvas: canvas, fit: layout.fit ?? .contain)
    }

    /// The picture to be rendered at a time, which `advance` has reached.
    func instruction(at time: MediaTime) -> CompositionInstruction { director.instruction(at: time) }

    /// A source as it is to be drawn, but for its picture.
    func source(
        _ id: SourceID, picture: (RecordingTrack) -> PixelBuffer?
    ) -> CompositionSource? {
        guard let publicID = ids.first(where: { $0.value == id.participant })?.key, let person = former[publicID] else {
            return nil
        }
        let track = RecordingTrack(
            participant: publicID, content: id.content == .camera ? .camera : .screenShare)
        let isShown = id.content == .screenShare || person.camera
        let content: TileContent =
            if isShown, let picture = picture(track) {
                .picture(picture, rotation: rotations[track] ?? .none, isStale: false)
            } else {
                .placeholder()
            }
        let decoration =
            id.content == .screenShare
            ? TileDecoration(icons: .screen)
            : TileDecoration(icons: person.microphone ? [] : .microphoneMuted, isSpeaking: person.isSpeaking)
        return CompositionSource(id: id, name: person.name, content: content, decoration: decoration)
    }
}
