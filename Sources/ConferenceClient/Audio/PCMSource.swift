import Foundation
import MediaFiles

/// A source of a client's audio: endless, 48 kHz, mono, in frames of 20 ms. It serves one caller at a time.
public protocol PCMSource: AnyObject {
    /// The next 960 samples, −1…1.
    func nextFrame() -> [Float]
}

/// The common properties of all audio sources.
public enum PCM {
    /// Samples per second.
    public static let sampleRate = 48_000
    /// Samples of a frame of 20 ms.
    public static let frameSize = 960
    public static let frameDuration: Duration = .milliseconds(20)
}

/// A quiet tone that swells once a second, so that a listener hears that it is alive.
public final class ToneSource: PCMSource {
    /// The frequency in hertz.
    public let frequency: Double
    private let amplitude: Double
    private var sampleIndex = 0

    /// - Parameters:
    ///   - frequency: The frequency in hertz.
    ///   - amplitude: The amplitude relative to full scale, 0…1.
    public init(frequency: Double, amplitude: Double = 0.1) {
        self.frequency = frequency
        self.amplitude = min(max(amplitude, 0), 1)
    }

    /// A tone of a pitch that belongs to the name: a note of a pentatonic scale over A3, 220 Hz.
    public convenience init(name: String) {
        let steps = [0, 2, 4, 7, 9, 12, 14, 16, 19, 21, 24]
        let step = steps[Int(StableHash.hash(name) % UInt64(steps.count))]
        self.init(frequency: 220 * pow(2, Double(step) / 12))
    }

    public func nextFrame() -> [Float] {
        let step = 2 * Double.pi * frequency / Double(PCM.sampleRate)
        let frame = (0..<PCM.frameSize).map { offset in
            let index = sampleIndex + offset
            let second = Double(index % PCM.sampleRate) / Double(PCM.sampleRate)
            let swell = 0.6 + 0.4 * sin(2 * .pi * second)
            return Float(sin(step * Double(index)) * amplitude * swell)
        }
        sampleIndex += PCM.frameSize
        return frame
    }
}

/// A recording, over and over.
public final class LoopedSource: PCMSource {
    private let samples: [Float]
    private var position = 0

    /// Plays samples at 48 kHz.
    init(samples: [Float]) {
        self.samples = samples
    }

    /// Reads a WAV file into memory and brings it to 48 kHz.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    static func read(wavFile path: String) throws(ClientError) -> [Float] {
        let file = try ClientError.rethrowing { () throws(MediaFileError) in try WAVFile(InputFile(path: path)) }
        return Resampler.resample(file.samples, from: file.sampleRate, to: PCM.sampleRate)
    }

    public func nextFrame() -> [Float] {
        guard !samples.isEmpty else { return Array(repeating: 0, count: PCM.frameSize) }
        return (0..<PCM.frameSize).map { _ in
            defer { position = (position + 1) % samples.count }
            return samples[position]
        }
    }
}
