import Foundation

/// A camera's film, written by the test: one colour over the whole picture, and a bright block that moves over it.
struct FakeCamera {
    /// The colour's samples (BT.601, limited range).
    var luma: UInt8
    var blueDifference: UInt8
    var redDifference: UInt8
    /// True if there is a grain over the picture, which moves and takes bits to send.
    var isDetailed = false

    static let red = FakeCamera(luma: 81, blueDifference: 90, redDifference: 240)
    static let green = FakeCamera(luma: 145, blueDifference: 54, redDifference: 34)
    static let blue = FakeCamera(luma: 60, blueDifference: 230, redDifference: 110)

    /// Writes the film as Y4M, which Chromium plays over and over.
    func write(to file: URL, width: Int = 640, height: Int = 360, frameRate: Int = 15, frames: Int = 30) throws {
        var data = Data("YUV4MPEG2 W\(width) H\(height) F\(frameRate):1 Ip A1:1 C420jpeg\n".utf8)
        let (chromaWidth, chromaHeight) = (width / 2, height / 2)
        let block = height / 6
        let grain = isDetailed ? Self.grain(width: width) : [0]
        for frame in 0..<frames {
            data.append(Data("FRAME\n".utf8))
            var plane = [UInt8](repeating: luma, count: width * height)
            for index in plane.indices where isDetailed { plane[index] &+= grain[(index + frame * 977) % grain.count] }
            let left = (width - block) * frame / frames
            for row in block..<2 * block {
                for column in left..<left + block { plane[row * width + column] = 230 }
            }
            data.append(contentsOf: plane)
            data.append(Data(repeating: blueDifference, count: chromaWidth * chromaHeight))
            data.append(Data(repeating: redDifference, count: chromaWidth * chromaHeight))
        }
        try data.write(to: file)
    }

    /// A few rows of pairs of samples, bright and dark at random (by a linear congruential generator).
    private static func grain(width: Int) -> [UInt8] {
        var state: UInt32 = 1
        return (0..<width * 37).map { index in
            if index.isMultiple(of: 2) { state = state &* 1_664_525 &+ 1_013_904_223 }
            return UInt8(state >> 28)
        }
    }
}

/// A microphone's recording, written by the test: a tone that comes and goes, since browsers take a steady one for
/// noise and remove it.
struct FakeMicrophone {
    /// Hertz.
    var frequency: Double

    private static let sampleRate = 48_000

    /// Writes the recording as WAV, which Chromium plays over and over.
    func write(to file: URL, seconds: Int = 2) throws {
        var samples = Data()
        for index in 0..<Self.sampleRate * seconds {
            let time = Double(index) / Double(Self.sampleRate)
            let isOn = time.truncatingRemainder(dividingBy: 0.5) < 0.3
            let sample = Int16(isOn ? 12_000 * sin(2 * Double.pi * frequency * time) : 0)
            withUnsafeBytes(of: sample.littleEndian) { samples.append(contentsOf: $0) }
        }
        var header = Data()
        func append(_ text: String) { header.append(Data(text.utf8)) }
        func append32(_ value: Int) {
            withUnsafeBytes(of: UInt32(value).littleEndian) { header.append(contentsOf: $0) }
        }
        func append16(_ value: Int) {
            withUnsafeBytes(of: UInt16(value).littleEndian) { header.append(contentsOf: $0) }
        }
        append("RIFF")
        append32(36 + samples.count)
        append("WAVEfmt ")
        append32(16)
        append16(1)  // linear samples
        append16(1)  // one channel
        append32(Self.sampleRate)
        append32(Self.sampleRate * 2)
        append16(2)
        append16(16)
        append("data")
        append32(samples.count)
        try (header + samples).write(to: file)
    }
}
