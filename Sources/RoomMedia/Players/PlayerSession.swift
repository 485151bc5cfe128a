import MediaCore
import MediaFiles
import RoomAPI

/// A film or stream from its opening on: its decoders, and its playout. Belongs to one thread.
struct PlayerSession {
    let rotation: VideoRotation
    /// The reason for which nothing more comes; nil at the end of a film.
    private(set) var failure: PlayerFailure?
    private let packets: PlayerPackets
    private let isLive: Bool
    private let video: MediaDecoder?
    private let audio: MediaDecoder?
    private var playout: PlayerPlayout

    /// The most packets that are decoded before due pictures are shown.
    private static let mostAtOnce = 8

    init(_ opened: PlayerReader.Opened, _ packets: PlayerPackets, settings: PlayerSettings) throws(StreamFailure) {
        self.packets = packets
        isLive = opened.isLive
        rotation = opened.video?.rotation ?? .none
        video = try opened.video.map { coding throws(StreamFailure) in try MediaDecoder(coding) }
        audio = try opened.audio.map { coding throws(StreamFailure) in try MediaDecoder(coding) }
        playout = PlayerPlayout(
            isLive: opened.isLive, hasVideo: opened.video != nil, hasAudio: opened.audio != nil, settings: settings,
            place: opened.place)
    }

    var settings: PlayerSettings { playout.settings }
    var state: PlayerStatus.State { settings.isPaused ? .paused : .playing }
    var hasPlayed: Bool { framesShown > 0 || playout.place(now: .now()) > .zero }
    var framesShown: Int { playout.framesShown }
    var framesDropped: Int { playout.framesDropped }

    func place(now: MonotonicInstant) -> Duration { max(playout.place(now: now), .zero) }

    mutating func set(_ settings: PlayerSettings, now: MonotonicInstant) { playout.set(settings, now: now) }

    mutating func seek(to place: Duration) {
        packets.seek(to: place)
        video?.flush()
        audio?.flush()
        playout.seek(to: place)
        failure = nil
    }

    /// Decodes ahead, as far as is wanted and has come.
    mutating func decode(now: MonotonicInstant) {
        if isLive, let newest = packets.newest { playout.newestCame(at: newest, now: now) }
        // While it is paused, nothing is decoded that would lead to the end.
        if isLive, settings.isPaused, let end = packets.end {
            failure = end
            playout.end()
        }
        var count = 0
        while playout.wantsMore, count < Self.mostAtOnce {
            count += 1
            switch packets.next() {
            case .packet(let packet): decode(packet, with: packet.isVideo ? video : audio, now: now)
            case .end(let reason):
                decode(nil, with: video, now: now)
                decode(nil, with: audio, now: now)
                failure = reason
                playout.end(lastPictureFor: video?.pictureDuration ?? .zero)
            case .nothing: return
            }
        }
    }

    private mutating func decode(_ packet: MediaPacket?, with decoder: MediaDecoder?, now: MonotonicInstant) {
        decoder?.decode(packet) { playout.take($0, now: now) }
    }

    var wantsMore: Bool { playout.wantsMore }

    mutating func next(now: MonotonicInstant) -> PlayerPlayout.Step { playout.next(now: now) }
}
