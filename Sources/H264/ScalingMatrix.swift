/// One scaling list of an SPS or PPS (H.264 7.3.2.1.1.1, table 7-2).
public enum ScalingList: Hashable, Sendable {
    /// The list is not sent: the fall-back rule of table 7-2 determines it.
    case fallback
    /// The default list of table 7-3 or 7-4.
    case standard
    /// The list itself, 16 or 64 weights in zig-zag or field scan order.
    case explicit([UInt8])

    init(parsing reader: inout BitReader, count: Int) throws(H264ParseError) {
        guard try reader.flag("scaling_list_present_flag") else {
            self = .fallback
            return
        }
        var weights: [UInt8] = []
        weights.reserveCapacity(count)
        var last = 8
        var next = 8
        for index in 0..<count {
            if next != 0 {
                next = (last + (try reader.signed("delta_scale", in: -128...127)) + 256) % 256
                if index == 0 && next == 0 {
                    self = .standard
                    return
                }
            }
            if next != 0 { last = next }
            weights.append(UInt8(truncatingIfNeeded: last))
        }
        self = .explicit(weights)
    }
}

/// The scaling lists of an SPS or PPS: six of 4x4, then those of 8x8.
public struct ScalingMatrix: Hashable, Sendable {
    public var lists4x4: [ScalingList]
    public var lists8x8: [ScalingList]

    init(parsing reader: inout BitReader, lists8x8 count: Int) throws(H264ParseError) {
        lists4x4 = []
        for _ in 0..<6 { lists4x4.append(try ScalingList(parsing: &reader, count: 16)) }
        lists8x8 = []
        for _ in 0..<count { lists8x8.append(try ScalingList(parsing: &reader, count: 64)) }
    }
}
