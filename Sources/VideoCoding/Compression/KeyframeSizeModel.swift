import Foundation
import MediaCore

/// Predicts the size of a keyframe of the present content at a QP from the last ones.
struct KeyframeSizeModel {
    /// A keyframe that came out, or a try at one.
    struct Keyframe {
        var bytes: Int
        var qp: Int
    }

    /// The plausible shares for one QP step: noise is coded until it is rounded away.
    private static let plausibleShares = 0.8...0.95
    /// The part of a limit that a keyframe should take, so that the next try is rarely too large again.
    private static let aim = 0.9
    static let coarsestQP = 51

    /// The size of a keyframe at the next coarser QP, relative to its size: six steps halve it.
    private var share = 0.89
    private var last: Keyframe?
    /// True if the last keyframe was made with a QP that this model gave.
    var isLimited = false

    /// - Parameter isRepeated: True if the keyframe is of the same picture as the last one.
    mutating func add(_ keyframe: Keyframe, isRepeated: Bool = false) {
        if isRepeated, let last, last.qp != keyframe.qp, last.bytes > 0, keyframe.bytes > 0 {
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
