import Foundation
package import MediaCore

/// Predicts the size of a keyframe of the present content at a QP from the last ones.
package struct KeyframeSizeModel: Sendable {
    /// A keyframe that came out, or a try at one.
    struct Keyframe: Sendable {
        var bytes: Int
        var qp: Int
        /// The serial number of its picture in the session; nil outside of it.
        var serial: Int64?
    }

    /// The plausible shares for one QP step: noise is coded until it is rounded away.
    private static let plausibleShares = 0.8...0.95
    /// The part of a limit that a keyframe should take, so that the next try is rarely too large again.
    private static let aim = 0.9
    static let coarsestQP = 51
    /// The size of a keyframe grows with this power of its area, at the same QP: a larger picture of the same content
    /// has smoother blocks. Measured from 0.6 to 0.8 on rooms of 640x360 and 960x540.
    private static let areaExponent = 0.75

    /// The coarsest QP that an encoder chooses for its first keyframe, which it does by the bits for a sample alone:
    /// OpenH264's is 34 (its `RcCalculateIdrQp`), however coarse later frames are.
    private static let coarsestFirstQP = 34

    /// The size of a keyframe at the next coarser QP, relative to its size: six steps halve it.
    private var share = 0.89
    private var last: Keyframe?
    /// The QP of the last frame other than a keyframe.
    private var usualQP: Int?
    /// The size of the pictures; nil before it was said.
    private var dimensions: VideoDimensions?
    /// True if the last keyframe was made with a QP that this model gave, or exceeded its limit with each.
    var isLimited = false

    package init() {}

    /// Takes a frame that came out.
    package mutating func add(_ frame: EncodeStatistics) {
        guard let qp = frame.averageQP else { return }
        if frame.type == .idr {
            add(Keyframe(bytes: frame.size.bytes, qp: qp))
        } else if frame.temporalLayer == 0 {
            observeUsual(qp: qp)
        }
    }

    mutating func observeUsual(qp: Int?) { usualQP = qp ?? usualQP }

    /// Takes a keyframe that came out, or a try at one. Two of the same picture tell how its size follows the QP.
    mutating func add(_ keyframe: Keyframe) {
        if let last, let serial = keyframe.serial, last.serial == serial, last.qp != keyframe.qp, last.bytes > 0,
            keyframe.bytes > 0
        {
            let measured = pow(Double(keyframe.bytes) / Double(last.bytes), 1 / Double(keyframe.qp - last.qp))
            share = min(max((share + measured) / 2, Self.plausibleShares.lowerBound), Self.plausibleShares.upperBound)
        }
        last = keyframe
    }

    /// The finest QP at which a keyframe of this content probably takes no more than `limit` bytes; nil before the
    /// first keyframe.
    func qp(for limit: Int) -> Int? {
        guard let last else { return nil }
        return Self.qp(from: last, share: share, for: limit)
    }

    /// The QP for the first keyframe of an encoder, of no more than `limit` bytes; nil if the encoder's own choice is
    /// probably as coarse.
    package func firstQP(for limit: Int) -> Int? {
        guard let qp = qp(for: limit) else { return nil }
        return qp > min(usualQP ?? Self.coarsestFirstQP, Self.coarsestFirstQP) ? qp : nil
    }

    /// The QP for a keyframe of no more than `limit` bytes, if it has to be coarser than other frames are; nil if it
    /// probably need not.
    func coarserQP(for limit: Int) -> Int? {
        guard let qp = qp(for: limit) else { return nil }
        // Before there are other frames, the tries at a keyframe tell.
        let isCoarser = usualQP.map { qp > $0 } ?? isLimited
        return isCoarser ? qp : nil
    }

    /// The next frames are of pictures of a size, perhaps another than before.
    package mutating func scale(to new: VideoDimensions) {
        let old = dimensions ?? new
        dimensions = new
        guard new != old else { return }
        let ratio = pow(Double(max(1, new.area)) / Double(max(1, old.area)), Self.areaExponent)
        last = last.map { Keyframe(bytes: Int(clamping: (Double($0.bytes) * ratio).rounded()), qp: $0.qp) }
    }

    /// Returns the QP if a frame that may be no keyframe was too large: a keyframe would be larger, as much as the last
    /// one tells. A size counts only with the QP of the same frame.
    func qp(for limit: Int, at frame: Keyframe) -> Int {
        max(Self.qp(from: frame, share: share, for: limit), qp(for: limit) ?? 0)
    }

    private static func qp(from start: Keyframe, share: Double, for limit: Int) -> Int {
        let ratio = max(1, Double(limit) * aim) / max(1, Double(start.bytes))
        let steps = (log(ratio) / log(share)).rounded(.up)
        return min(max(start.qp + Int(clamping: steps), 0), coarsestQP)
    }
}
