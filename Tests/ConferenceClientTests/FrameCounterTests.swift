import MediaCore
import Testing

@testable import ConferenceClient

@Suite("Frame counter")
struct FrameCounterTests {
    @Test("a code word gives back time and tag")
    func roundTrip() {
        for milliseconds in [0, 1, 999_999, FrameCounter.timeModulus - 1] {
            for tag: UInt16 in [0, 1, 512, 1023] {
                let counter = FrameCounter(wallClockMilliseconds: milliseconds, tag: tag)
                #expect(FrameCounter(codeWord: counter.codeWord) == counter)
            }
        }
    }

    @Test("every single and double bit error is noticed")
    func bitErrors() {
        let codeWord = FrameCounter(wallClockMilliseconds: 1_763_684_465_123, tag: 777).codeWord
        for first in 0..<FrameCounter.bitCount {
            for second in first..<FrameCounter.bitCount {
                let damage: UInt64 = first == second ? 1 << first : 1 << first | 1 << second
                #expect(FrameCounter(codeWord: codeWord ^ damage) == nil)
            }
        }
    }

    @Test("all black and all white are no code words")
    func flatPictures() {
        #expect(FrameCounter(codeWord: 0) == nil)
        #expect(FrameCounter(codeWord: (1 << FrameCounter.bitCount) - 1) == nil)
    }

    @Test("age spans the wrap of the clock and may be negative")
    func age() {
        let made = FrameCounter(wallClockMilliseconds: FrameCounter.timeModulus - 10, tag: 1)
        #expect(made.age(atWallClockMilliseconds: FrameCounter.timeModulus + 90) == .milliseconds(100))
        #expect(made.age(atWallClockMilliseconds: FrameCounter.timeModulus - 13) == .milliseconds(-3))
    }
}

@Suite("Frame counter reader")
struct FrameCounterReaderTests {
    private static let time: Int64 = 1_763_684_465_123

    private func picture(of name: String, _ width: Int, _ height: Int) -> PixelBuffer {
        SyntheticVideoSource(
            name: name, dimensions: VideoDimensions(width: width, height: height), frameRate: 30
        ).makePicture(wallClockMilliseconds: Self.time)
    }

    @Test(
        "a picture's own counter is read at any size",
        arguments: [(1280, 720), (640, 360), (320, 180), (256, 144), (160, 90), (360, 640), (642, 362), (100, 100)])
    func sizes(width: Int, height: Int) {
        var reader = FrameCounterReader()
        let readings = reader.readings(in: picture(of: "Ada", width, height))
        #expect(
            readings.map(\.counter) == [
                FrameCounter(wallClockMilliseconds: Self.time, tag: FrameCounter.tag(for: "Ada"))
            ])
    }

    @Test("every frame of a second is read")
    func manyTimes() {
        let source = SyntheticVideoSource(
            name: "Ben", dimensions: VideoDimensions(width: 320, height: 180), frameRate: 30)
        var reader = FrameCounterReader()
        for frame in 0..<30 {
            let time = Self.time + Int64(frame) * 33
            let found = reader.readings(in: source.makePicture(wallClockMilliseconds: time))
            #expect(
                found.map(\.counter.milliseconds) == [FrameCounter(wallClockMilliseconds: time, tag: 0).milliseconds])
        }
    }

    @Test(
        "counters are found in tiles of any place and size",
        arguments: [640, 480, 426, 320, 256, 200])
    func tiles(tileWidth: Int) {
        let tileHeight = tileWidth * 9 / 16
        let canvas = VideoDimensions(width: 1280, height: 3 * tileHeight + 40)
        var target = MutablePixelBuffer(format: .i420, dimensions: canvas)
        target.fill(x: 0, y: 0, width: canvas.width, height: canvas.height, with: .black)
        let names = ["Ada", "Ben", "Cy"]
        for (index, name) in names.enumerated() {
            target.place(
                picture(of: name, 640, 360), x: index * 123, y: 3 + index * (tileHeight + 10), width: tileWidth,
                height: tileHeight)
        }
        var reader = FrameCounterReader()
        let found = reader.readings(in: target.freeze()).map(\.counter.tag)
        #expect(found == names.map { FrameCounter.tag(for: $0) })
    }

    @Test("noise and flat pictures hold no counter")
    func noCounter() {
        var generator = SeededGenerator(seed: 7)
        var reader = FrameCounterReader()
        for _ in 0..<20 {
            var noise = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 320, height: 180))
            noise.withMutablePlane(0) { bytes, _ in
                for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
            }
            #expect(reader.readings(in: noise.freeze()).isEmpty)
        }
        var flat = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 64, height: 64))
        flat.fill(x: 0, y: 0, width: 64, height: 64, with: .white)
        #expect(reader.readings(in: flat.freeze()).isEmpty)
    }

    @Test("a damaged counter is not believed")
    func damage() {
        let size = VideoDimensions(width: 640, height: 360)
        let counter = FrameCounter(wallClockMilliseconds: Self.time, tag: 3)
        var reader = FrameCounterReader()
        guard let strip = FrameCounterStrip(in: size) else {
            Issue.record("no strip")
            return
        }
        for cell in 0..<FrameCounterStrip.columnCount {
            var picture = MutablePixelBuffer(format: .i420, dimensions: size)
            strip.draw(counter, into: &picture)
            // Inverts one cell of the first data row.
            let bit = counter.codeWord >> UInt64(FrameCounter.bitCount - 1 - cell) & 1
            picture.fill(
                x: strip.left + cell * strip.cellWidth, y: strip.cellHeight, width: strip.cellWidth,
                height: strip.cellHeight, with: bit == 1 ? .black : .white)
            #expect(reader.readings(in: picture.freeze()).isEmpty)
        }
    }

    @Test("participants' colours differ and do not change")
    func colours() {
        let colours = ["Ada", "Ben", "Cy"].map { SyntheticVideoSource.colour(of: $0) }
        for (left, right) in [(0, 1), (0, 2), (1, 2)] {
            let distance =
                abs(Int(colours[left].blueDifference) - Int(colours[right].blueDifference))
                + abs(Int(colours[left].redDifference) - Int(colours[right].redDifference))
            #expect(distance > 30)
        }
        #expect(SyntheticVideoSource.colour(of: "Ada") == SyntheticVideoSource.colour(of: "Ada"))
    }
}

extension MutablePixelBuffer {
    /// Scales the luma of a picture into a rectangle, by averaging.
    mutating func place(_ picture: PixelBuffer, x: Int, y: Int, width: Int, height: Int) {
        let source = picture.dimensions
        picture.withPlane(0) { from, fromStride in
            withMutablePlane(0) { to, stride in
                for row in 0..<height {
                    for column in 0..<width {
                        let left = column * source.width / width
                        let right = max(left + 1, (column + 1) * source.width / width)
                        let top = row * source.height / height
                        let bottom = max(top + 1, (row + 1) * source.height / height)
                        var sum = 0
                        for y in top..<bottom { for x in left..<right { sum += Int(from[y * fromStride + x]) } }
                        to[(y + row) * stride + x + column] = UInt8(sum / ((right - left) * (bottom - top)))
                    }
                }
            }
        }
    }
}
