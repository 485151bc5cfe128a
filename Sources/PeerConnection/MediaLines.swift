import MediaCore
import RTP
import SDP
import SecureTransport

/// The media lines of a session, in the order of their first negotiation.
struct MediaLines: RandomAccessCollection {
    private var all: [MediaLine] = []
    /// The line of the participant's camera or, the other way, of the composed picture.
    private(set) var mainVideo: MediaLine?
    private(set) var audio: MediaLine?

    var startIndex: Int { all.startIndex }
    var endIndex: Int { all.endIndex }
    subscript(index: Int) -> MediaLine { all[index] }

    /// An iterator of the lines alone: one of the whole collection would retain and release its other references too.
    func makeIterator() -> IndexingIterator<[MediaLine]> { all.makeIterator() }

    init() {}

    /// These lines and another one.
    init(_ earlier: MediaLines, and line: MediaLine) {
        self = earlier
        all.append(line)
    }

    /// The same lines after a negotiation: finds those that are in use.
    init(negotiated lines: MediaLines) {
        all = lines.all
        mainVideo = all.first { $0.shows(.main) }
        audio = all.first { $0.negotiated.kind == .audio && $0.negotiated.direction != .inactive }
    }

    /// Lets new sources have the places of those that no line has any more. Lines may share a context.
    func endUnusedSources() {
        for (index, line) in all.enumerated() {
            guard let keys = line.keys else { continue }
            let earlier = all[..<index]
            if !earlier.contains(where: { $0.keys?.inbound === keys.inbound }) {
                keys.inbound.endSources { hears($0, under: keys.inbound) }
            }
            if !earlier.contains(where: { $0.keys?.outbound === keys.outbound }) {
                keys.outbound.endSources { ssrc in
                    all.contains { $0.keys?.outbound === keys.outbound && $0.speaks(as: ssrc) }
                }
            }
        }
    }

    /// Lets new sources have the places of those that their lines have forgotten, within the lines' limits: a gateway
    /// may change its source with each call that it connects, for weeks and without another offer. Before each packet,
    /// as the packet of a new source needs a place.
    func endForgottenSources(now: MonotonicInstant) {
        for line in all { line.endForgottenSources(except: hears, now: now) }
    }

    /// Returns true if packets of a remote source may come under these keys.
    private func hears(_ ssrc: UInt32, under keys: SRTPContext) -> Bool {
        all.contains { $0.keys?.inbound === keys && $0.hears(ssrc) }
    }

    /// The video line of this content that is in use.
    func video(_ content: NegotiatedMedia.Content) -> MediaLine? {
        content == .main ? mainVideo : all.first { $0.shows(content) }
    }

    /// The audio line of this content that is in use.
    func audio(_ content: NegotiatedMedia.Content) -> MediaLine? {
        content == .main ? audio : all.first { $0.plays(content) }
    }

    /// The line whose video has this source.
    func sendingVideo(ssrc: UInt32) -> MediaLine? { all.first { $0.videoSender?.ssrc == ssrc } }

    /// The counters of all video of this content, since the connection began.
    func videoTotals(_ content: NegotiatedMedia.Content) -> VideoTotals {
        all.reduce(into: VideoTotals()) { $0 += $1.videoTotals(content) }
    }

    /// The counters of all audio, since the connection began.
    var audioTotals: AudioTotals { all.reduce(into: AudioTotals()) { $0 += $1.audioTotals } }

    /// The streams of the video that is received, with their contents.
    var receivedVideo: [(content: NegotiatedMedia.Content, stream: VideoReceiveStream)] {
        all.compactMap { line in line.videoReceiver.map { (line.negotiated.content, $0) } }
    }

    /// The most of all our video that its receiver has asked for; nil while the path alone is the limit.
    var requestedVideoLimit: BitRate? {
        var sum: BitRate?
        for line in all where line.sendsVideo {
            guard let limit = line.limits.sendable(payloadSize: PeerConfiguration.maximumPayloadSize) else {
                return nil
            }
            sum = (sum ?? .zero) + limit
        }
        return sum
    }

    /// The fraction of our video packets that the remote side last reported lost. A line that sends nothing any more
    /// keeps its last report, which no other will follow.
    var videoFractionLost: Double { all.reduce(0) { Swift.max($0, $1.videoFractionLost) } }

    /// The same of the video that is sent again when it is lost.
    var retransmittedVideoFractionLost: Double {
        all.reduce(0) { Swift.max($0, $1.negotiated.feedback.nack ? $1.videoFractionLost : 0) }
    }

    /// The fraction of our audio packets that the remote side last reported lost.
    var audioFractionLost: Double { audio?.audioSender?.statistics.fractionLost ?? 0 }
}

extension MediaLine {
    fileprivate var videoFractionLost: Double { sendsVideo ? videoSender?.statistics.fractionLost ?? 0 : 0 }
}
