/// The QP of frames after a coarse keyframe, until pictures are as good as they were.
///
/// At once, the next frame would be as large as the keyframe was not to be. A step finer codes what the step before
/// left out, a part of the difference; several steps at once cost nearly as much as all of it. So the QP falls by one
/// or two a frame, as long as frames take no more than is due to them, and what is left over is not made up for.
struct QPRamp {
    /// What is due to a frame of the lowest layer is this many times the mean: upper ones take less.
    private static let lowestLayerShare = 1.4
    private static let range = 0...51

    private let layers: Int
    /// What the library's own rate control used last, for a frame of the lowest layer.
    private var usual = 34
    /// What the next frame of the lowest layer is to be quantised with; nil while the library decides.
    private var wanted: Int?

    init(layers: Int) {
        self.layers = layers
    }

    private var hasLayers: Bool { layers > 1 }

    /// By how much finer than requested the library quantises frames of the lowest of several temporal layers,
    /// keyframes among them.
    private var cascade: Int { hasLayers ? layers + 1 : 0 }

    /// What to ask the library for; nil while its own rate control decides.
    var request: Int? { wanted.map(request(for:)) }

    /// What to ask the library for, for a frame of the lowest layer with a QP.
    func request(for qp: Int) -> Int { min(qp + cascade, Self.range.upperBound) }

    /// A frame of which the library chose the QP.
    mutating func observeUsual(_ frame: SliceSummary, layer: Int) {
        guard layer == 0, let qp = frame.qp else { return }
        usual = qp
    }

    /// A frame of which the QP was given.
    ///
    /// - Parameters:
    ///   - bytes: What it took.
    ///   - share: The bytes that are due to each frame.
    mutating func observe(_ frame: SliceSummary, layer: Int, bytes: Int, share: Double) {
        // Frames of an upper layer improve nothing for those that follow.
        guard layer == 0, let qp = frame.qp else { return }
        let due = share * (hasLayers ? Self.lowestLayerShare : 1)
        let step = frame.type == .idr ? -1 : Self.step(Double(bytes) / max(1, due))
        let next = min(max(qp + step, Self.range.lowerBound), Self.range.upperBound)
        wanted = next > usual ? next : nil
    }

    /// - Parameter ratio: Of what a frame took to what is due to it.
    private static func step(_ ratio: Double) -> Int {
        switch ratio {
        case ..<0.5: -2
        case ..<1: -1
        case ..<1.6: 0
        case ..<3: 1
        default: 2
        }
    }
}
