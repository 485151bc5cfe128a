import AudioMixing
import MediaCore
import NIOCore
import PeerConnection

/// Rate and level of a participant's audio without decoding: the bits of its packets, and how loud the packets say
/// they are.
struct UndecodedAudio {
    /// Where nothing has come for so long, there is silence.
    private static let silence = Duration.milliseconds(100)
    /// How long levels of voice are believed after decoding has confirmed them.
    private static let confidence = Duration.seconds(5)

    private var meter = LevelMeter()
    private var rateMeter = RateMeter()
    private var latest: (level: AudioLevel, time: MonotonicInstant)?
    /// Whether packets say how loud they are, as far as is known.
    private var tellsLevel = true
    /// Whether decoding has shown that what packets say of their level is not so. It is not believed again.
    private(set) var isRefuted = false
    private var confirmed: MonotonicInstant?

    mutating func add(_ packet: ReceivedAudioPacket, now: MonotonicInstant) {
        rateMeter.add(DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead, now: now)
        tellsLevel = packet.level != nil
        if let level = packet.level { latest = (meter.judge(level), now) }
    }

    /// Takes what decoding says of the levels that packets tell.
    mutating func take(_ claim: LevelClaim, now: MonotonicInstant) {
        switch claim {
        case .unchecked: break
        case .confirmed: confirmed = now
        case .refuted: isRefuted = true
        }
    }

    /// Whether the levels that packets tell may stand for decoded ones: silence always may, and voice only if decoding
    /// has confirmed it lately. A sender may write any level into its packets, and would be shown as the speaker for
    /// it.
    ///
    /// - Parameter isOn: Whether the microphone is on. Levels of one that is off are not used.
    func isLevelTrusted(isOn: Bool, now: MonotonicInstant) -> Bool {
        guard tellsLevel, !isRefuted else { return false }
        guard isOn, level(now: now).isVoice else { return true }
        return confirmed.map { now - $0 < Self.confidence } ?? false
    }

    /// The rate over the last second, with headers.
    mutating func rate(now: MonotonicInstant) -> BitRate { rateMeter.rate(now: now) }

    /// The level of the newest packet.
    func level(now: MonotonicInstant) -> AudioLevel {
        guard let latest, now - latest.time < Self.silence else { return .silence }
        return latest.level
    }
}
