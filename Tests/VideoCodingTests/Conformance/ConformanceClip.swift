import Foundation
import H264
import MediaCore
import NIOCore
import Synchronization
import Testing

/// A clip of the JVT conformance suite, in the folder that the environment names.
struct ConformanceClip: Sendable, CustomTestStringConvertible {
    var name: String
    /// SHA-1 of all pictures: cropped I420, in output order.
    var expectedDigest: String

    var testDescription: String { name }

    static let folder = ProcessInfo.processInfo.environment["CONFRELAY_CONFORMANCE_DIR"]

    /// The clips that have an expected digest.
    static let all: [ConformanceClip] = {
        guard let folder, let list = try? String(contentsOfFile: "\(folder)/i420.sha1", encoding: .utf8) else {
            return []
        }
        return list.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            return fields.count == 2
                ? ConformanceClip(name: String(fields[1]), expectedDigest: String(fields[0])) : nil
        }
    }()

    func bytes() throws -> ByteBuffer {
        ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder ?? "")/\(name)")))
    }

    /// The clip's access units, as they stand in the byte stream.
    func accessUnits() throws -> [[NALUnit]] {
        if let known = Self.parsed.withLock({ $0[name] }) { return known }
        var assembler = AccessUnitAssembler()
        var units = AnnexB.nalUnits(in: try bytes()).compactMap { assembler.append($0) }
        if let last = assembler.finish() { units.append(last) }
        Self.parsed.withLock { $0[name] = units }
        return units
    }

    /// The clip's samples.
    func samples() throws -> [SampleBuffer] { Self.samples(of: try accessUnits()) }

    /// Clips are read by several tests.
    private static let parsed = Mutex<[String: [[NALUnit]]]>([:])

    /// Samples of access units in decoding order, at 30 frames a second.
    static func samples(of accessUnits: [[NALUnit]]) -> [SampleBuffer] {
        var formats = FormatTracker()
        return accessUnits.enumerated().compactMap { number, units in
            for unit in units { formats.add(unit) }
            return units.first(where: \.isVCL).flatMap { formats.format(of: $0) }.map {
                SampleBuffer(nalUnits: units, format: $0, presentationTime: frameTime(number))
            }
        }
    }
}
