/// The opacity of an upper layer, in 256ths: from 0, which is invisible, to 256, which hides everything below.
public struct Opacity: Hashable, Sendable {
    /// The value in parts, from 0 to 256.
    public let parts: Int

    public static let transparent = Opacity(parts: 0)
    public static let opaque = Opacity(parts: 256)

    /// The nearest opacity to `fraction` (0 to 1, clamped); NaN is transparent.
    public init(_ fraction: Double) {
        guard fraction > 0 else {
            parts = 0
            return
        }
        parts = Int((min(fraction, 1) * 256).rounded())
    }

    init(parts: Int) {
        self.parts = parts
    }

    /// Half of the opacity, for a sample that is half covered.
    var halved: Opacity { Opacity(parts: (parts + 1) / 2) }
}
