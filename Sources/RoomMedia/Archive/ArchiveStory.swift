import MediaCore
import MediaFiles
import RoomAPI

/// The events of a film, for its chapters and its captions: people come, leave, share a screen and speak.
struct ArchiveStory {
    /// Something that happened, in seconds since the film's beginning.
    struct Moment: Hashable {
        var start: Double
        /// Until when it is told.
        var end: Double
        var person: String
        var deed: String
        /// True if a chapter begins with it.
        var isTurn: Bool
    }

    /// The time for which a caption about a moment stays.
    private static let captionDuration = 4.0
    /// Somebody who speaks for this time begins a chapter.
    private static let chapterSpeech = 15.0
    /// Somebody who speaks for this time gets a caption.
    private static let captionSpeech = 0.5
    /// An event so soon after the beginning of a chapter belongs to it.
    private static let chapterSpacing = 10.0
    /// Longer lists of chapters are no help: what is close to each other is put together.
    private static let mostChapters = 100
    private static let longestTitle = 80

    private let duration: Double
    private var moments: [Moment] = []
    private var names: [String: String] = [:]
    private var presenters: Set<String> = []
    private var speech: (participant: String, since: Double)?

    /// - Parameter start: The time of the recording at which the film begins.
    init(_ entries: [RecordingTimelineEntry], start: Double, duration: Double) {
        self.duration = duration
        for entry in entries { take(entry.event, at: min(max(0, entry.at - start), duration)) }
        endSpeech(at: duration)
        moments = moments.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element)
    }

    private mutating func take(_ event: RecordingTimelineEntry.Event, at time: Double) {
        switch event {
        case .joined(let participant), .changed(let participant):
            if names.updateValue(participant.name, forKey: participant.id) == nil {
                tell(participant.id, "joins", at: time)
            }
            if participant.screenShare {
                if presenters.insert(participant.id).inserted { tell(participant.id, "shares the screen", at: time) }
            } else {
                presenters.remove(participant.id)
            }
        case .left(let id):
            if speech?.participant == id { endSpeech(at: time) }
            tell(id, "leaves", at: time)
            names[id] = nil
            presenters.remove(id)
        case .speaker(let id):
            guard id != speech?.participant else { return }
            endSpeech(at: time)
            if let id { speech = (id, time) }
        case .layout, .file, .fileEnded, .gap, .rotation, .anchored, .ended, .unknown: return
        }
    }

    private mutating func tell(_ id: String, _ deed: String, at time: Double) {
        guard let name = names[id] else { return }
        moments.append(
            Moment(
                start: time, end: min(time + Self.captionDuration, duration), person: Self.readable(name), deed: deed,
                isTurn: true))
    }

    private mutating func endSpeech(at time: Double) {
        guard let (id, since) = speech else { return }
        speech = nil
        guard let name = names[id], time - since >= Self.captionSpeech else { return }
        moments.append(
            Moment(
                start: since, end: time, person: Self.readable(name), deed: "speaks",
                isTurn: time - since >= Self.chapterSpeech))
    }

    private static func readable(_ name: String) -> String { name.isEmpty ? "Somebody" : name }

    /// The captions that players show or list beside the film.
    var captions: [WebVTTCue] {
        moments.filter { $0.end > $0.start }.map { moment in
            WebVTTCue(
                start: moment.start, end: moment.end, voice: moment.person, text: "\(moment.person) \(moment.deed)")
        }
    }

    /// The film's parts; none if nothing happens.
    var chapters: [MovieChapter] {
        let turns = moments.filter { $0.isTurn && $0.start < duration }
        var spacing = Self.chapterSpacing
        var groups = Self.groups(turns, spacing: spacing)
        while groups.count > Self.mostChapters {
            spacing *= 2
            groups = Self.groups(turns, spacing: spacing)
        }
        var chapters = groups.map { group in
            MovieChapter(start: .seconds(clamping: group[0].start), title: Self.title(of: group))
        }
        if let first = chapters.first, first.start > .zero {
            chapters.insert(MovieChapter(start: .zero, title: "Beginning"), at: 0)
        }
        return chapters
    }

    private static func groups(_ turns: [Moment], spacing: Double) -> [[Moment]] {
        turns.reduce(into: []) { groups, moment in
            if let first = groups.last?.first, moment.start - first.start < spacing {
                groups[groups.count - 1].append(moment)
            } else {
                groups.append([moment])
            }
        }
    }

    /// Says who does what in a group of moments, each deed once: "Ada, Ben join; Cleo speaks".
    private static func title(of moments: [Moment]) -> String {
        var deeds: [(deed: String, people: [String])] = []
        for moment in moments {
            if let index = deeds.firstIndex(where: { $0.deed == moment.deed }) {
                if !deeds[index].people.contains(moment.person) { deeds[index].people.append(moment.person) }
            } else {
                deeds.append((moment.deed, [moment.person]))
            }
        }
        let title = deeds.map { deed, people in
            "\(people.joined(separator: ", ")) \(people.count > 1 ? plural(deed) : deed)"
        }.joined(separator: "; ")
        return title.count > longestTitle ? title.prefix(longestTitle - 1) + "…" : title
    }

    private static func plural(_ deed: String) -> String {
        switch deed {
        case "joins": "join"
        case "leaves": "leave"
        case "speaks": "speak"
        default: "share their screens"
        }
    }
}
