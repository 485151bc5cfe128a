import Foundation
import Testing

/// The media that ffmpeg decodes from a received file: small pictures, and the audio.
struct ReceivedMedia {
    /// The size that pictures are scaled to: ten columns for each colour bar.
    private static let width = 70
    private static let height = 30
    private static let sampleRate = 48_000

    private var pictures = Data()
    private var samples: [Int16] = []

    /// - Parameters:
    ///   - video: The file with video; decoding it completely without a complaint is not asked for.
    ///   - audio: The file with audio; nil when there is none to look at.
    init(video: String, audio: String?, in folder: TemporaryFolder) async throws {
        pictures = try await Self.decode(
            ["-i", video, "-an", "-vf", "scale=\(Self.width):\(Self.height):flags=area", "-pix_fmt", "rgb24"]
                + ["-vsync", "passthrough", "-f", "rawvideo"], in: folder)
        guard let audio else { return }
        let decoded = try await Self.decode(
            ["-i", audio, "-vn", "-ac", "1", "-ar", "\(Self.sampleRate)", "-f", "s16le"], in: folder)
        samples = decoded.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 1, by: 2).map { offset in
                Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self))
            }
        }
    }

    private static func decode(_ arguments: [String], in folder: TemporaryFolder) async throws -> Data {
        let name = "decoded-\(UUID().uuidString.prefix(8))"
        let ffmpeg = try ChildProcess(
            #require(Programs.installed("ffmpeg")), ["-nostdin", "-v", "error"] + arguments + [name], in: folder)
        let code = try await ffmpeg.end(within: .seconds(60))
        try #require(code == 0, "ffmpeg cannot decode what was received: \(ffmpeg.errors)")
        return try Data(contentsOf: folder.file(name))
    }

    /// The number of pictures that were decoded.
    var frameCount: Int { pictures.count / (Self.width * Self.height * 3) }

    /// The colours of the last picture's seven equal columns, in its upper half.
    var columns: [RGB] {
        guard frameCount > 0 else { return [] }
        let start = (frameCount - 1) * Self.width * Self.height * 3 + Self.height / 4 * Self.width * 3
        return (0..<7).map { column in
            let pixel = pictures.startIndex + start + (column * Self.width / 7 + Self.width / 14) * 3
            return RGB(red: pictures[pixel], green: pictures[pixel + 1], blue: pictures[pixel + 2])
        }
    }

    /// For how long a tone was heard, and nearly nothing else, in seconds.
    func duration(ofTone frequency: Double) -> Double {
        let window = Self.sampleRate / 10
        let heard = stride(from: 0, to: samples.count - window, by: window).count { start in
            let part = samples[start..<start + window].map(Double.init)
            let energy = part.reduce(0) { $0 + $1 * $1 }
            guard energy / Double(window) > 200 * 200 else { return false }
            // The share of the energy at one frequency, by correlation with its sine and cosine.
            var (inPhase, quadrature) = (0.0, 0.0)
            for (index, sample) in part.enumerated() {
                let angle = 2 * Double.pi * frequency * Double(index) / Double(Self.sampleRate)
                inPhase += sample * cos(angle)
                quadrature += sample * sin(angle)
            }
            return 2 * (inPhase * inPhase + quadrature * quadrature) / (Double(window) * energy) > 0.8
        }
        return Double(heard * window) / Double(Self.sampleRate)
    }
}

/// A colour as it was decoded.
struct RGB: Hashable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    /// The channels that are clearly on, such as "RG" for yellow; nil when it is not clear of one.
    var channels: String? {
        var text = ""
        for (name, value) in [("R", red), ("G", green), ("B", blue)] {
            if value > 140 { text += name } else if value > 70 { return nil }
        }
        return text
    }

    /// The colours of the SMPTE pattern's seven bars: grey, yellow, cyan, green, magenta, red, blue.
    static let smpteBars = ["RGB", "RG", "GB", "G", "RB", "R", "B"]
}
