import Compositing
import MediaCore

/// The layouts that need no template, by the names that JSON has for them.
enum BuiltInLayout: String, CaseIterable {
    case grid, speaker
    case sideBySide = "side-by-side"
    case pictureInPicture = "picture-in-picture"
    case presentation, pinned, solo

    /// What it looks like, in a few words.
    var summary: String {
        switch self {
        case .grid: "all in tiles of one size"
        case .speaker: "who speaks is large, the others stand in a strip"
        case .sideBySide: "who speaks and who spoke before, or a screen and who speaks, each on half of the canvas"
        case .pictureInPicture: "who speaks, or a screen, on the whole canvas, the next one in its corner"
        case .presentation: "a screen is large, the others stand in a strip"
        case .pinned: "one participant is large, the others stand in a strip (--participant)"
        case .solo: "one participant alone (--participant)"
        }
    }

    /// - Parameter participant: Whom it is about, where it is about somebody.
    func layout(about participant: ParticipantID) -> Layout {
        switch self {
        case .grid: .grid
        case .speaker: .speaker
        case .sideBySide: .sideBySide
        case .pictureInPicture: .pictureInPicture
        case .presentation: .presentation
        case .pinned: .pinned(participant)
        case .solo: .solo(participant)
        }
    }
}
