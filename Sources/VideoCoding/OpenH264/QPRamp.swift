/// The QP of frames after a coarse keyframe, until pictures are as good as before.
///
/// With the normal QP at once, the next frame would be as large as the keyframe must not be. A step of one QP codes a
/// part of the remaining difference; several steps at once cost nearly as much as all of it. So the QP falls by one or
/// two a frame, while frames take no more than their share; unused bits are not made up for.
///
/// A still picture, such as a page of text, is an exception: its frames of upper layers take nearly nothing, and would
/// leave most of the rate unused. Its frames of the lowest layer may take the share of all, and the QP falls by up to
/// four.
///
/// No step is so large that its frame would probably exceed its bound. That frame would be made again as a keyframe,
/// which is as coarse as the first one.
struct QPRamp {
    /// The share of a frame of the lowest layer, as a multiple of the mean: upper ones take less.
    private static let lowestLayerShare = 1.4
    /// The mean size of a still picture's frames of upper layers at most, as a part of the next one of the lowest.
    private static let stillPart = 1.0 / 6
    /// The part of its bound that a frame may take if a step takes what the last one did. Often it takes twice that.
    private static let boundShare = 0.4
    /// The least bound of a frame that is finer by one step, as a multiple of the bytes of the last step, once letters
    /// are legible. Until then the step is worth the risk of a keyframe.
    private static let leastBound = 1.5
    private static let legibleQP = 30
    /// The finest QP of a still picture.
    private static let finestStill = 20
    private static let range = 0...51

    private let layers: Int
    /// The last QP of the library's own rate control for a frame of the lowest layer.
    private var usual = 34
    /// The QP of the next frame of the lowest layer; nil while the library decides.
    private var wanted: Int?
    /// The bytes of the frames of upper layers since the last one of the lowest.
    private var upperBytes = 0
    /// The finest QP of the lowest layer since the keyframe, and the bytes that its last step took.
    private var finest: (qp: Int, bytesOfStep: Double)?

    init(layers: Int) {
        self.layers = layers
    }

    private var hasLayers: Bool { layers > 1 }

    /// The difference by which the library's QP for frames of the lowest of several temporal layers, keyframes
    /// included, is below the requested one.
    private var cascade: Int { hasLayers ? layers + 1 : 0 }

    /// The QP of keyframes for which the coarsest one is requested.
    var coarsestKeyframeQP: Int { Self.range.upperBound - cascade }

    /// The QP to request from the library; nil while its own rate control decides.
    var request: Int? { wanted.map(request(for:)) }

    /// The QP to request from the library for a frame of the lowest layer with a QP.
    func request(for qp: Int) -> Int { min(qp + cascade, Self.range.upperBound) }

    /// A frame of which the library chose the QP.
    mutating func observeUsual(_ frame: SliceSummary, layer: Int) {
        guard layer == 0, let qp = frame.qp else { return }
        usual = qp
    }

    /// Takes a frame whose QP was given.
    ///
    /// - Parameters:
    ///   - bytes: The size of the frame.
    ///   - share: Each frame's share in bytes.
    ///   - limit: The bytes that a frame should take at most.
    ///   - bound: The bytes with which a frame is made again as a keyframe; nil for no bound.
    mutating func observe(
        _ frame: SliceSummary, layer: Int, bytes: Int, share: Double, limit: Double, bound: Int?
    ) {
        guard layer == 0 else {
            // It does not improve the frames that follow.
            upperBytes = min(upperBytes + bytes, Int(Int32.max))
            return
        }
        guard let qp = frame.qp else { return }
        let upperFrames = 1 << (layers - 1) - 1
        let upper = Double(upperBytes)
        upperBytes = 0
        let isStill = hasLayers && upper < Double(bytes * upperFrames) * Self.stillPart
        var due = share
        if hasLayers { due *= Self.lowestLayerShare }
        // The share of the frames of upper layers, too.
        if isStill { due = max(due, min(share * Double(upperFrames + 1), limit)) }
        let step = frame.type == .idr ? -1 : Self.step(Double(bytes) / max(1, due), isStill: isStill)
        let next = max(qp + step, finestNext(after: qp, of: frame, bytes: bytes, bound: bound))
        // The library knows nothing of this picture. Its frame of an upper layer may code all that is left at once.
        let staysStill =
            hasLayers && frame.type != .idr
            && upper < max(Double(bytes), share) * Double(upperFrames) * Self.stillPart
        wanted = staysStill ? max(next, Self.finestStill) : next > usual ? min(next, Self.range.upperBound) : nil
    }

    /// The finest QP of the next frame that is not likely to exceed its bound.
    private mutating func finestNext(after qp: Int, of frame: SliceSummary, bytes: Int, bound: Int?) -> Int {
        if frame.type == .idr {
            finest = (qp, 0)
        } else if let last = finest, qp < last.qp {
            finest = (qp, Double(bytes) / Double(last.qp - qp))
        }
        guard let finest, let bound, finest.bytesOfStep > 0 else { return Self.range.lowerBound }
        let fitting = Double(bound) / finest.bytesOfStep
        let isRisky = finest.qp <= Self.legibleQP && fitting < Self.leastBound
        let steps = isRisky ? 0 : max(Int(fitting * Self.boundShare), 1)
        return max(finest.qp - steps, Self.range.lowerBound)
    }

    /// - Parameter ratio: The size of a frame over its share.
    private static func step(_ ratio: Double, isStill: Bool) -> Int {
        switch ratio {
        case ..<0.125 where isStill: -4
        case ..<0.25 where isStill: -3
        case ..<0.5: -2
        case ..<1: -1
        case ..<1.6: 0
        case ..<3: 1
        default: 2
        }
    }
}
