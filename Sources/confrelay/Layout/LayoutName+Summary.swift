import RoomAPI

extension LayoutMode.Name {
    /// The layout in a few words.
    var summary: String {
        switch self {
        case .grid: "all participants in tiles of one size"
        case .speaker: "the speaker large, the others in a strip"
        case .sideBySide: "the last two speakers, or a screen share and the speaker, each on half of the canvas"
        case .pictureInPicture: "the speaker or a screen share on the whole canvas, the next one in its corner"
        case .presentation: "a screen share large, the others in a strip"
        case .pinned: "one participant large, the others in a strip (--participant)"
        case .solo: "one participant alone (--participant)"
        case .template: "a custom layout, from a file"
        }
    }
}
