public import MediaCore

/// One room's audio: decodes every source, mixes for every receiver all sources but its own, and encodes, in ticks of
/// 20 ms.
///
/// A session belongs to one caller at a time, the room's tick job. Packets and changes reach it as an
/// `AudioMixingInput`. All receivers that are not in the mix hear the same, so their mix is encoded once for each class
/// of rate and FEC; each receiver in the mix has an encoder of its own. While nobody is heard, the packet of silence is
/// sent.
public final class AudioMixingSession {
    private struct Receiver {
        let id: ParticipantID
        var settings: AudioEncoderSettings
        /// The class of the shared mix, while the receiver hears it.
        var sharedClass: AudioEncoderSettings?
        /// The receiver's own encoder, made when its participant is heard for the first time.
        var own: (encoder: MixEncoder, limiter: SoftLimiter)?
        /// True if its own audio was in the mix of the tick before.
        var wasInMix = false
    }

    /// An encoder that is unused for this many ticks (10 s) is released.
    private static let idleTicks: Int64 = 500
    /// After a longer time without a tick the last mix is over: the session was paused.
    private static let longestGap = Duration.seconds(1)

    /// The sources, sorted by identifier so that sums are the same in every run.
    private var sources: [AudioSource] = []
    private var receivers: [Receiver] = []
    private let voices: VoiceSelection
    private var mixer = AudioMixer()
    private var sharedEncoders: [AudioEncoderSettings: MixEncoder] = [:]
    private var sharedLimiter = SoftLimiter()
    private var tickIndex: Int64 = 0
    private var lastTick: MonotonicInstant?
    /// The limited mix of all sources, of this tick and of the one before.
    private var total = [Float](repeating: 0, count: AudioFormat.frameSampleCount)
    private var previousTotal = [Float](repeating: 0, count: AudioFormat.frameSampleCount)
    private var scratch = [Float](repeating: 0, count: AudioFormat.frameSampleCount)
    private let silence = [Float](repeating: 0, count: AudioFormat.frameSampleCount)

    /// - Parameter maximumVoices: The largest number of sources in the mix, at least one. The loudest are chosen.
    public init(maximumVoices: Int = 6) {
        voices = VoiceSelection(limit: max(1, maximumVoices))
    }

    /// Adds a participant's audio to the mix. It does nothing if the audio is there, unless it has just been removed.
    public func addSource(_ id: ParticipantID) throws(OpusError) {
        let index = sources.firstIndex { $0.id >= id } ?? sources.endIndex
        guard index < sources.endIndex, sources[index].id == id else {
            return sources.insert(try AudioSource(id: id), at: index)
        }
        if sources[index].isLeaving { sources[index] = try AudioSource(id: id) }
    }

    /// Removes a participant's audio from the mix. Audio that is heard then fades out in the next tick.
    public func removeSource(_ id: ParticipantID) {
        sources.first { $0.id == id }?.isLeaving = true
    }

    /// Begins to make packets for a participant, or starts again with other settings.
    public func addReceiver(_ id: ParticipantID, settings: AudioEncoderSettings = .init()) {
        let receiver = Receiver(id: id, settings: settings)
        let index = receivers.firstIndex { $0.id >= id } ?? receivers.endIndex
        if index < receivers.endIndex, receivers[index].id == id {
            receivers[index] = receiver
        } else {
            receivers.insert(receiver, at: index)
        }
    }

    public func removeReceiver(_ id: ParticipantID) {
        receivers.removeAll { $0.id == id }
    }

    /// Changes the rate of a receiver's packets from the next tick on.
    public func setBitRate(_ rate: BitRate, for id: ParticipantID) {
        changeSettings(of: id) { $0.bitRate = rate }
    }

    /// Sets the share of its packets that a receiver loses, 0 to 1.
    public func setExpectedPacketLoss(_ fraction: Double, for id: ParticipantID) {
        changeSettings(of: id) { $0.expectedPacketLoss = fraction }
    }

    private func changeSettings(of id: ParticipantID, _ change: (inout AudioEncoderSettings) -> Void) {
        guard let index = receivers.firstIndex(where: { $0.id == id }) else { return }
        change(&receivers[index].settings)
        receivers[index].own?.encoder.apply(receivers[index].settings)
    }

