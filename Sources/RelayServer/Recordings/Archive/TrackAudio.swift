import AudioMixing
import MediaCore
import MediaFiles
import RoomAPI

/// The audio of one track from the beginning of the film on, at 48 kHz: what was lost is silent, and what the sender's
/// clock is ahead or behind is taken out or put in a few samples at a time.
final class TrackAudio {
    /// A difference that is made good by silence, or by leaving samples out: the stream paused, or was anchored anew.
    private static let largestDrift: Int64 = 1920
    /// How many samples of a packet are made good at most, of a hundred.
    private static let correctionDivisor = 50

    private var files: [(path: String, start: Double)]
    private var reader: (OpusReader, start: Double)?
    private let decoder: OpusDecoder
    /// Decoded samples; the first one is that of `position`.
    private var samples: [Float] = []
    private var position: Int64 = 0
    private var hasEnded = false

    /// - Parameter start: The time of the recording at which the film begins.
    init(_ files: [RecordedFile], folder: String, start: Double) throws {
        self.files = files.map { ("\(folder)/\($0.path)", $0.start - start) }
        decoder = try OpusDecoder()
    }

    /// The next samples of the film.
    func take(_ count: Int) throws -> [Float] {
        while samples.count < count, !hasEnded { try decodeNext() }
        let taken = Array(samples.prefix(count))
        samples.removeFirst(taken.count)
        position += Int64(count)
        return taken + Array(repeating: 0, count: count - taken.count)
    }

    private func decodeNext() throws {
        guard let (packet, time) = try nextPacket() else {
            hasEnded = true
            return
        }
        // A packet that cannot be decoded is silent.
        guard var decoded = try? decoder.decode(packet.payload) else { return }
        let place = Int64((time * Double(AudioFormat.sampleRate)).rounded())
        var drift = place - (position + Int64(samples.count))
        if drift > Self.largestDrift {
            samples.append(contentsOf: repeatElement(0, count: Int(clamping: drift)))
            drift = 0
        } else if drift < -Self.largestDrift {
            let excess = Int(clamping: min(-drift, Int64(decoded.count)))
            decoded.removeFirst(excess)
            drift = 0
        }
        let most = Int64(decoded.count / Self.correctionDivisor)
        let correction = Int(min(max(drift, -most), most))
        samples.append(contentsOf: Self.stretch(decoded, by: correction))
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
            decoder.reset()
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
