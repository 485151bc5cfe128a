public import MediaCore
import NIOCore

/// One room's sound: decodes every source, mixes for every receiver all but its own, and encodes. 20 ms a tick.
///
/// Belongs to one caller at a time: the room's tick job. What comes from the network reaches it as an
/// `AudioMixingInput`. A receiver hears every source but the one of its own id; a receiver that hears nothing gets
/// packets of silence, which cost next to nothing.
public final class AudioMixingSession {
    /// After this many silent frames the encoder has settled, and its last packet stands for all that follow.
    private static let settledSilence = 10

    private struct Receiver {
        let id: ParticipantID
        let encoder: OpusEncoder
        var limiter = SoftLimiter()
        var silentFrames = 0
        var lastPayload = ByteBuffer()
    }

    /// By id, so that sums come out the same in every run.
    private var sources: [AudioSource] = []
    private var receivers: [Receiver] = []
    private var mixer = AudioMixer()
    private var scratch = [Float](repeating: 0, count: AudioFormat.frameSampleCount)

    public init() {}

    /// Begins to mix a participant's sound in. Nothing happens where it is known.
    public func addSource(_ id: ParticipantID) throws(OpusError) {
        let index = sources.firstIndex { $0.id >= id } ?? sources.endIndex
        guard index == sources.endIndex || sources[index].id != id else { return }
        sources.insert(try AudioSource(id: id), at: index)
    }

    public func removeSource(_ id: ParticipantID) {
        sources.removeAll { $0.id == id }
    }

    /// Begins to make packets for a participant, or begins anew with other settings.
    public func addReceiver(_ id: ParticipantID, settings: AudioEncoderSettings = .init()) throws(OpusError) {
        let receiver = Receiver(id: id, encoder: try OpusEncoder(settings: settings))
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
        receivers.first { $0.id == id }?.encoder.setBitRate(rate)
    }

    /// Says what share of its packets a receiver loses, 0 to 1.
    public func setExpectedPacketLoss(_ fraction: Double, for id: ParticipantID) {
        receivers.first { $0.id == id }?.encoder.setExpectedPacketLoss(fraction)
    }

    /// Takes in what happened since the last tick and makes the next 20 ms for every receiver.
    ///
    /// `now` is the time the tick is due, not when a worker got to it: delays are measured against it.
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

        mixer.begin()
        for source in sources {
            for packet in input.packets[source.id] ?? [] { source.insert(packet) }
            source.pull(now: now)
            if source.isAudible { mixer.add(source.frame) }
            result.sources[source.id] = AudioSourceReport(
                level: source.level, statistics: source.statistics, isMixed: source.isAudible)
        }
        for index in receivers.indices {
            do throws(OpusError) {
                result.packets[receivers[index].id] = try encodeMix(for: &receivers[index])
            } catch {
                result.failures.append(error)
            }
        }
        return result
    }

    private func apply(_ change: AudioMixingInput.Change) throws(OpusError) {
        switch change {
        case .addSource(let id): try addSource(id)
        case .removeSource(let id): removeSource(id)
        case .addReceiver(let id, let settings): try addReceiver(id, settings: settings)
        case .removeReceiver(let id): removeReceiver(id)
        case .setBitRate(let rate, let id): setBitRate(rate, for: id)
        case .setExpectedPacketLoss(let fraction, let id): setExpectedPacketLoss(fraction, for: id)
        }
    }

    private func encodeMix(for receiver: inout Receiver) throws(OpusError) -> EncodedAudio {
        let id = receiver.id
        let own = sources.first { $0.id == id && $0.isAudible }
        guard mixer.mix(without: own?.frame, into: &scratch) else {
            return try encodeSilence(for: &receiver)
        }
        receiver.silentFrames = 0
        receiver.limiter.process(&scratch)
        let payload = try receiver.encoder.encode(scratch)
        return EncodedAudio(
            payload: payload, level: LevelMeter.level(scratch),
            maySkip: receiver.encoder.settings.usesDTX && payload.readableBytes <= 2,
            limiterGain: receiver.limiter.lowestGain)
    }

    /// `scratch` is silent.
    private func encodeSilence(for receiver: inout Receiver) throws(OpusError) -> EncodedAudio {
        let usesDTX = receiver.encoder.settings.usesDTX
        if receiver.silentFrames < Self.settledSilence {
            receiver.silentFrames += 1
            receiver.limiter.reset()
            receiver.lastPayload = try receiver.encoder.encode(scratch)
        }
        let isSettled = receiver.silentFrames == Self.settledSilence
        return EncodedAudio(
            payload: receiver.lastPayload, level: .silence,
            maySkip: usesDTX && (isSettled || receiver.lastPayload.readableBytes <= 2))
    }
}
