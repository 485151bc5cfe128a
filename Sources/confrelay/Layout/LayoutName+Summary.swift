import RoomAPI

extension LayoutMode.Name {
    /// The layout in a few words.
    var summary: String {
        switch self {
        case .grid: "all in tiles of one size"
        case .speaker: "who speaks is large, the others stand in a strip"
        case .sideBySide: "who speaks and who spoke before, or a screen and who speaks, each on half of the canvas"
        case .pictureInPicture: "who speaks, or a screen, on the whole canvas, the next one in its corner"
        case .presentation: "a screen is large, the others stand in a strip"
        case .pinned: "one participant is large, the others stand in a strip (--participant)"
        case .solo: "one participant alone (--participant)"
        case .template: "a layout of one's own, from a file"
        }
    }
}
