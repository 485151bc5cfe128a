import MediaCore
import MediaFiles
import NIOCore
import Testing

@Suite("Hostile movie files")
struct HostileMovieTests {
    /// Reads a file to its end, or to the first error. What must not happen is a trap.
    private func readAll(_ contents: [UInt8], suffix: String) -> Int {
        let file = TemporaryFile(suffix, contents: contents)
        guard let reader = try? MovieReader(path: file.path) else { return 0 }
        var count = 0
        while let sample = try? reader.nextSample(), count < 1000 {
            count += sample.data.count > 0 ? 1 : 0
        }
        return count
    }

    @Test("flipped and missing bytes are errors, not traps")
    func mutations() throws {
        let original = TemporaryFile(".mp4")
        try SampleStream.write(SampleStream.make(count: 12), to: original.path)
        let contents = original.contents
        #expect(readAll(contents, suffix: ".mp4") == 12)
        var generator = SplitMix64(seed: 1)
        for round in 0..<400 {
            var damaged = contents
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if round % 4 == 0 { damaged.removeLast(Int.random(in: 0..<damaged.count, using: &generator)) }
            _ = readAll(damaged, suffix: ".mp4")
        }
    }

    @Test("noise is no movie")
    func noise() {
        var generator = SplitMix64(seed: 2)
        for _ in 0..<50 {
            let noise = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = readAll(noise, suffix: ".h264")
        }
    }
}

/// A small generator whose numbers are the same in every run.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
