import AudioMixing
import MediaCore
import NIOCore

/// What a participant's packets of sound tell without being decoded: how many bits they take, and how loud they say they are.
struct UndecodedAudio {
    /// Where nothing has come for so long, there is silence.
    private static let silence = Duration.milliseconds(100)

    private var meter = LevelMeter()
    private var rateMeter = RateMeter()
    private var latest: (level: AudioLevel, time: MonotonicInstant)?
    /// Whether packets say how loud they are, as far as is known.
    private(set) var tellsLevel = true

    mutating func add(_ packet: ReceivedAudioPacket, now: MonotonicInstant) {
        rateMeter.add(DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead, now: now)
        tellsLevel = packet.level != nil
        if let level = packet.level { latest = (meter.judge(level), now) }
    }

    /// The rate over the last second, with headers.
    mutating func rate(now: MonotonicInstant) -> BitRate { rateMeter.rate(now: now) }

    /// The level of the newest packet.
    func level(now: MonotonicInstant) -> AudioLevel {
        guard let latest, now - latest.time < Self.silence else { return .silence }
        return latest.level
    }
}
