import AudioMixing
import MediaCore
import NIOCore
import PeerConnection

/// Rate and level of a participant's audio without decoding: the bits of its packets, and how loud the packets say
/// they are.
struct UndecodedAudio {
    /// The time without packets after which the source counts as silent.
    private static let silence = Duration.milliseconds(100)
    /// The time for which levels of voice are trusted after decoding has confirmed them.
    private static let confidence = Duration.seconds(5)

    private var meter = LevelMeter()
    private var rateMeter = RateMeter()
    private var latest: (level: AudioLevel, time: MonotonicInstant)?
    /// True while packets are believed to state their levels.
    private var tellsLevel = true
    /// True if decoding has shown that the levels in packets are wrong. They are not trusted again.
    private(set) var isRefuted = false
    private var confirmed: MonotonicInstant?

    /// Takes a packet. Returns the rate with it.
    mutating func add(_ packet: ReceivedAudioPacket, now: MonotonicInstant) -> BitRate {
        rateMeter.add(DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead, now: now)
        tellsLevel = packet.level != nil
        if let level = packet.level { latest = (meter.judge(level), now) }
        return rate(now: now)
    }

    /// Takes the verdict of decoding on the levels in packets.
    mutating func take(_ claim: LevelClaim, now: MonotonicInstant) {
        switch claim {
        case .unchecked: break
        case .confirmed: confirmed = now
        case .refuted: isRefuted = true
        }
    }

    /// Returns true if the levels in packets can replace decoded ones: silence always can, and voice only if decoding
    /// has confirmed it lately. A sender may write any level into its packets to become the speaker.
    ///
    /// - Parameter isOn: True if the microphone is on. Levels of a microphone that is off are not used.
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
