import MediaCore
import MediaFiles
import RoomAPI
import Testing

@testable import RoomMedia

/// The chapters and captions of a film.
@Suite("The story of a film") struct ArchiveStoryTests {
    private func person(_ id: String, _ name: String, sharing: Bool = false) -> RecordedParticipant {
        RecordedParticipant(
            id: id, name: name, microphone: true, camera: true, screenShare: sharing, isSpeaking: false)
    }

    private func story(_ entries: [(Double, RecordingTimelineEntry.Event)], duration: Double = 600) -> ArchiveStory {
        ArchiveStory(entries.map { RecordingTimelineEntry(at: $0.0, $0.1) }, start: 0, duration: duration)
    }

    @Test("has a chapter for who comes, leaves, shares, and speaks for long; what is close together shares one")
    func chapters() {
        let story = story([
            (0, .joined(person("a", "Ada"))), (3, .joined(person("b", "Ben"))),
            (20, .speaker(participant: "a")), (22, .speaker(participant: "b")), (60, .speaker(participant: nil)),
            (100, .changed(person("b", "Ben", sharing: true))), (101, .changed(person("b", "Ben", sharing: true))),
            (300, .left(participant: "b")),
        ])
        #expect(
            story.chapters == [
                MovieChapter(start: .zero, title: "Ada, Ben join"),
                MovieChapter(start: .seconds(22), title: "Ben speaks"),
                MovieChapter(start: .seconds(100), title: "Ben shares the screen"),
                MovieChapter(start: .seconds(300), title: "Ben leaves"),
            ])
    }

    @Test("has a caption for each turn of speech, under the name that the speaker had")
    func captions() {
        let story = story([
            (0, .joined(person("a", "Ada"))), (10, .speaker(participant: "a")), (11, .changed(person("a", "Ada L"))),
            (12.5, .left(participant: "a")),
        ])
        #expect(
            story.captions == [
                WebVTTCue(start: 0, end: 4, voice: "Ada", text: "Ada joins"),
                WebVTTCue(start: 10, end: 12.5, voice: "Ada L", text: "Ada L speaks"),
                WebVTTCue(start: 12.5, end: 16.5, voice: "Ada L", text: "Ada L leaves"),
            ])
    }

    @Test("begins at the film's beginning, whenever the first thing happens")
    func beginning() {
        let chapters = story([(50, .joined(person("a", "Ada")))]).chapters
        #expect(chapters.map(\.title) == ["Beginning", "Ada joins"])
        #expect(chapters.map(\.start) == [.zero, .seconds(50)])
        #expect(story([]).chapters.isEmpty)
    }

    @Test("has no more chapters than a list can show, however much happens")
    func bound() {
        let entries = (0..<3000).flatMap { index in
            [
                (Double(index) * 12, RecordingTimelineEntry.Event.joined(person("p\(index)", "P\(index)"))),
                (Double(index) * 12 + 6, .left(participant: "p\(index)")),
            ]
        }
        let chapters = story(entries, duration: 36_000).chapters
        #expect((20...100).contains(chapters.count))
        #expect(chapters.allSatisfy { $0.title.count <= 80 && !$0.title.isEmpty })
    }
}