    /// Applies the events since the last tick and makes the next 20 ms for every receiver.
    ///
    /// `now` is the time at which the tick is due, not the time at which a worker began it: delays are measured against
    /// it.
    public func tick(_ input: AudioMixingInput, now: MonotonicInstant) -> AudioTickResult {
        var result = AudioTickResult()
        for change in input.changes {
            do throws(OpusError) {
                try apply(change)
            } catch {
                result.failures.append(error)
            }
        }
        result.sources.reserveCapacity(sources.count)
        result.packets.reserveCapacity(receivers.count)
        if let lastTick, now - lastTick > Self.longestGap { endMix() }
        lastTick = now
        tickIndex += 1

        mixer.begin()
        for source in sources {
            for packet in input.packets[source.id] ?? [] { source.insert(packet) }
            source.pull(now: now)
        }
        voices.choose(among: sources)
        for source in sources {
            source.finish()
            if source.isInMix { mixer.add(source.frame) }
            guard !source.isLeaving else { continue }
            result.sources[source.id] = AudioSourceReport(
                level: source.level, mixGain: source.mixGain, isPlaying: source.isFrameWhole,
                timestamp: source.timestamp, levelClaim: source.levelClaims.takeVerdict(),
                statistics: source.statistics)
        }
        swap(&total, &previousTotal)
        let isHeard = mixer.mix(without: nil, into: &total)
        if isHeard { sharedLimiter.process(&total) } else { sharedLimiter.reset() }
        result.limiterGain = sharedLimiter.gain

        encodeOwn(into: &result)
        encodeShared(level: isHeard ? LevelMeter.level(total) : nil, into: &result)
        sources.removeAll(where: \.isLeaving)
        return result
    }

    /// Forgets the last mix, so that nobody hears its end after a pause. Encoders begin anew.
    private func endMix() {
        tickIndex += 1
        total = silence
        sources.removeAll(where: \.isLeaving)
    }

    private func apply(_ change: AudioMixingInput.Change) throws(OpusError) {
        switch change {
        case .addSource(let id): try addSource(id)
        case .removeSource(let id): removeSource(id)
        case .addReceiver(let id, let settings): addReceiver(id, settings: settings)
        case .removeReceiver(let id): removeReceiver(id)
        case .setBitRate(let rate, let id): setBitRate(rate, for: id)
        case .setExpectedPacketLoss(let fraction, let id): setExpectedPacketLoss(fraction, for: id)
        }
    }

    /// Makes the packets of receivers that are or just were in the mix, and decides which of the others share an
    /// encoder.
    private func encodeOwn(into result: inout AudioTickResult) {
        var sources = sources[...]
        for index in receivers.indices {
            let id = receivers[index].id
            while let source = sources.first, source.id < id { sources.removeFirst() }
            do throws(OpusError) {
                let own = sources.first.flatMap { $0.id == id && $0.isInMix ? $0.frame : nil }
                // An encoder holds the end of the frame before: the shared one's has the receiver's own audio in it.
                if own != nil || receivers[index].wasInMix {
                    receivers[index].wasInMix = own != nil
                    result.packets[id] = try encodeMix(for: &receivers[index], without: own)
                    result.encodeCount += 1
                } else {
                    try chooseSharedEncoder(for: &receivers[index])
                }
            } catch {
                result.failures.append(error)
            }
        }
    }

    private func encodeMix(for receiver: inout Receiver, without own: [Float]?) throws(OpusError) -> EncodedAudio? {
        var (encoder, limiter) =
            if let own = receiver.own { own } else { (try MixEncoder(settings: receiver.settings), sharedLimiter) }
        // A new receiver may have been in the mix before, and must not hear itself.
        let previous = receiver.sharedClass == nil ? silence : previousTotal
        if receiver.sharedClass != nil {
            // The receiver heard the shared encoder with its limiter until now.
            encoder.isJoined = true
            limiter = sharedLimiter
            receiver.sharedClass = nil
        }
        let isHeard = mixer.mix(without: own, into: &scratch)
        if isHeard { limiter.process(&scratch) } else { limiter.reset() }
        receiver.own = (encoder, limiter)
        try encoder.encode(
            scratch, level: isHeard ? LevelMeter.level(scratch) : nil, previous: previous, tick: tickIndex)
        return encoder.packet
    }

    private func chooseSharedEncoder(for receiver: inout Receiver) throws(OpusError) {
        let wanted = receiver.settings.shared(present: receiver.sharedClass)
        guard receiver.sharedClass != wanted || sharedEncoders[wanted] == nil else { return }
        let known = sharedEncoders[wanted]
        let encoder = if let known { known } else { try MixEncoder(settings: wanted) }
        encoder.isJoined = true
        sharedEncoders[wanted] = encoder
        receiver.sharedClass = wanted
    }

    /// Makes the packets of all other receivers, once for each class.
    private func encodeShared(level: AudioLevel?, into result: inout AudioTickResult) {
        for receiver in receivers {
            guard let encoder = receiver.sharedClass.flatMap({ sharedEncoders[$0] }) else { continue }
            if encoder.tick != tickIndex {
                do throws(OpusError) {
                    try encoder.encode(total, level: level, previous: previousTotal, tick: tickIndex)
                    result.encodeCount += 1
                } catch {
                    result.failures.append(error)
                }
            }
            result.packets[receiver.id] = encoder.packet
        }
        guard tickIndex.isMultiple(of: Self.idleTicks) else { return }
        sharedEncoders = sharedEncoders.filter { $0.value.tick > tickIndex - Self.idleTicks }
    }
}
