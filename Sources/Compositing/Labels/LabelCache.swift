import PixelTransfer

/// Labels as bitmaps, each drawn once and kept while it is in use.
///
/// Composing asks for every label in every picture. A label that is not in the cache is drawn at once, on the worker
/// that composes, but only a few in one pass: most take a fraction of a millisecond, but Pango may have to load fonts,
/// many for a name that mixes scripts. The others are missing in this picture and drawn in the next ones. So neither a
/// room that fills at once nor hostile names delay a picture by more than a few labels.
///
/// A cache belongs to one caller at a time.
struct LabelCache {
    /// The memory of the cache in bytes: about 300 labels of 200x24.
    static let defaultCapacity = 8 << 20
    /// The number of labels that are drawn in one pass.
    static let rendersPerPass = 2

    /// The state of a label in the cache.
    enum Answer {
        /// The label has nothing to show.
        case nothing
        case drawn(DrawnLabel)
        /// The label is not drawn in this pass, for want of time.
        case later
    }

    /// Labels that turned out to be nothing are kept as nil.
    private var labels: RecentlyUsed<Label, DrawnLabel?>
    private var rendersLeft = Self.rendersPerPass
    /// The number of labels that were drawn.
    private(set) var renderCount = 0

    /// - Parameter capacity: The memory of the kept labels, in bytes.
    init(capacity: Int = defaultCapacity) {
        labels = RecentlyUsed(capacity: capacity)
    }

    /// Begins a pass: as many labels as a pass may draw may be drawn again.
    mutating func beginPass() { rendersLeft = Self.rendersPerPass }

    mutating func label(_ label: Label) -> Answer {
        if let known = labels.use(label) { return known.map(Answer.drawn) ?? .nothing }
        guard rendersLeft > 0 else { return .later }
        rendersLeft -= 1
        renderCount += 1
        let drawn = LabelRenderer.render(label).map { DrawnLabel(label: label, bitmap: $0) }
        labels.keep(drawn, for: label, cost: (drawn?.bitmap.byteCount ?? 0) + label.text.utf8.count + 256)
        return drawn.map(Answer.drawn) ?? .nothing
    }

    /// The size of the labels kept, in bytes.
    var byteCount: Int { labels.cost }
}
