import AudioMixing
import MediaCore
import PeerConnection
import RTP

/// The time by which the mix is behind pictures of the same instant: the mixer waits for late packets, a tick does not.
///
/// Composed pictures are compared by the speaker's sender reports. Forwarded packets do not wait, so that the mix is
/// behind them by the mixer's own delay.
struct MixLag {
    private var lipSync = LipSync()
    private var speaker: ParticipantID?
    private var picture: UInt64?
    private var composedShift = LipSync.Shift()
    private var forwardedShift = LipSync.Shift()

    var behindComposed: Duration { composedShift.value }
    var behindForwarded: Duration { forwardedShift.value }

    /// The speaker's audio is heard at a tick.
    ///
    /// - Parameters:
    ///   - senderTime: When it was captured; nil: no report has come.
    ///   - delay: How long the mixer has held it back.
    mutating func heard(
        _ speaker: ParticipantID, senderTime: NTPTime?, delay: Duration, at time: MonotonicInstant
    ) {
        if speaker != self.speaker { lipSync = LipSync() }
        self.speaker = speaker
        forwardedShift.approach(delay, at: time)
        if let senderTime { lipSync.audioPlaced(at: time, senderTime: senderTime) }
    }

    /// A picture of the speaker's camera is composed at a tick. Only the first tick at which it is counts.
    mutating func shown(_ picture: SourceFrameTimes, at time: MonotonicInstant) {
        guard picture.source.participant == speaker, picture.number != self.picture else { return }
        self.picture = picture.number
        lipSync.move(&composedShift, ofPictureAt: time, senderTime: picture.senderTime)
    }
}

extension Room {
    /// Looks at how long the speaker's audio in a tick has waited.
    func observeLag(of tick: MixedTick) {
        guard let speaker = audio.activeSpeaker.flatMap({ participant($0) }),
            let report = tick.output.sources[speaker.id], let timestamp = report.timestamp
        else { return }
        mixLag.heard(
            speaker.id, senderTime: speaker.peer.audioSenderTime(of: timestamp, content: speaker.audioStream),
            delay: report.statistics.playoutDelay, at: tick.captureTime)
    }

    /// The time by which the mix is behind the video that a receiver gets.
    func lagOfMix(for receiver: ParticipantID) -> Duration {
        forwarding.link(of: receiver)?.source == nil ? mixLag.behindComposed : mixLag.behindForwarded
    }
}
