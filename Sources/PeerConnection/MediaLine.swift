import MediaCore
import RTP
import SDP
import SecureTransport

/// One m-line of a session: its keys, its addresses, and its streams in both directions.
///
/// It is a class, so that reading a line never copies its streams; only its connection has a reference.
final class MediaLine {
    private(set) var negotiated: NegotiatedMedia
    /// The keys of the line's packets, which other lines may share; `nil` until there are keys.
    private(set) var keys: Keys?
    /// The part of `negotiated` that every packet needs: all of it is too large to be copied for each.
    private(set) var header: Header
    /// The path of RTP; `nil` until the remote address is known, and while sending is paused.
    var rtpPath: NetworkPath? { isPaused ? nil : knownRTPPath }
    /// The path of RTCP; nil while sending is paused, and while the session does not have the line.
    var rtcpPath: NetworkPath? { isPaused || isDisabled ? nil : knownRTCPPath }
    private var knownRTPPath: NetworkPath?
    private var knownRTCPPath: NetworkPath?
    /// True while nothing is sent because the remote side is silent. The paths are kept.
    private var isPaused = false
    /// True while the session does not have the line.
    private var isDisabled = false
    /// The time of the last authenticated RTP packet.
    private(set) var lastRTP: MonotonicInstant?
    /// SSRCs that were announced for this line or authenticated on it, those of retransmissions too.
    private(set) var knownSSRCs: [UInt32]
    /// Our sources that the remote side has reported on.
    private var reportedSSRCs: [UInt32] = []
    /// The newest packet that latched the address, by source, so that a replayed or delayed packet cannot move the
    /// address back.
    private var latchedSequence: [UInt32: UInt16] = [:]

    private(set) var videoReceiver: VideoReceiveStream?
    private(set) var videoSender: VideoSendStream?
    private(set) var audioReceiver: AudioReceiveStream?
    private(set) var audioSender: AudioSendStream?
    /// The source of the last stream that a negotiation has ended.
    private(set) var endedSSRC: UInt32?
    private(set) var limits = VideoLimits()
    /// Counters of streams that have ended.
    private var endedVideo: [NegotiatedMedia.Content: VideoTotals] = [:]
    private var endedAudio = AudioTotals()

    /// An endpoint uses a few SSRCs a line; of more, those that were heard longest ago are forgotten.
    private static let maximumSSRCs = 8
    /// Forgotten sources that still have their places under the keys, the first one forgotten first.
    private var forgottenSSRCs: [UInt32] = []
    /// The limit of places that others may have: a new source has keys to derive.
    private var successions = TokenBucket(rate: 0.2, capacity: 16)

    /// The negotiated RTP header: the received payload types, and the identifiers of the header extensions in use,
    /// `nil` for others.
    struct Header {
        let receivedPayloadTypes: [UInt8]
        let absoluteSendTime: UInt8?
        let outboundTransportSequence: UInt8?
        /// True if feedback names packets by their sources' numbers (RFC 8888).
        let usesCongestionControlFeedback: Bool
        let inboundTransportSequence: UInt8?
        let inboundAudioLevel: UInt8?
        let inboundMID: UInt8?
        let outboundMID: UInt8?
        /// The identification tag as written in packets.
        let mid: [UInt8]

        /// The length above which a tag would cost too much in a packet; the announced SSRCs then identify its media.
        private static let longestMID = 8

        init(_ media: NegotiatedMedia) {
            let usesTransportFeedback = media.feedback.transportCC
            usesCongestionControlFeedback = media.feedback.congestionControl
            let payloadTypes = [
                media.payloadType, media.retransmissionPayloadType, media.flexFECPayloadType,
                media.redundancyPayloadType,
            ]
            receivedPayloadTypes = media.receives ? payloadTypes.compactMap(\.self) : []
            absoluteSendTime = media.outboundExtensionIDs.absoluteSendTime
            outboundTransportSequence = usesTransportFeedback ? media.outboundExtensionIDs.transportSequenceNumber : nil
            inboundTransportSequence = usesTransportFeedback ? media.extensionIDs.transportSequenceNumber : nil
            inboundAudioLevel = media.extensionIDs.audioLevel
            mid = Array((media.mid ?? "").utf8)
            inboundMID = mid.isEmpty ? nil : media.extensionIDs.mid
            outboundMID = (1...Self.longestMID).contains(mid.count) ? media.outboundExtensionIDs.mid : nil
        }
    }

