import Foundation
import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

/// A folder that goes with its holder.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("passes-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    var fileNames: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// A 352x288 stream's parameter sets.
private let parameterSets: [[UInt8]] = [
    [
        0x67, 0x64, 0x00, 0x0d, 0xac, 0xd9, 0x41, 0x60, 0x96, 0xc0, 0x4a, 0x50, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00,
        0x00, 0x03, 0x03, 0xc0, 0xf1, 0x42, 0x99, 0x60,
    ],
    [0x68, 0xef, 0xbc, 0xb0],
]

func makeFormat() throws -> VideoFormatDescription {
    try VideoFormatDescription(h264ParameterSets: parameterSets.map { ByteBuffer(bytes: $0) })
}

/// A sample that is shown at `number` thirtieths of a second, with `bytes` as its content.
func makeSample(_ number: Int, _ bytes: [UInt8], decoded: Int? = nil, isSync: Bool = false) throws -> SampleBuffer {
    SampleBuffer(
        data: BlockBuffer(ByteBuffer(bytes: bytes)), format: try makeFormat(), presentationTime: frameTime(number),
        decodeTime: decoded.map(frameTime), duration: MediaTime(value: 3000, timescale: 90_000), isSync: isSync,
        dependency: FrameDependency(isDependedOn: number.isMultiple(of: 2), temporalLayer: number % 3))
}

extension FrameSilo {
    func samples(in range: MediaTimeRange? = nil, order: Order = .decoding) throws -> [SampleBuffer] {
        var found: [SampleBuffer] = []
        try forEachSample(in: range, order: order) { found.append($0) }
        return found
    }

    func contents(in range: MediaTimeRange? = nil, order: Order = .decoding) throws -> [[UInt8]] {
        try samples(in: range, order: order).map { Array($0.data.contiguous().readableBytesView) }
    }
}

func frameRange(_ range: Range<Int>) -> MediaTimeRange {
    MediaTimeRange(start: frameTime(range.lowerBound), end: frameTime(range.upperBound))
}
