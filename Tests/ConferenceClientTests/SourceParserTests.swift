import Foundation
import MediaCore
import NIOCore
import Testing

@testable import ConferenceClient

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

    private func source(_ contents: ByteBuffer) throws -> Y4MVideoSource {
        try Y4MVideoSource(file: InputFile(name: "test.y4m", contents: contents))
    }

    @Test("size, frame rate and samples are read", arguments: [(8, 6), (7, 5)])
    func frames(width: Int, height: Int) throws {
        let source = try source(Self.file(width: width, height: height, count: 3))
        #expect(source.dimensions == VideoDimensions(width: width, height: height))
        #expect(source.frameRate == 25)
        for index in 0..<3 {
            let picture = try #require(try source.readFrame())
            let values = (0..<3).map { plane in
                picture.withPlane(plane) { bytes, stride in
                    let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: source.dimensions)
                    return Set((0..<rows).flatMap { row in (0..<rowBytes).map { bytes[row * stride + $0] } })
                }
            }
            #expect(values == [[UInt8(index)], [100], [200]])
        }
        #expect(try source.readFrame() == nil)
    }

    @Test("a file starts over at its end")
    func loops() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).y4m").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(Self.file(width: 4, height: 4, count: 2).readableBytesView).write(to: URL(fileURLWithPath: path))
        let source = try Y4MVideoSource(path: path)
        var lumas: [UInt8] = []
        for _ in 0..<5 {
            let frame = try source.nextFrame(wallClockMilliseconds: 0)
            #expect(frame.duration == .milliseconds(40))
            guard case .picture(let picture) = frame.content else {
                Issue.record("not a picture")
                return
            }
            lumas.append(picture.withPlane(0) { bytes, _ in bytes[0] })
        }
        #expect(lumas == [0, 1, 0, 1, 0])
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
        #expect(throws: ClientError.unreadableInput(path: "test.y4m", reason: reason)) {
            try source(ByteBuffer(string: header + "\n"))
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
            guard let source = try? source(ByteBuffer(bytes: damaged)) else { continue }
            for _ in 0..<3 where (try? source.readFrame()) == nil { break }
        }
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

    @Test(
        "half of full scale is read from every sample format",
        arguments: [
            (1, 8, [0xC0]), (1, 16, [0x00, 0x40]), (1, 24, [0x00, 0x00, 0x40]), (1, 32, [0x00, 0x00, 0x00, 0x40]),
            (3, 32, [0x00, 0x00, 0x00, 0x3F]),
        ] as [(UInt16, UInt16, [UInt8])])
    func formats(tag: UInt16, bits: UInt16, sample: [UInt8]) throws {
        let file = try WAVFile(parsing: Self.file(tag: tag, bits: bits, data: sample + sample))
        #expect(file.samples == [0.5, 0.5])
        #expect(file.sampleRate == 8000)
    }

    @Test("channels are averaged")
    func channels() throws {
        let file = try WAVFile(
            parsing: Self.file(tag: 1, bits: 16, channels: 2, data: [0x00, 0x40, 0x00, 0x00, 0x00, 0xC0, 0x00, 0x40]))
        #expect(file.samples == [0.25, 0])
    }

    @Test("a file that is not PCM is refused with a reason")
    func refusals() {
        #expect(throws: WAVError(reason: "it is no WAV file")) { try WAVFile(parsing: ByteBuffer(string: "OggS")) }
        #expect(throws: WAVError(reason: "its format (tag 85, 16 bits) is neither PCM nor 32-bit floating point")) {
            try WAVFile(parsing: Self.file(tag: 85, bits: 16, data: [0, 0]))
        }
        #expect(throws: WAVError(reason: "it has no samples")) {
            try WAVFile(parsing: Self.file(tag: 1, bits: 16, data: []))
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
            if let file = try? WAVFile(parsing: ByteBuffer(bytes: damaged)) {
                #expect(file.samples.allSatisfy { (-1...1).contains($0) })
            }
        }
    }
}

@Suite("Audio sources")
struct SoundSourceTests {
    /// The power of a frequency in samples at 48 kHz, by Goertzel's algorithm: about the amplitude squared.
    private func power(of frequency: Double, in samples: [Float], rate: Double = 48_000) -> Double {
        let coefficient = 2 * cos(2 * .pi * frequency / rate)
        var (previous, before) = (0.0, 0.0)
        for sample in samples { (previous, before) = (Double(sample) + coefficient * previous - before, previous) }
        let power = previous * previous + before * before - coefficient * previous * before
        return 4 * power / Double(samples.count * samples.count)
    }

    @Test("a tone has its frequency, and frames join without a step")
    func tone() {
        let source = ToneSource(frequency: 440, amplitude: 0.5)
        let samples = (0..<50).flatMap { _ in source.nextFrame() }
        #expect(samples.count == 48_000)
        #expect(power(of: 440, in: samples) > 100 * power(of: 700, in: samples))
        let steps = zip(samples, samples.dropFirst()).map { abs($1 - $0) }
        #expect(steps.max() ?? 1 < 0.5 * 2 * .pi * 441 / 48_000)
    }

    @Test("names have tones of their own")
    func names() {
        #expect(ToneSource(name: "Ada").frequency != ToneSource(name: "Ben").frequency)
        #expect(ToneSource(name: "Ada").frequency == ToneSource(name: "Ada").frequency)
    }

    @Test("resampling keeps a tone's pitch and strength, and removes frequencies that the new rate cannot represent")
    func resampling() {
        let low = (0..<8000).map { Float(0.5 * sin(2 * .pi * 1000 * Double($0) / 8000)) }
        let up = Resampler.resample(low, from: 8000, to: 48_000)
        #expect(up.count == 48_000)
        #expect(abs(power(of: 1000, in: up) - 0.25) < 0.01)
        #expect(power(of: 7000, in: up) < 0.0001)
        let high = (0..<9600).map { Float(0.5 * sin(2 * .pi * 30_000 * Double($0) / 96_000)) }
        let down = Resampler.resample(high, from: 96_000, to: 48_000)
        #expect(down.dropFirst(100).dropLast(100).allSatisfy { abs($0) < 0.01 })
    }

    @Test("a recording starts over at its end")
    func loops() {
        let samples = (0..<1000).map { Float($0) / 1000 }
        let source = LoopedSource(samples: samples)
        #expect(source.nextFrame() == Array(samples[..<960]))
        let second = source.nextFrame()
        #expect(Array(second[..<40]) == Array(samples[960...]))
        #expect(Array(second[40...]) == Array(samples[..<920]))
    }
}
