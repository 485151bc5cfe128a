import NIOCore

/// The audio of a WAV file: mono, floating point, at the file's sample rate.
public struct WAVFile: Sendable {
    /// The samples, from −1 to 1.
    public var samples: [Float]
    /// Samples per second.
    public var sampleRate: Int

    /// Files are read into memory; larger ones are refused.
    public static let maximumSize = 1 << 30

    /// The format of stored samples.
    private enum Encoding {
        case unsigned8, signed16, signed24, signed32, float32

        var size: Int {
            switch self {
            case .unsigned8: 1
            case .signed16: 2
            case .signed24: 3
            case .signed32, .float32: 4
            }
        }
    }

    /// A mistake in the file.
    private struct FormatError: Error {
        var reason: String
    }

    private struct Format {
        var encoding: Encoding
        var channelCount: Int
        var sampleRate: Int
    }

    /// Parses a RIFF/WAVE file: PCM of 8, 16, 24 or 32 bits or 32-bit floating point. Channels are averaged.
    ///
    /// - Throws: `MediaFileError.cannotOpen` with the mistake.
    public init(_ file: InputFile) throws(MediaFileError) {
        var contents = try file.readToEnd(limit: Self.maximumSize)
        do {
            self = try Self(parsing: &contents)
        } catch {
            throw .cannotOpen(path: file.path, reason: error.reason)
        }
    }

    private init(parsing contents: inout ByteBuffer) throws(FormatError) {
        guard contents.readString(length: 4) == "RIFF", contents.readSlice(length: 4) != nil,
            contents.readString(length: 4) == "WAVE"
        else { throw FormatError(reason: "it is no WAV file") }
        var format: Format?
        while let identifier = contents.readString(length: 4),
            let size = contents.readInteger(endianness: .little, as: UInt32.self)
        {
            // A file cut short, or one written to a pipe with an unknown size, ends its last chunk early.
            let length = min(Int(size), contents.readableBytes)
            guard let chunk = contents.readSlice(length: length) else { break }
            if size % 2 == 1 { contents.moveReaderIndex(forwardBy: min(1, contents.readableBytes)) }
            switch identifier {
            case "fmt ":
                format = try Self.parseFormat(chunk)
            case "data":
                guard let format else { throw FormatError(reason: "its samples come before their format") }
                samples = Self.decode(chunk, format)
                sampleRate = format.sampleRate
                guard !samples.isEmpty else { throw FormatError(reason: "it has no samples") }
                return
            default: break
            }
        }
        throw FormatError(reason: "it has no samples")
    }

    private static func parseFormat(_ chunk: ByteBuffer) throws(FormatError) -> Format {
        var chunk = chunk
        guard var tag = chunk.readInteger(endianness: .little, as: UInt16.self),
            let channels = chunk.readInteger(endianness: .little, as: UInt16.self),
            let rate = chunk.readInteger(endianness: .little, as: UInt32.self),
            chunk.readSlice(length: 6) != nil,
            let bits = chunk.readInteger(endianness: .little, as: UInt16.self)
        else { throw FormatError(reason: "its format is cut short") }
        if tag == 0xFFFE, chunk.readSlice(length: 8) != nil,
            let subformat = chunk.readInteger(endianness: .little, as: UInt16.self)
        {
            // WAVE_FORMAT_EXTENSIBLE: the true tag is the first part of the sub-format's GUID.
            tag = subformat
        }
        let encoding: Encoding
        switch (tag, bits) {
        case (1, 8): encoding = .unsigned8
        case (1, 16): encoding = .signed16
        case (1, 24): encoding = .signed24
        case (1, 32): encoding = .signed32
        case (3, 32): encoding = .float32
        default:
            throw FormatError(reason: "its format (tag \(tag), \(bits) bits) is neither PCM nor 32-bit floating point")
        }
        guard (1...32).contains(channels) else { throw FormatError(reason: "it has \(channels) channels") }
        guard (1000...384_000).contains(rate) else { throw FormatError(reason: "its sample rate is \(rate) Hz") }
        return Format(encoding: encoding, channelCount: Int(channels), sampleRate: Int(rate))
    }

    private static func decode(_ chunk: ByteBuffer, _ format: Format) -> [Float] {
        let frameSize = format.encoding.size * format.channelCount
        let frameCount = chunk.readableBytes / frameSize
        var samples: [Float] = []
        samples.reserveCapacity(frameCount)
        chunk.withUnsafeReadableBytes { bytes in
            for frame in 0..<frameCount {
                var sum: Float = 0
                for channel in 0..<format.channelCount {
                    let offset = frame * frameSize + channel * format.encoding.size
                    sum += sample(bytes, at: offset, format.encoding)
                }
                samples.append(sum / Float(format.channelCount))
            }
        }
        return samples
    }

    private static func sample(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ encoding: Encoding) -> Float {
        switch encoding {
        case .unsigned8:
            return (Float(bytes[offset]) - 128) / 128
        case .signed16:
            return Float(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self))) / 32_768
        case .signed24:
            let low = UInt32(bytes[offset]) << 8 | UInt32(bytes[offset + 1]) << 16
            return Float(Int32(bitPattern: low | UInt32(bytes[offset + 2]) << 24)) / 2_147_483_648
        case .signed32:
            let value = Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            return Float(value) / 2_147_483_648
        case .float32:
            let bits = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            let value = Float(bitPattern: bits)
            return value.isFinite ? min(max(value, -1), 1) : 0
        }
    }
}
