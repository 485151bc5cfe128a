/// A colour in video range (BT.601): luma 16…235, chroma around 128.
struct YUVColour: Hashable, Sendable {
    var luma: UInt8
    var blueDifference: UInt8
    var redDifference: UInt8

    static let black = YUVColour(luma: 16, blueDifference: 128, redDifference: 128)
    static let white = YUVColour(luma: 235, blueDifference: 128, redDifference: 128)
}

extension YUVColour {
    /// Converts red, green and blue, each 0…1.
    init(red: Double, green: Double, blue: Double) {
        func byte(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        self.luma = byte(16 + 219 * luma)
        blueDifference = byte(128 + 224 * (blue - luma) / 1.772)
        redDifference = byte(128 + 224 * (red - luma) / 1.402)
    }

    /// A colour of the wheel: `hue` in turns, saturation and brightness 0…1.
    init(hue: Double, saturation: Double, brightness: Double) {
        func channel(_ offset: Double) -> Double {
            let position = (offset + hue * 6).truncatingRemainder(dividingBy: 6)
            return brightness - brightness * saturation * max(0, min(position, 4 - position, 1))
        }
        self.init(red: channel(5), green: channel(3), blue: channel(1))
    }
}
