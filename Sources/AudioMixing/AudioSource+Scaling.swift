import MediaCore

extension AudioSource {
    /// When and how the delay was last corrected.
    struct ScalingState {
        /// Since when the delay has been off.
        var offSince: Int64?
        var lastCorrection: Int64 = .min / 2
        var scratch = [Float](repeating: 0, count: TimeScaling.maximumLag)
    }

    /// How far above its target the delay may be: 30 ms; and how far below: 10 ms.
    private static let toleratedExcess: Int64 = 1440
    private static let toleratedLack: Int64 = 480
    /// Corrections are at least 120 ms apart, so that audio is hurried by no more than a sixth.
    private static let correctionInterval: Int64 = 5760
    /// Audio as quiet as this may be cut anywhere.
    private static let quiet: UInt8 = 50

    /// Brings the delay nearer to its target by taking a piece out or putting one in, where that is not heard.
    func scale(_ time: Int64) {
        guard concealedRun == 0, let delay = delay(time) else { return }
        let error = delay - targetDelay
        guard error > Self.toleratedExcess || error < -Self.toleratedLack else {
            scaling.offSince = nil
            return
        }
        let offSince = scaling.offSince ?? time
        scaling.offSince = offSince
        guard time - scaling.lastCorrection >= Self.correctionInterval else { return }
        if error > 0 {
            // A frame must be left when the longest piece has been taken out; nothing is made up for that.
            let needed = AudioFormat.frameSampleCount + TimeScaling.maximumLag
            while queue.count < needed, hasNextPacket { step(time) }
            guard queue.count >= needed else { return }
        }
        let match = queue.withSamples { TimeScaling.bestMatch(in: UnsafeBufferPointer($0)) }
        guard let match, match.similarity >= requiredSimilarity(offFor: time - offSince) else { return }
        scaling.lastCorrection = time
        let length = Duration.microseconds(match.lag * 1000 / 48)
        if error > 0 {
            TimeScaling.remove(lag: match.lag, from: &queue)
            counts.removed += length
        } else {
            TimeScaling.insert(lag: match.lag, into: &queue, scratch: &scaling.scratch)
            counts.inserted += length
        }
    }

    /// Whether the packet that continues the queue is there.
    private var hasNextPacket: Bool {
        guard let first = packets.first, let cursor else { return false }
        return first.timestamp <= cursor
    }

    /// How like the rest a piece must be: very much at first, and less the longer the delay has been off.
    private func requiredSimilarity(offFor time: Int64) -> Float {
        guard level.decibelsBelowOverload < Self.quiet else { return -1 }
        return 0.85 - 0.4 * Float(time) / Float(AudioFormat.sampleRate)
    }
}
