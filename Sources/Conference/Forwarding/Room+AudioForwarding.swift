import AudioMixing
import MediaCore
import NIOCore
import PeerConnection

/// Receivers who hear one other alone, and are sent that one's packets of audio: two in a call, who listens to one
/// sender.
extension Room {
    /// What the headers of a mix's packets take.
    private static let headers = BitRate(PeerConfiguration.packetOverhead, over: AudioFormat.frameDuration)

    /// Sees who is to be sent whose packets in place of the mix.
    func updateAudioForwarding(now: MonotonicInstant) {
        guard configuration.forwarding != .off else { return }
        // With three or more who send audio, everybody hears several.
        var first: Participant?
        var second: Participant?
        var hasMore = false
        for participant in participants where participant.sendsAudio {
            hasMore = second != nil
            if hasMore { break }
            if first == nil { first = participant } else { second = participant }
        }
        for receiver in participants where receiver.hearsMix {
            let isAlone = !hasMore && (second == nil || receiver === first || receiver === second)
            let sole = receiver === first ? second : first
            consider(receiver, sole: isAlone && sole !== receiver ? sole : nil, now: now)
        }
        setMixerPaused(canDoWithoutMixer(now: now))
    }

    private func canDoWithoutMixer(now: MonotonicInstant) -> Bool {
        var isPassing = false
        for participant in participants {
            if participant.sendsAudio,
                !participant.undecodedAudio.isLevelTrusted(isOn: participant.microphoneIsOn, now: now)
            {
                return false
            }
            guard participant.hearsMix else { continue }
            if participant.audioForwarding.isMixed { return false }
            isPassing = true
        }
        return isPassing
    }

    /// Does at a video tick what the mixer's ticks do while it does not rest.
    func observeUndecodedAudio(now: MonotonicInstant) {
        updateAudioForwarding(now: now)
        guard isMixerPaused else { return }
        var reports: [ParticipantID: AudioSourceReport] = [:]
        for participant in participants where participant.sendsAudio {
            reports[participant.id] = AudioSourceReport(
                level: participant.undecodedAudio.level(now: now), isPlaying: false,
                statistics: AudioSourceStatistics())
        }
        recordLevels(reports, now: now)
        observe(reports, now: now)
    }

    private func consider(_ receiver: Participant, sole: Participant?, now: MonotonicInstant) {
        let reading = sole.map { sender in
            (
                id: sender.id,
                reading: AudioForwardingLink.Reading(
                    rate: sender.undecodedAudio.rate(now: now), allowed: receiver.audioBitRate + Self.headers,
                    loss: receiver.peer.audioFractionLost)
            )
        }
        if receiver.audioForwarding.consider(reading, now: now) { setMixed(true, receiver) }
    }

    /// Passes a packet of audio on to those who are sent its sender's, and begins with it for those who wait for it.
    /// Returns them.
    func forward(
        _ packet: ReceivedAudioPacket, from sender: Participant, now: MonotonicInstant
    ) -> [Participant] {
        guard configuration.forwarding != .off else { return [] }
        sender.undecodedAudio.add(packet, now: now)
        guard packet.payload.readableBytes <= ForwardingPolicy.maximumPayload,
            let sampleCount = OpusDecoder.sampleCount(of: packet.payload)
        else { return [] }
        var served: [Participant] = []
        for receiver in participants where receiver !== sender {
            if receiver.audioForwarding.phase == .awaiting(sender.id) {
                receiver.audioForwarding.begin()
                setMixed(false, receiver)
            }
            guard receiver.audioForwarding.passes(sender.id),
                receiver.peer.forward(
                    packet, sampleCount: sampleCount, level: packet.level ?? sender.audio?.level, now: now)
            else { continue }
            receiver.audioForwarding.packets &+= 1
            forwarding.packets &+= 1
            served.append(receiver)
        }
        return served
    }
}