    init(_ negotiated: NegotiatedMedia) {
        self.negotiated = negotiated
        header = Header(negotiated)
        knownSSRCs = Self.announcedSSRCs(of: negotiated)
    }

    private static func announcedSSRCs(of media: NegotiatedMedia) -> [UInt32] {
        let repairing = media.remoteRetransmissionSSRCs.keys.sorted() + media.remoteFlexFECSSRCs.keys.sorted()
        return Array((media.remoteSSRCs + repairing).suffix(maximumSSRCs))
    }

    // MARK: Negotiation

    /// Applies a renegotiation of the line. A continuing stream keeps its numbers and its history, even after a pause,
    /// because no number may be used twice under its keys.
    func update(_ wanted: NegotiatedMedia, using generator: inout some RandomNumberGenerator) {
        isDisabled = false
        if wanted.kind != negotiated.kind || wanted.content != negotiated.content || wanted.mid != negotiated.mid
            || wanted.localSSRC != negotiated.localSSRC
        {
            // The m-line was given to another stream (RFC 8829, section 5.2.2), or taken up again with a new source.
            begin(wanted)
        } else {
            negotiated = wanted
            header = Header(wanted)
            for ssrc in Self.announcedSSRCs(of: wanted) { remember(ssrc: ssrc) }
        }
        setUpStreams(using: &generator)
    }

    /// Begins another stream, by the same path and with the same keys.
    private func begin(_ wanted: NegotiatedMedia) {
        endVideoReception()
        endAudioReception()
        if let videoSender { endedVideo[negotiated.content, default: .init()] += videoSender.totals }
        if let audioSender { endedAudio += audioSender.totals }
        (videoSender, audioSender) = (nil, nil)
        negotiated = wanted
        header = Header(wanted)
        knownSSRCs = Self.announcedSSRCs(of: wanted)
        (reportedSSRCs, latchedSequence, lastRTP) = ([], [:], nil)
        limits = VideoLimits()
    }

    /// The session no longer has the line.
    func disable(using generator: inout some RandomNumberGenerator) {
        isDisabled = true
        negotiated.direction = .inactive
        header = Header(negotiated)
        setUpStreams(using: &generator)
    }

    /// Makes the negotiated streams that do not exist yet, and updates the others.
    func setUpStreams(using generator: inout some RandomNumberGenerator) {
        switch negotiated.kind {
        case .video:
            if !negotiated.receives { endVideoReception() }
            if negotiated.receives, videoReceiver == nil { videoReceiver = VideoReceiveStream(negotiated) }
            videoReceiver?.media = negotiated
            if negotiated.sends, videoSender == nil {
                videoSender = VideoSendStream(
                    negotiated, maximumPayloadSize: PeerConfiguration.maximumPayloadSize.bytes, using: &generator)
            }
            videoSender?.update(negotiated, using: &generator)
        case .audio:
            if !negotiated.receives { endAudioReception() }
            if negotiated.receives, audioReceiver == nil { audioReceiver = AudioReceiveStream() }
            audioReceiver?.media = negotiated
            if negotiated.sends, audioSender == nil {
                audioSender = AudioSendStream(
                    ssrc: negotiated.localSSRC, payloadType: negotiated.payloadType, using: &generator)
            }
            audioSender?.payloadType = negotiated.payloadType
            audioSender?.redundancyPayloadType = negotiated.redundancyPayloadType
        }
    }

    private func endVideoReception() {
        guard let videoReceiver else { return }
        endedVideo[negotiated.content, default: .init()] += videoReceiver.totals
        endedSSRC = videoReceiver.ssrc
        self.videoReceiver = nil
    }

    private func endAudioReception() {
        guard let audioReceiver else { return }
        endedAudio += audioReceiver.totals
        endedSSRC = audioReceiver.ssrc
        self.audioReceiver = nil
    }

    /// The counters of all streams of this content that the line has had.
    func videoTotals(_ content: NegotiatedMedia.Content) -> VideoTotals {
        var totals = endedVideo[content] ?? VideoTotals()
        guard negotiated.content == content else { return totals }
        if let videoReceiver { totals += videoReceiver.totals }
        if let videoSender { totals += videoSender.totals }
        return totals
    }

    /// The counters of all audio streams that the line has had.
    var audioTotals: AudioTotals {
        var totals = endedAudio
        if let audioReceiver { totals += audioReceiver.totals }
        if let audioSender { totals += audioSender.totals }
        return totals
    }

    // MARK: Path and keys

