import MediaCore

extension AudioSource {
    /// The state of delay corrections.
    struct ScalingState {
        /// The time since which the delay has been wrong.
        var offSince: Int64?
        var lastCorrection: Int64 = .min / 2
        var scratch = [Float](repeating: 0, count: TimeScaling.maximumLag)
    }

    /// The tolerated excess of the delay over its target, 30 ms, and the tolerated shortfall, 10 ms.
    private static let toleratedExcess: Int64 = 1440
    private static let toleratedLack: Int64 = 480
    /// Corrections are at least 120 ms apart, so that audio is sped up by at most a sixth.
    private static let correctionInterval: Int64 = 5760
    /// Audio of this level or quieter may be cut anywhere.
    private static let quiet: UInt8 = 50

    /// Brings the delay nearer to its target by an inaudible removal or insertion of a piece.
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
            // One frame must remain after the longest piece has been removed; nothing is concealed for it.
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

    /// True if the packet that continues the queue is there.
    private var hasNextPacket: Bool {
        guard let first = packets.first, let cursor else { return false }
        return first.timestamp <= cursor
    }

    /// The similarity that a piece must have with the rest: high at first, lower the longer the delay has been wrong.
    private func requiredSimilarity(offFor time: Int64) -> Float {
        guard level.decibelsBelowOverload < Self.quiet else { return -1 }
        return 0.85 - 0.4 * Float(time) / Float(AudioFormat.sampleRate)
    }
}
