import Foundation
import MediaCore
import NIOCore
import Testing

@testable import MediaFiles

@Suite("Y4M files")
struct Y4MTests {
    /// A file of `count` frames, frame n filled with luma n.
    static func file(width: Int, height: Int, count: Int, parameters: String = "F25:1 Ip A1:1 C420jpeg") -> ByteBuffer {
        var buffer = ByteBuffer(string: "YUV4MPEG2 W\(width) H\(height) \(parameters)\n")
        let chroma = (width + 1) / 2 * ((height + 1) / 2)
        for index in 0..<count {
            buffer.writeString("FRAME\n")
            buffer.writeRepeatingByte(UInt8(index), count: width * height)
            buffer.writeRepeatingByte(100, count: chroma)
            buffer.writeRepeatingByte(200, count: chroma)
        }
        return buffer
    }

    private func reader(_ contents: ByteBuffer) throws -> Y4MReader {
        try Y4MReader(InputFile(name: "test.y4m", contents: contents))
    }

    @Test("size, frame rate and samples are read", arguments: [(8, 6), (7, 5)])
    func frames(width: Int, height: Int) throws {
        let reader = try reader(Self.file(width: width, height: height, count: 3))
        #expect(reader.header.dimensions == VideoDimensions(width: width, height: height))
        #expect(reader.header.frameRate == 25)
        for index in 0..<3 {
            let picture = try #require(try reader.nextFrame())
            let values = (0..<3).map { plane in
                picture.withPlane(plane) { bytes, stride in
                    let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: reader.header.dimensions)
                    return Set((0..<rows).flatMap { row in (0..<rowBytes).map { bytes[row * stride + $0] } })
                }
            }
            #expect(values == [[UInt8(index)], [100], [200]])
        }
        #expect(try reader.nextFrame() == nil)
    }

    @Test(
        "pictures have samples of the shape that the file says",
        arguments: [("A64:45", 64, 45), ("A1:1", 1, 1), ("A0:0", 1, 1), ("A4", 1, 1), ("A-4:3", 1, 1), ("Ip", 1, 1)])
    func sampleShape(parameter: String, width: Int, height: Int) throws {
        let file = Self.file(width: 8, height: 6, count: 1, parameters: "F25:1 \(parameter) C420jpeg")
        let picture = try #require(try reader(file).nextFrame())
        #expect(picture.attachments.pixelAspectRatio == VideoDimensions(width: width, height: height))
    }

    @Test("a file can be read again from its first frame")
    func rewinds() throws {
        let file = TemporaryFile(".y4m", contents: Array(Self.file(width: 4, height: 4, count: 2).readableBytesView))
        let reader = try Y4MReader(InputFile(path: file.path))
        for _ in 0..<2 {
            for luma in [0, 1] as [UInt8] {
                #expect(try reader.nextFrame()?.withPlane(0) { bytes, _ in bytes[0] } == luma)
            }
            #expect(try reader.nextFrame() == nil)
            try reader.rewind()
        }
    }

    @Test("a file whose comment is not UTF-8 can be read again from its first frame")
    func rewindsBehindComment() throws {
        var contents = Array(
            Self.file(width: 4, height: 4, count: 1, parameters: "F25:1 XCaf_").readableBytesView)
        let index = try #require(contents.firstIndex(of: UInt8(ascii: "_")))
        contents[index] = 0xE9
        let file = TemporaryFile(".y4m", contents: contents)
        let reader = try Y4MReader(InputFile(path: file.path))
        for _ in 0..<2 {
            #expect(try reader.nextFrame() != nil)
            #expect(try reader.nextFrame() == nil)
            try reader.rewind()
        }
    }

    @Test(
        "headers that cannot be used are refused with a reason",
        arguments: [
            ("nonsense", "it is no YUV4MPEG2 file"),
            ("YUV4MPEG2 W8 H6 C444", "its colour space C444 is not supported; convert it to 8-bit 4:2:0 (C420)"),
            ("YUV4MPEG2 W8 H6 It", "it is interlaced (It)"),
            ("YUV4MPEG2 H6", "its size is missing or not within 2…8192"),
            ("YUV4MPEG2 W99999 H6", "its size is missing or not within 2…8192"),
            ("YUV4MPEG2 W8 H6 F30:0", "its frame rate F30:0 is not two numbers, such as F30:1"),
        ])
    func refusals(header: String, reason: String) {
        #expect(throws: MediaFileError.cannotOpen(path: "test.y4m", reason: reason)) {
            try reader(ByteBuffer(string: header + "\n"))
        }
    }

    @Test("hostile bytes are errors, not traps")
    func hostile() {
        var generator = SeededGenerator(seed: 3)
        let original = Array(Self.file(width: 16, height: 8, count: 2).readableBytesView)
        for _ in 0..<10_000 {
            var damaged = original
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<60, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            damaged.removeLast(Int.random(in: 0..<damaged.count, using: &generator))
            guard let reader = try? reader(ByteBuffer(bytes: damaged)) else { continue }
            for _ in 0..<3 where (try? reader.nextFrame()) == nil { break }
        }
    }

    @Test(
        "a Y4M header says the rate as a ratio",
        arguments: [(30, "F30:1"), (30_000.0 / 1001, "F30000:1001"), (12.5, "F25:2"), (.pi, "F3141593:1000000")])
    func rates(rate: Double, expected: String) {
        let line = Y4MHeader(dimensions: VideoDimensions(width: 4, height: 2), frameRate: rate)
            .line(attachments: PixelBufferAttachments())
        #expect(line == "YUV4MPEG2 W4 H2 \(expected) Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n")
    }
}

