import PixelTransfer

/// Labels as bitmaps, each drawn once and kept while it is in use.
///
/// Composing asks for every label in every picture and gets what is kept. A label that is not there is drawn when it is
/// asked for, on the worker that composes, but only so many in one pass: most take a fraction of a millisecond, but
/// Pango may have to load fonts, many for a name that mixes scripts. The others are missing from this one picture and
/// drawn in the next ones. So neither a room that fills at once nor hostile names hold up a picture by more than a few
/// labels.
///
/// Belongs to one caller at a time.
struct LabelCache {
    /// What the labels kept may take in all; about 300 of them, at 200x24.
    static let defaultCapacity = 8 << 20
    /// How many labels are drawn in one pass.
    static let rendersPerPass = 2

    /// What there is of a label.
    enum Answer {
        /// There is nothing to show of it.
        case nothing
        case drawn(DrawnLabel)
        /// There is no time for it in this pass.
        case later
    }

    /// Labels that turned out to be nothing are kept as nil.
    private var labels: RecentlyUsed<Label, DrawnLabel?>
    private var rendersLeft = Self.rendersPerPass
    /// How many were drawn.
    private(set) var renderCount = 0

    /// - Parameter capacity: What the labels kept may take, in bytes.
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