    /// Protects packets with these keys from now on.
    func use(_ keys: Keys) { self.keys = keys }

    /// Sends everything to where ICE says; nowhere while it says nothing.
    func follow(_ path: NetworkPath?) { (knownRTPPath, knownRTCPPath) = (path, path) }

    /// Sends everything to where another line of the bundle sends.
    func follow(_ other: MediaLine) {
        (knownRTPPath, knownRTCPPath) = (other.knownRTPPath, other.knownRTCPPath)
    }

    /// Sends to the addresses that the remote description has.
    func followDescription() {
        let rtcpAddress = negotiated.rtcpMux ? negotiated.remoteRTPAddress : negotiated.remoteRTCPAddress
        knownRTPPath = negotiated.remoteRTPAddress.map { NetworkPath(remote: $0) }
        knownRTCPPath = rtcpAddress.map { NetworkPath(remote: $0) }
    }

    /// Sends media, and the streams multiplexed with it, on this path.
    func sendMedia(on path: NetworkPath) {
        knownRTPPath = path
        if negotiated.rtcpMux { knownRTCPPath = path }
    }

    /// Sends reports on this path.
    func sendControl(on path: NetworkPath) { knownRTCPPath = path }

    /// Pauses sending, or resumes it.
    func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

    // MARK: Receiving

    /// Takes a packet of the line that authenticated. Returns its transport-wide number, if it has one.
    func received(_ packet: RTPPacket, now: MonotonicInstant) -> UInt16? {
        remember(ssrc: packet.ssrc)
        lastRTP = now
        return header.inboundTransportSequence.flatMap { packet.extensions.transportSequenceNumber(id: $0) }
    }

    /// Returns true if a packet of this payload type belongs to the line.
    func takes(payloadType: UInt8) -> Bool { header.receivedPayloadTypes.contains(payloadType) }

    /// True if a packet whose source was not announced cannot belong to the line.
    var hasOnlyAnnouncedSources: Bool { negotiated.hasOnlyAnnouncedSources }

    /// Returns true if the packet's header extension names this line (RFC 8843, section 15).
    func isNamed(by extensions: RTPHeaderExtensions) -> Bool {
        guard let id = header.inboundMID, let mid = extensions.mid(id: id) else { return false }
        return mid.elementsEqual(header.mid)
    }

    /// The source of the media that comes on the line; nil before its first packet.
    var receivedSSRC: UInt32? { videoReceiver?.ssrc ?? audioReceiver?.ssrc }

    /// Remembers a source that was heard or announced.
    func remember(ssrc: UInt32) {
        guard knownSSRCs.last != ssrc else { return }
        if let index = knownSSRCs.firstIndex(of: ssrc) {
            knownSSRCs.remove(at: index)
        } else if knownSSRCs.count >= Self.maximumSSRCs {
            forgottenSSRCs.append(knownSSRCs.removeFirst())
            // No more of them have places.
            if forgottenSSRCs.count > SRTPContext.maximumSourceCount { forgottenSSRCs.removeFirst() }
        }
        knownSSRCs.append(ssrc)
    }

    /// Lets new sources have the places of forgotten ones.
    ///
    /// - Parameter isInUse: Returns true for a source that a line with these keys has.
    func endForgottenSources(except isInUse: (_ ssrc: UInt32, _ keys: SRTPContext) -> Bool, now: MonotonicInstant) {
        while let forgotten = forgottenSSRCs.first, successions.take(now: now) {
            forgottenSSRCs.removeFirst()
            if let keys = keys?.inbound, !isInUse(forgotten, keys) { keys.endSource(forgotten) }
        }
    }

    func forget(ssrc: UInt32) {
        knownSSRCs.removeAll { $0 == ssrc }
    }

    /// Returns true if packets of a remote source may come on the line.
    func hears(_ ssrc: UInt32) -> Bool { !isDisabled && knownSSRCs.contains(ssrc) }

    /// Returns true if the line has this source of ours.
    func speaks(as ssrc: UInt32) -> Bool { !isDisabled && isOwn(ssrc) }

    /// Returns true if a packet numbered `sequenceNumber` is newer than all that latched the address before.
    func isNewest(ssrc: UInt32, sequenceNumber: UInt16) -> Bool {
        if let latched = latchedSequence[ssrc], Int16(truncatingIfNeeded: Int(sequenceNumber) - Int(latched)) <= 0 {
            return false
        }
        if latchedSequence.count > Self.maximumSSRCs { latchedSequence.removeAll() }
        latchedSequence[ssrc] = sequenceNumber
        return true
    }

