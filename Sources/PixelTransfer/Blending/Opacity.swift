/// How much of what lies above is seen, in 256ths: from 0, which shows nothing of it, to 256, which hides what is
/// below.
public struct Opacity: Hashable, Sendable {
    /// From 0 to 256.
    public let parts: Int

    public static let transparent = Opacity(parts: 0)
    public static let opaque = Opacity(parts: 256)

    /// The nearest opacity there is to `fraction` (0 to 1, clamped); what is not a number is transparent.
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

    /// Half of it: what a sample gets that is covered by half.
    var halved: Opacity { Opacity(parts: (parts + 1) / 2) }
}
