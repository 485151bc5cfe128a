import MediaCore

/// A chapter of a movie: it goes on until the next one begins.
public struct MovieChapter: Hashable, Sendable {
    public var start: Duration
    public var title: String

    public init(start: Duration, title: String) {
        self.start = start
        self.title = title
    }

    /// The largest number of chapters of a movie: its list counts them in one byte.
    public static let mostInMovie = 255
    /// The most bytes of a title: its length is one byte.
    private static let longestTitle = 255

    /// The title as far as a movie's list can hold it.
    var shortTitle: String {
        var title = title
        while title.utf8.count > Self.longestTitle { title.removeLast() }
        return title
    }

    /// About how much the list takes in the file: a track of text with an index of its own, and a list for players that
    /// look for no such track.
    static func size(of chapters: [MovieChapter]) -> Int {
        guard !chapters.isEmpty else { return 0 }
        return chapters.prefix(mostInMovie).reduce(620) { $0 + 2 * $1.shortTitle.utf8.count + 55 }
    }
}
