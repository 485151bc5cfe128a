package import MediaCore

/// A colour in Y, U and V.
package struct Colour: Equatable {
    package var y: UInt8
    package var u: UInt8
    package var v: UInt8

    package static let red = Colour(y: 82, u: 90, v: 240)
    package static let green = Colour(y: 145, u: 54, v: 34)
    package static let blue = Colour(y: 41, u: 240, v: 110)
    package static let yellow = Colour(y: 210, u: 16, v: 146)
    package static let grey = Colour(y: 82, u: 128, v: 128)

    package init(y: UInt8, u: UInt8, v: UInt8) {
        self.y = y
        self.u = u
        self.v = v
    }

    /// True if the two hues are equal within the precision that an encoder keeps at a low rate.
    package func resembles(_ other: Colour, tolerance: Int = 24) -> Bool {
        abs(Int(u) - Int(other.u)) < tolerance && abs(Int(v) - Int(other.v)) < tolerance
    }
}

extension PixelBuffer {
    /// A flat colour whose luma moves a little from frame to frame, so that there is something to encode.
    package static func pattern(_ colour: Colour, dimensions: VideoDimensions, phase: Int) -> PixelBuffer {
        var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        buffer.withMutablePlane(0) { bytes, stride in
            for row in 0..<dimensions.height {
                for column in 0..<dimensions.width {
                    let ripple = ((column + phase * 3) / 8 + row / 8) % 2 == 0 ? 6 : 0
                    bytes[row * stride + column] = UInt8(clamping: Int(colour.y) + ripple)
                }
            }
        }
        for (plane, value) in [(1, colour.u), (2, colour.v)] {
            buffer.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices { bytes[index] = value }
            }
        }
        return buffer.freeze()
    }

    /// The colour at a point, in luma samples.
    package func colour(x: Int, y: Int) -> Colour {
        func sample(_ plane: Int, _ x: Int, _ y: Int) -> UInt8 {
            withPlane(plane) { bytes, stride in bytes[y * stride + x] }
        }
        return Colour(y: sample(0, x, y), u: sample(1, x / 2, y / 2), v: sample(2, x / 2, y / 2))
    }
}

extension PixelBuffer {
    /// Two colours side by side.
    package static func halves(_ left: Colour, _ right: Colour, dimensions: VideoDimensions) -> PixelBuffer {
        var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        for plane in 0..<3 {
            let (width, height) =
                plane == 0 ? (dimensions.width, dimensions.height) : (dimensions.width / 2, dimensions.height / 2)
            buffer.withMutablePlane(plane) { bytes, stride in
                for row in 0..<height {
                    for column in 0..<width {
                        let colour = column < width / 2 ? left : right
                        bytes[row * stride + column] = plane == 0 ? colour.y : plane == 1 ? colour.u : colour.v
                    }
                }
            }
        }
        return buffer.freeze()
    }
}

extension PixelBuffer {
    /// The share of the picture that has this colour, from 0 to 1.
    package func share(of colour: Colour) -> Double {
        var (hits, count) = (0, 0)
        for y in stride(from: 2, to: dimensions.height, by: 6) {
            for x in stride(from: 2, to: dimensions.width, by: 6) {
                count += 1
                if self.colour(x: x, y: y).resembles(colour) { hits += 1 }
            }
        }
        return Double(hits) / Double(max(1, count))
    }
}