    // MARK: Bounds of rates

    /// Takes the most video that is of use to us. Returns true if it is another than before.
    func limitReceivedVideo(to limit: BitRate) -> Bool {
        guard limits.wanted != limit else { return false }
        limits.wanted = limit
        return true
    }

    /// Takes the receiver's request for our video. Returns true if it changes the limit.
    func requested(_ request: BitRateLimits, now: MonotonicInstant) -> Bool {
        guard negotiated.feedback.tmmbr, let ssrc = videoSender?.ssrc,
            let limit = request.limits.last(where: { $0.ssrc == ssrc })
        else { return false }
        limits.request(limit, by: request.senderSSRC, now: now)
        return true
    }

    /// A report of a remote source came: what it asked for goes on.
    func heard(_ ssrc: UInt32, now: MonotonicInstant) { limits.heard(ssrc, now: now) }

    /// Forgets requests of sources that are gone. Returns true if that changes the limit.
    func forgetRequests(of gone: [UInt32], now: MonotonicInstant) -> Bool { limits.forgetRequests(of: gone, now: now) }

    /// Takes the confirmation of the line's limits by the sender of its video.
    func notified(_ notification: BitRateLimits) {
        guard videoReceiver?.ssrc == notification.senderSSRC else { return }
        limits.notified(notification.limits, by: notification.senderSSRC, ssrc: negotiated.localSSRC)
    }

    // MARK: Reports

    /// Our regular report on the line.
    func makeReport(wallClock: WallClock, now: MonotonicInstant) -> RTCPPacket {
        let ssrc = negotiated.localSSRC
        let reports =
            videoReceiver?.reportBlocks(now: now) ?? audioReceiver?.reportBlock(now: now).map { [$0] } ?? []
        if sends,
            let report = sendStatistics?.makeSenderReport(ssrc: ssrc, reports: reports, wallClock: wallClock, now: now)
        {
            return .senderReport(report)
        }
        return .receiverReport(ReceiverReport(ssrc: ssrc, reports: reports))
    }

    /// The statistics of the stream that we send.
    var sendStatistics: SendStatistics? { videoSender?.statistics ?? audioSender?.statistics }

    // MARK: Sending

    /// Sets the extensions of a packet that leaves: which line it is of, until the remote side knows, and when it
    /// leaves. The number for feedback has its place: how large the packet is does not depend on that.
    func setExtensions(of packet: inout RTPPacket, now: MonotonicInstant) {
        if let id = header.outboundMID, !reportedSSRCs.contains(packet.ssrc) {
            packet.extensions.setMID(header.mid, id: id)
        }
        if let id = header.absoluteSendTime { packet.extensions.setAbsoluteSendTime(now, id: id) }
        if let id = header.outboundTransportSequence { packet.extensions.setTransportSequenceNumber(0, id: id) }
    }

    /// True if media can be sent: it was negotiated, and its address and keys are known.
    var canSend: Bool { sends && rtpPath != nil && keys != nil }

    /// True if sending was negotiated. (Only the direction is read: reading all of the negotiation would copy it.)
    var sends: Bool { negotiated.direction.sends }

    /// Returns true if this is the video line of this content, and in use.
    func shows(_ content: NegotiatedMedia.Content) -> Bool {
        negotiated.kind == .video && negotiated.content == content && negotiated.direction != .inactive
    }

    /// Returns true if this is the audio line of this content, and in use.
    func plays(_ content: NegotiatedMedia.Content) -> Bool {
        negotiated.kind == .audio && negotiated.content == content && negotiated.direction != .inactive
    }

    var sendsVideo: Bool { negotiated.kind == .video && sends }
    var sendsAudio: Bool { negotiated.kind == .audio && sends }
    var receivesVideo: Bool { negotiated.kind == .video && receives }

    /// True if receiving was negotiated.
    var receives: Bool { !header.receivedPayloadTypes.isEmpty }

    /// The remote side has reported on a source of ours.
    func reported(ssrc: UInt32) {
        guard isOwn(ssrc), !reportedSSRCs.contains(ssrc) else { return }
        reportedSSRCs.append(ssrc)
    }

    private func isOwn(_ ssrc: UInt32) -> Bool {
        ssrc == negotiated.localSSRC || ssrc == negotiated.localRetransmissionSSRC
            || ssrc == negotiated.localFlexFECSSRC
    }
}
