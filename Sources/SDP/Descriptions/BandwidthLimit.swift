public import MediaCore

/// A limit on the bandwidth of the session or of a media description: `b=AS:1500` (RFC 8866, 5.8; RFC 3890).
public struct BandwidthLimit: Hashable, Sendable, CustomStringConvertible {
    /// The type: `AS`, `TIAS`, `CT`, `RS`, `RR` or another.
    public var type: String
    /// The limit in kilobits per second; in bits per second for `TIAS`, `RS` and `RR`.
    public var value: Int64

    public init(type: String, value: Int64) {
        self.type = type
        self.value = value
    }

    /// Returns a limit in bits per second without the overhead of lower layers (RFC 3890).
    public static func transportIndependent(_ rate: BitRate) -> BandwidthLimit {
        BandwidthLimit(type: "TIAS", value: rate.bitsPerSecond)
    }

    public var description: String { "\(type):\(value)" }
}

extension [BandwidthLimit] {
    /// The highest rate that the describing side wants to receive: `TIAS`, which is exact, before `AS`; nil without a
    /// limit.
    ///
    /// Zero is no limit. RFC 3890 gives zero no meaning of its own: a side that wants to receive nothing says so by the
    /// direction of the media, or by port zero (RFC 3264, section 8). libwebrtc reads zero the same way.
    var maximumBitRate: BitRate? {
        if let exact = first(where: { $0.type == "TIAS" && $0.value > 0 }) {
            return BitRate(bitsPerSecond: exact.value)
        }
        guard let application = first(where: { $0.type == "AS" && $0.value > 0 }) else { return nil }
        let (product, overflow) = application.value.multipliedReportingOverflow(by: 1000)
        return BitRate(bitsPerSecond: overflow ? Int64.max : product)
    }
}
