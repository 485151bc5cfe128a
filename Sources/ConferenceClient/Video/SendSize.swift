import MediaCore

/// The sizes in which a client sends its picture: few, so that small changes of a tile change nothing.
enum SendSize {
    /// Parts of the source's width and height, in quarters, the smallest first.
    static let quarters = [1, 2, 3, 4]

    /// The smallest of the sizes that covers a tile; of a tile of nothing the smallest of all.
    static func dimensions(of source: VideoDimensions, in tile: VideoDimensions) -> VideoDimensions {
        for part in quarters.dropLast() {
            let size = scaled(source, quarters: part)
            // A picture that fills its tile is as wide or as high as that; one that stands whole within it is less.
            if size.width >= tile.width || size.height >= tile.height { return size }
        }
        return source
    }

    /// A part of a picture's size, even, and no smaller than encoders take.
    static func scaled(_ source: VideoDimensions, quarters: Int) -> VideoDimensions {
        guard quarters < 4 else { return source }
        return VideoDimensions(
            width: min(source.width, max(32, source.width * quarters / 8 * 2)),
            height: min(source.height, max(32, source.height * quarters / 8 * 2)))
    }
}
