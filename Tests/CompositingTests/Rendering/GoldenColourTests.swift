import MediaCore
import PixelTransfer
import Testing

@testable import Compositing

/// The same pictures in each matrix and range: as they are, scaled down, turned, and round over another.
@Suite("Golden colours")
struct GoldenColourTests {
    private static let canvas = VideoDimensions(width: 320, height: 180)
    private static let colours: [(String, ColourDescription)] = [
        ("bt601-limited", .bt601), ("bt601-full", described(6, isFullRange: true)),
        ("bt709-limited", .bt709), ("bt709-full", described(1, isFullRange: true)),
    ]

    private static func described(_ code: UInt8, isFullRange: Bool) -> ColourDescription {
        ColourDescription(
            primaries: code, transferCharacteristics: code, matrixCoefficients: code, isFullRange: isFullRange)
    }

    /// Bars of red, green, blue and so on, and below them greys from black to white, in a colour's numbers.
    private static func bars(_ size: VideoDimensions, _ colour: ColourDescription) throws -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .bgra, dimensions: size)
        picture.attachments.colour = colour
        picture.withMutablePlane(0) { bytes, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let bar = x * 8 / size.width
                    let grey = UInt8(bar * 255 / 7)
                    let isBar = y < size.height * 2 / 3
                    for channel in 0..<3 {
                        let level: UInt8 = (bar + 1) >> (2 - channel) & 1 == 1 ? 200 : 20
                        bytes[y * stride + 4 * x + channel] = isBar ? level : grey
                    }
                    bytes[y * stride + 4 * x + 3] = 255
                }
            }
        }
        return try PixelTransferSession(destination: PixelBufferAttributes(formats: [.i420])).transfer(picture.freeze())
    }

    private static func composed(_ colour: ColourDescription) throws -> PixelBuffer {
        let layers = [
            CompositionLayer(source: 1, rect: PixelRect(x: 0, y: 0, width: 160, height: 90)),
            CompositionLayer(source: 2, rect: PixelRect(x: 160, y: 0, width: 160, height: 90)),
            CompositionLayer(source: 1, rect: PixelRect(x: 0, y: 90, width: 160, height: 90), rotation: .rotate180),
            CompositionLayer(source: 2, rect: PixelRect(x: 160, y: 90, width: 160, height: 90), opacity: 0.5),
            CompositionLayer(source: 3, rect: PixelRect(x: 120, y: 60, width: 80, height: 60), cornerRadius: 24),
        ]
        let pictures = try [(320, 180), (160, 90), (80, 60)].map {
            try bars(VideoDimensions(width: $0.0, height: $0.1), colour)
        }
        return Composer().compose(
            [CompositionRequest(canvas: canvas, layers: layers)],
            sources: sources(source(1, pictures[0]), source(2, pictures[1]), source(3, pictures[2])))[0]
    }

    @Test("sources of each matrix and range look as they were accepted", arguments: colours)
    func golden(named: (name: String, colour: ColourDescription)) throws {
        try GoldenPicture(name: "colour-\(named.name)").check(Self.composed(named.colour), tolerance: 2)
    }

    @Test("sources of each matrix and range look the same", arguments: colours)
    func same(named: (name: String, colour: ColourDescription)) throws {
        let (expected, actual) = (try Self.composed(.bt601), try Self.composed(named.colour))
        for plane in 0..<3 {
            let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: Self.canvas)
            expected.withPlane(plane) { expected, expectedStride in
                actual.withPlane(plane) { actual, stride in
                    var largest = 0
                    for y in 0..<rows {
                        for x in 0..<rowBytes {
                            let difference = Int(expected[y * expectedStride + x]) - Int(actual[y * stride + x])
                            largest = max(largest, abs(difference))
                        }
                    }
                    // The pictures are within one level of the intended colour, and so is the conversion.
                    #expect(largest <= 2)
                }
            }
        }
    }
}
