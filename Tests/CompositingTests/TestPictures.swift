import Foundation
public import MediaCore
import MediaFixtures

@testable import Compositing

extension Colour {
    static let background = Colour(y: 24, u: 128, v: 128)
    static let bar = Colour(y: 16, u: 128, v: 128)

    /// The `index`th of many colours that all differ.
    static func numbered(_ index: Int) -> Colour {
        Colour(y: UInt8(40 + index * 17 % 190), u: UInt8(30 + index * 41 % 190), v: UInt8(30 + index * 67 % 190))
    }
}

func solidPicture(_ colour: Colour, _ width: Int, _ height: Int, format: PixelFormat = .i420) -> PixelBuffer {
    var picture = MutablePixelBuffer(format: format, dimensions: VideoDimensions(width: width, height: height))
    for plane in 0..<format.planeCount {
        picture.withMutablePlane(plane) { bytes, _ in
            for index in bytes.indices {
                bytes[index] =
                    switch (format, plane) {
                    case (_, 0): colour.y
                    case (.nv12, _): index % 2 == 0 ? colour.u : colour.v
                    default: plane == 1 ? colour.u : colour.v
                    }
            }
        }
    }
    return picture.freeze()
}

extension PixelBuffer {
    func colour(atCentreOf rect: PixelRect) -> Colour {
        colour(x: rect.x + rect.width / 2, y: rect.y + rect.height / 2)
    }

    /// Returns true if every sample of `rect` (even) has this colour, give or take `tolerance`.
    func isFilled(_ rect: PixelRect, with expected: Colour, tolerance: Int = 0) -> Bool {
        isFilled(0, rect, expected.y, tolerance)
            && isFilled(1, rect.halved, expected.u, tolerance)
            && isFilled(2, rect.halved, expected.v, tolerance)
    }

    /// Returns true if all planes hold the same samples.
    func hasSameSamples(as other: PixelBuffer) -> Bool {
        guard format == other.format, dimensions == other.dimensions else { return false }
        return (0..<planeCount).allSatisfy { plane in
            let (rowBytes, rows) = format.planeSize(plane, of: dimensions)
            return withPlane(plane) { bytes, stride in
                other.withPlane(plane) { otherBytes, otherStride in
                    (0..<rows).allSatisfy { row in
                        memcmp(
                            bytes.baseAddress! + row * stride, otherBytes.baseAddress! + row * otherStride,
                            rowBytes) == 0
                    }
                }
            }
        }
    }

    private func isFilled(_ plane: Int, _ rect: PixelRect, _ value: UInt8, _ tolerance: Int) -> Bool {
        withPlane(plane) { bytes, stride in
            (rect.y..<rect.maxY).allSatisfy { row in
                bytes[(row * stride + rect.x)..<(row * stride + rect.maxX)].allSatisfy {
                    abs(Int($0) - Int(value)) <= tolerance
                }
            }
        }
    }
}

extension PixelRect {
    fileprivate var halved: PixelRect {
        PixelRect(x: x / 2, y: y / 2, width: width / 2, height: height / 2)
    }
}

extension SourceID: ExpressibleByIntegerLiteral {
    /// A participant's camera.
    public init(integerLiteral value: UInt64) { self = .camera(ParticipantID(rawValue: value)) }
}

/// Sources by id, as the compositor takes them.
func sources(_ list: CompositionSource...) -> [SourceID: CompositionSource] {
    Dictionary(uniqueKeysWithValues: list.map { ($0.id, $0) })
}

func source(_ id: SourceID, _ picture: PixelBuffer, isStale: Bool = false) -> CompositionSource {
    CompositionSource(id: id, name: "source \(id)", content: .picture(picture, isStale: isStale))
}

func placeholder(_ id: SourceID, _ name: String) -> CompositionSource {
    CompositionSource(id: id, name: name, content: .placeholder())
}
