import MediaCore

/// The layouts of one source or two.
enum PairLayout {
    /// The part of the canvas on which tiles can lie; nil if none fits.
    static func whole(_ canvas: VideoDimensions) -> PixelRect? {
        let whole = PixelRect(x: 0, y: 0, width: canvas.width & ~1, height: canvas.height & ~1)
        return whole.isEmpty ? nil : whole
    }

    /// The left and the right half, or the upper and the lower one on an upright canvas.
    static func sideBySide(_ scene: LayoutScene, canvas: VideoDimensions) -> [CompositionLayer] {
        guard let whole = whole(canvas), var pair = pair(of: scene) else { return [] }
        guard let second = pair.second else { return [CompositionLayer(source: pair.first, rect: whole)] }
        if pair.first.content == .camera, let order = order(of: [pair.first, second], in: scene) {
            pair = (order[0], order[1])
        }
        var (left, right) = (whole, whole)
        if whole.width >= whole.height {
            left.width = whole.width / 2 & ~1
            right.x = left.maxX
            right.width -= left.width
        } else {
            left.height = whole.height / 2 & ~1
            right.y = left.maxY
            right.height -= left.height
        }
        guard !left.isEmpty else { return [CompositionLayer(source: pair.first, rect: whole)] }
        return [tile(pair.first, half: left), tile(pair.second ?? second, half: right)]
    }

    /// A small tile in the lower right corner of a large one.
    static func pictureInPicture(_ scene: LayoutScene, canvas: VideoDimensions) -> [CompositionLayer] {
        guard let whole = whole(canvas), let pair = pair(of: scene) else { return [] }
        let large = CompositionLayer(source: pair.first, rect: whole)
        let width = whole.width / (whole.width >= whole.height ? 4 : 3) & ~1
        let height = width * 9 / 16 & ~1
        let margin = min(whole.width, whole.height) / 36 & ~1
        let inset = PixelRect(
            x: whole.maxX - margin - width, y: whole.maxY - margin - height, width: width, height: height)
        guard let second = pair.second, !inset.isEmpty, whole.contains(inset) else { return [large] }
        return [large, CompositionLayer(source: second, rect: inset)]
    }

    /// The two most important sources: the screen share and the speaker, or the speaker and the speaker before.
    private static func pair(of scene: LayoutScene) -> (first: SourceID, second: SourceID?)? {
        guard let first = scene.leadingSource else { return nil }
        return (first, scene.camerasByImportance.lazy.map(SourceID.camera).first { $0 != first })
    }

    /// Sorts the pair in the cameras' order, so that two people who talk to each other stay in their places.
    private static func order(of pair: [SourceID], in scene: LayoutScene) -> [SourceID]? {
        let ordered = scene.cameras.map(SourceID.camera).filter(pair.contains)
        return ordered.count == 2 ? ordered : nil
    }

    /// Makes the tile of one half. Half of a canvas is narrow for a camera, so the camera is cropped; a screen share is
    /// shown whole.
    private static func tile(_ source: SourceID, half: PixelRect) -> CompositionLayer {
        CompositionLayer(source: source, rect: half, fit: source.content == .camera ? .cover : .contain)
    }
}
