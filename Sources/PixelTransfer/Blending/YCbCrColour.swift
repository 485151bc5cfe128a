/// A colour in a 4:2:0 picture.
public struct YCbCrColour: Hashable, Sendable {
    public var y: UInt8
    public var u: UInt8
    public var v: UInt8

    public init(y: UInt8, u: UInt8, v: UInt8) {
        self.y = y
        self.u = u
        self.v = v
    }

    /// Makes a colour from red, green and blue, from 0 to 1 (clamped), by BT.601 in limited range.
    public init(red: Double, green: Double, blue: Double) {
        let (red, green, blue) = (Self.clamp(red), Self.clamp(green), Self.clamp(blue))
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        y = UInt8((16 + 219 * luma).rounded())
        u = UInt8((128 + 112 * (blue - luma) / (1 - 0.114)).rounded())
        v = UInt8((128 + 112 * (red - luma) / (1 - 0.299)).rounded())
    }

    public static let black = YCbCrColour(y: 16, u: 128, v: 128)
    public static let white = YCbCrColour(y: 235, u: 128, v: 128)

    private static func clamp(_ value: Double) -> Double { value > 0 ? min(value, 1) : 0 }
}
