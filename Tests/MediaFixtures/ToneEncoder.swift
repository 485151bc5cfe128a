import AudioMixing
package import MediaCore
package import NIOCore

/// Encodes a sine.
package final class ToneEncoder {
    private let encoder: OpusEncoder
    private let frequency: Double
    package var bitRate = BitRate.kilobits(32) {
        didSet { encoder.setBitRate(bitRate) }
    }
    private var position = 0
    package private(set) var sampleTime: UInt32 = 0
    package var isSilent = false

    package init(frequency: Double) throws {
        encoder = try OpusEncoder()
        self.frequency = frequency
    }

    package func next() -> ByteBuffer? {
        let amplitude = isSilent ? 0 : 0.3
        let samples = (0..<AudioFormat.frameSampleCount).map { index in
            Float(amplitude * sine(2 * .pi * frequency * Double(position + index) / Double(AudioFormat.sampleRate)))
        }
        sampleTime = UInt32(truncatingIfNeeded: position)
        position += AudioFormat.frameSampleCount
        return try? encoder.encode(samples)
    }

    private func sine(_ angle: Double) -> Double {
        // Bhaskara's approximation is close enough for a tone.
        var x = angle.truncatingRemainder(dividingBy: 2 * .pi)
        let sign: Double = x > .pi ? -1 : 1
        if x > .pi { x -= .pi }
        return sign * 16 * x * (.pi - x) / (5 * .pi * .pi - 4 * x * (.pi - x))
    }
}
