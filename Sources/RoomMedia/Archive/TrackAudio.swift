import AudioMixing
import MediaCore
import MediaFiles
import RoomAPI

/// The audio of one track from the beginning of the film on, at 48 kHz. Lost packets are concealed, longer gaps are
/// silent, and samples are taken out or put in, a few at a time, where the sender's clock is ahead or behind.
final class TrackAudio {
    /// The time by which the audio in a packet is later than the packet's own time, in seconds: the look-ahead of
    /// libopus, which senders do not take off their timestamps.
    private static let lookAhead = 312.0 / 48_000
    /// The lengths of fades: 40 ms out before a long gap or another stream, and 5 ms in after it.
    private static let fadeOut = 1920
    private static let fadeIn = 240

    private var files: [(path: String, start: Double)]
    private var reader: (OpusReader, start: Double)?
    private let decoder: OpusDecoder
    /// True if the next packet is the first of a file, whose stream does not continue the one before.
    private var beginsStream = false
    /// Samples that have not been taken.
    private var samples: [Float] = []
    /// The number of samples of silence that come behind them, before the decoded ones. A pause may last for hours.
    private var silence = 0
    private var decoded: [Float] = []
    private var placement = AudioPlacement()
    private var position: Int64 = 0
    private var hasEnded = false

    /// - Parameter start: The time of the recording at which the film begins.
    init(_ files: [RecordedFile], folder: String, start: Double) throws {
        self.files = files.map { ("\(folder)/\($0.path)", $0.start - start) }
        decoder = try OpusDecoder()
    }

    /// The next samples of the film.
    func take(_ count: Int) throws -> [Float] {
        while samples.count < count {
            if silence > 0 {
                let part = min(silence, count - samples.count)
                samples.append(contentsOf: repeatElement(0, count: part))
                silence -= part
            } else if !decoded.isEmpty {
                samples.append(contentsOf: decoded)
                decoded.removeAll()
            } else if !hasEnded {
                try decodeNext()
            } else {
                break
            }
        }
        let taken = Array(samples.prefix(count))
        samples.removeFirst(taken.count)
        position += Int64(count)
        placement.skip(to: position)
        return taken + Array(repeating: 0, count: count - taken.count)
    }

    private func decodeNext() throws {
        guard let (packet, time) = try nextPacket() else {
            hasEnded = true
            appendFadeOut(Self.fadeOut)
            return
        }
        guard let count = OpusDecoder.sampleCount(of: packet.payload) else { return }
        let step = placement.place(count, at: time - Self.lookAhead)
        let gap = step.concealed + step.silence
        let continues = step.silence == 0 && !beginsStream
        if !continues {
            appendFadeOut(min(gap, Self.fadeOut))
            silence = max(gap - Self.fadeOut, 0)
        }
        // Without a gap the end of the stream before sounds on while the new one fades in.
        let end = beginsStream && gap == 0 ? (try? decoder.conceal(sampleCount: AudioPlacement.bridgeUnit)) : nil
        if beginsStream { decoder.reset() }
        beginsStream = false
        if continues, step.concealed > 0 {
            decoded =
                (try? decoder.recover(sampleCount: step.concealed, from: packet.payload))
                ?? Array(repeating: 0, count: step.concealed)
        }
        // A packet that cannot be decoded is silent.
        var audio = (try? decoder.decode(packet.payload)) ?? Array(repeating: 0, count: count)
        if !continues {
            for index in 0..<min(Self.fadeIn, audio.count) {
                let gain = Float(index) / Float(Self.fadeIn)
                audio[index] = audio[index] * gain + (end?[index] ?? 0) * (1 - gain)
            }
        }
        decoded += Self.stretch(Array(audio.dropFirst(step.omitted)), by: step.stretch)
    }

    /// Continues the audio so far by `count` samples, a multiple of `AudioPlacement.bridgeUnit`, in which it fades out.
    private func appendFadeOut(_ count: Int) {
        let audio = (try? decoder.conceal(sampleCount: count)) ?? Array(repeating: 0, count: count)
        for (index, sample) in audio.enumerated() {
            samples.append(sample * (1 - Float(index + 1) / Float(count)))
        }
    }

    private func nextPacket() throws -> (OpusReader.Packet, Double)? {
        while true {
            if let (reader, start) = reader {
                if let packet = try reader.nextPacket() {
                    guard let time = packet.presentationTime else { continue }
                    return (packet, start + time.seconds)
                }
                self.reader = nil
            }
            guard let file = files.first else { return nil }
            files.removeFirst()
            beginsStream = true
            // A file without a complete fragment is that of a recording that was interrupted.
            reader = (try? OpusReader(path: file.path)).map { ($0, file.start) }
        }
    }

    /// The same audio in a few samples more or less.
    private static func stretch(_ samples: [Float], by correction: Int) -> [Float] {
        guard correction != 0, samples.count > 1 else { return samples }
        let count = samples.count + correction
        return (0..<count).map { index in
            let place = Double(index) * Double(samples.count - 1) / Double(count - 1)
            let lower = min(Int(place), samples.count - 2)
            let part = Float(place - Double(lower))
            return samples[lower] * (1 - part) + samples[lower + 1] * part
        }
    }
}