@Suite("WAV files")
struct WAVTests {
    /// A file of the given format with a chunk before the samples.
    static func file(tag: UInt16, bits: UInt16, channels: UInt16 = 1, rate: UInt32 = 8000, data: [UInt8]) -> ByteBuffer
    {
        var buffer = ByteBuffer(string: "RIFF")
        buffer.writeInteger(UInt32(36 + data.count), endianness: .little)
        buffer.writeString("WAVE")
        buffer.writeString("LIST")
        buffer.writeInteger(3, endianness: .little, as: UInt32.self)
        buffer.writeBytes([1, 2, 3, 0])
        buffer.writeString("fmt ")
        buffer.writeInteger(16, endianness: .little, as: UInt32.self)
        buffer.writeInteger(tag, endianness: .little)
        buffer.writeInteger(channels, endianness: .little)
        buffer.writeInteger(rate, endianness: .little)
        buffer.writeInteger(rate * UInt32(channels) * UInt32(bits / 8), endianness: .little)
        buffer.writeInteger(channels * (bits / 8), endianness: .little)
        buffer.writeInteger(bits, endianness: .little)
        buffer.writeString("data")
        buffer.writeInteger(UInt32(data.count), endianness: .little)
        buffer.writeBytes(data)
        return buffer
    }

    private static func parse(_ contents: ByteBuffer) throws(MediaFileError) -> WAVFile {
        try WAVFile(InputFile(name: "test.wav", contents: contents))
    }

    private static func error(_ reason: String) -> MediaFileError { .cannotOpen(path: "test.wav", reason: reason) }

    @Test(
        "half of full scale is read from every sample format",
        arguments: [
            (1, 8, [0xC0]), (1, 16, [0x00, 0x40]), (1, 24, [0x00, 0x00, 0x40]), (1, 32, [0x00, 0x00, 0x00, 0x40]),
            (3, 32, [0x00, 0x00, 0x00, 0x3F]),
        ] as [(UInt16, UInt16, [UInt8])])
    func formats(tag: UInt16, bits: UInt16, sample: [UInt8]) throws {
        let file = try Self.parse(Self.file(tag: tag, bits: bits, data: sample + sample))
        #expect(file.samples == [0.5, 0.5])
        #expect(file.sampleRate == 8000)
    }

    @Test("channels are averaged")
    func channels() throws {
        let file = try Self.parse(
            Self.file(tag: 1, bits: 16, channels: 2, data: [0x00, 0x40, 0x00, 0x00, 0x00, 0xC0, 0x00, 0x40]))
        #expect(file.samples == [0.25, 0])
    }

    @Test("a file that is not PCM is refused with a reason")
    func refusals() {
        #expect(throws: Self.error("it is no WAV file")) { try Self.parse(ByteBuffer(string: "OggS")) }
        #expect(throws: Self.error("its format (tag 85, 16 bits) is neither PCM nor 32-bit floating point")) {
            try Self.parse(Self.file(tag: 85, bits: 16, data: [0, 0]))
        }
        #expect(throws: Self.error("it has no samples")) {
            try Self.parse(Self.file(tag: 1, bits: 16, data: []))
        }
    }

    @Test("hostile bytes are errors, not traps")
    func hostile() {
        var generator = SeededGenerator(seed: 4)
        let original = Array(Self.file(tag: 3, bits: 32, data: Array(repeating: 0x3F, count: 64)).readableBytesView)
        for _ in 0..<30_000 {
            var damaged = original
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            damaged.removeLast(Int.random(in: 0..<damaged.count, using: &generator))
            if let file = try? Self.parse(ByteBuffer(bytes: damaged)) {
                #expect(file.samples.allSatisfy { (-1...1).contains($0) })
            }
        }
    }
}
