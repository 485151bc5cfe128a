import CPangoCairo
import Foundation
import MediaCore
import PixelTransfer
import Testing

@testable import Compositing

/// A picture that somebody has looked at and accepted: a PNG beside the tests.
///
/// For a picture that differs, three files appear in `out/golden`: the expected picture, the actual one, and their
/// difference; for a picture that is not accepted yet, only the actual one. `make golden` shows them and asks whether
/// to accept the actual picture.
struct GoldenPicture {
    let name: String

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    private static let output = sources.deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "out/golden")
    /// Blocks of this many pixels a side are compared, by their mean difference: edges are drawn a little differently
    /// by other versions of the libraries, letters are not.
    private static let blockSide = 8

    /// Compares a picture with the accepted one.
    ///
    /// - Parameter tolerance: The largest mean difference of a block, of 255.
    func check(_ picture: PixelBuffer, tolerance: Double, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = Self.sources.appending(path: "Golden/\(name).png")
        let path = Self.output.appending(path: name).path
        let actual = try Pixels(picture)
        guard let expected = Pixels(contentsOf: file.path) else {
            try FileManager.default.createDirectory(at: Self.output, withIntermediateDirectories: true)
            try actual.write(to: path + "-actual.png")
            Issue.record("\(name) is new: see \(path)-actual.png, or run make golden", sourceLocation: sourceLocation)
            return
        }
        let difference = actual.largestBlockDifference(from: expected, side: Self.blockSide)
        guard difference > tolerance else { return }
        try FileManager.default.createDirectory(at: Self.output, withIntermediateDirectories: true)
        try expected.write(to: path + "-expected.png")
        try actual.write(to: path + "-actual.png")
        try actual.difference(from: expected).write(to: path + "-difference.png")
        Issue.record(
            "\(name) differs by \(difference), not at most \(tolerance): \(path)-{expected,actual,difference}.png",
            sourceLocation: sourceLocation)
    }
}

/// A picture's colours, four bytes each.
private struct Pixels {
    var width: Int
    var height: Int
    var bytes: [UInt8]

    init(width: Int, height: Int, bytes: [UInt8]) {
        (self.width, self.height, self.bytes) = (width, height, bytes)
    }

    init(_ picture: PixelBuffer) throws {
        (width, height) = (picture.dimensions.width, picture.dimensions.height)
        bytes = [UInt8](repeating: 0, count: 4 * width * height)
        let (stride, rows) = (4 * width, height)
        try bytes.withUnsafeMutableBytes { memory in
            let base = try #require(memory.baseAddress)
            try picture.writeBGRA(to: PixelBufferPlane(base: base, stride: stride, rows: rows))
        }
    }

    /// Nil if there is no such file.
    init?(contentsOf path: String) {
        let surface = cairo_image_surface_create_from_png(path)
        defer { cairo_surface_destroy(surface) }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let data = cairo_image_surface_get_data(surface)
        else { return nil }
        width = Int(cairo_image_surface_get_width(surface))
        height = Int(cairo_image_surface_get_height(surface))
        let stride = Int(cairo_image_surface_get_stride(surface))
        let rowBytes = 4 * width
        bytes = (0..<height).flatMap { row in
            Array(UnsafeBufferPointer(start: data + row * stride, count: rowBytes))
        }
    }

    func write(to path: String) throws {
        var picture = MutablePixelBuffer(format: .bgra, dimensions: VideoDimensions(width: width, height: height))
        picture.withMutablePlane(0) { memory, stride in
            for row in 0..<height {
                for index in 0..<(4 * width) { memory[row * stride + index] = bytes[row * 4 * width + index] }
            }
        }
        try picture.freeze().writePNG(to: path)
    }

    /// Infinite between pictures of different sizes.
    func largestBlockDifference(from other: Pixels, side: Int) -> Double {
        guard width == other.width, height == other.height else { return .infinity }
        var largest = 0.0
        for top in stride(from: 0, to: height, by: side) {
            for left in stride(from: 0, to: width, by: side) {
                var (sum, count) = (0, 0)
                for y in top..<min(top + side, height) {
                    for x in left..<min(left + side, width) {
                        for channel in 0..<3 {
                            let index = 4 * (y * width + x) + channel
                            sum += abs(Int(bytes[index]) - Int(other.bytes[index]))
                            count += 1
                        }
                    }
                }
                largest = max(largest, Double(sum) / Double(count))
            }
        }
        return largest
    }

    /// Black where both are the same, and four times as bright as they differ.
    func difference(from other: Pixels) -> Pixels {
        guard width == other.width, height == other.height else { return self }
        return Pixels(
            width: width, height: height,
            bytes: zip(bytes, other.bytes).map { UInt8(clamping: 4 * abs(Int($0) - Int($1))) })
    }
}
