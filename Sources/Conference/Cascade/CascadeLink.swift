import CongestionControl
import MediaCore
import OrderedCollections
import PeerConnection
import SDP
import SecureTransport

/// A link to another relay of a room: one connection for all sources that cross, in both directions.
///
/// Each source has a line of its own in the link's session, with its own numbers. The relay that sends a source
/// announces the line, and begins to send when the other side has taken the announcement: packets of a source that was
/// not announced belong to nobody.
final class CascadeLink: Endpoint {
    let room: String
    /// The relay at the other side.
    let node: String
    /// Names the link in messages.
    let name: String
    let began: MonotonicInstant
    /// True if this relay made the link: then its lines have even numbers, and odd ones otherwise.
    private let isMaker: Bool
    private let localReporter: UInt32
    private let remoteReporter: UInt32
    private var random: SeededGenerator

    /// Members of the other side by their ids.
    var members: OrderedDictionary<String, Participant> = [:]
    /// The states that the other side tells of people who have moved, and are here or at a third relay, by their old
    /// ids.
    var elsewhere: [String: CascadeState.Member] = [:]
    /// The streams that the other side has announced, by their lines.
    private(set) var incoming: OrderedDictionary<Int, CascadeState.Stream> = [:]
    /// The sources of all packets that the other side may send.
    private var remoteSources: Set<UInt32>
    /// Our sources that the other side shows, and the sizes of their tiles.
    private(set) var wanted: [CascadeSource: VideoDimensions] = [:]
    /// Our sources that cross, or are about to.
    var outgoing: OrderedDictionary<CascadeSource, CascadeStreamSender> = [:]

    var orders = CascadeOrders()
    var acts = CascadeActs()
    var isConnected = false
    /// The epoch with which the other side leads the room; nil if it does not.
    var conductedEpoch: Int64?
    /// Packets of our sources that were forwarded.
    var packetsSent: UInt64 = 0
    /// The number of times that a picture was held back.
    var picturesHeld: UInt64 = 0
    private var nextHold = MonotonicInstant.zero
    private var lastSequence: UInt64 = 0
    /// The time at which the room's state is compared next with the state that was told last.
    var nextCheck: MonotonicInstant
    private var sent = CascadeState()
    private var nextHeartbeat: MonotonicInstant
    private var waiting: CascadeState?
    private var isUnderWay = false
    private var nextMessage: MonotonicInstant
    private var messageBudget: TokenBucket

    /// The time between two looks for changes.
    static let checkInterval = Duration.milliseconds(100)
    /// The time between two messages without a change.
    private static let heartbeat = Duration.seconds(1)
    private static let retryInterval = Duration.milliseconds(500)
    /// A link that has not connected by then has failed.
    private static let connectTimeout = Duration.seconds(10)
    /// A link from which nothing has come for this time has failed.
    private static let silenceTimeout = Duration.seconds(5)
    /// The time in which a picture that was held back has to show its effect.
    private static let holdInterval = Duration.milliseconds(500)
    /// Messages of the other side that are taken, a second.
    private static let messageRate = 50.0
    /// Lines of one direction.
    static let maximumStreams = 200
    /// Sources of one direction: the lines', those of their retransmissions, and the reporter.
    static let maximumSources = 2 * maximumStreams + 1
    static let rateLimits = RateLimits(minimum: .kilobits(300), start: .megabits(3), maximum: .megabits(200))
    /// The rate for which a link is probed at least, so that the next source finds room.
    static let leastDemand = BitRate.megabits(1)

    private static let videoPayloadType: UInt8 = 96
    private static let retransmissionPayloadType: UInt8 = 97
    private static let audioPayloadType: UInt8 = 111

    /// - Parameter peer: A connection for `session(transport:reporter:)`.
    init(
        id: ParticipantID, room: String, node: String, name: String, isMaker: Bool,
        reporters: (local: UInt32, remote: UInt32),
        seed: UInt64, peer: PeerConnection, now: MonotonicInstant
    ) {
        self.room = room
        self.node = node
        self.name = name
        self.isMaker = isMaker
        (localReporter, remoteReporter) = reporters
        remoteSources = [remoteReporter]
        random = SeededGenerator(seed: seed)
        began = now
        nextCheck = now
        nextHeartbeat = now
        nextMessage = now
        messageBudget = TokenBucket(rate: Self.messageRate, capacity: 2 * Self.messageRate, now: now)
        super.init(id: id, peer: peer, now: now)
    }

    // MARK: Session

    /// The session of a link without sources. Its first line carries reports alone, which show that the link lives.
    static func session(transport: NegotiatedTransport, reporter: UInt32) -> NegotiatedSession {
        let control = NegotiatedMedia(
            kind: .audio, index: 0, payloadType: audioPayloadType, direction: .inactive, keys: nil,
            feedback: .audio, localSSRC: reporter, reducedSizeRTCP: true)
        return NegotiatedSession(
            media: [control], cname: "relay", isBundled: true, transport: transport,
            feedbackInterval: FeedbackTiming.statedInterval)
    }

    /// Gives the connection the streams of both directions.
    private func updateSession(now: MonotonicInstant) {
        guard let transport = peer.session.transport else { return }
        var session = Self.session(transport: transport, reporter: localReporter)
        session.media += incoming.values.map { media($0, sends: false) }
        remoteSources = Set([remoteReporter] + incoming.values.flatMap(\.sources))
        session.media += outgoing.values.map { media($0.stream, sends: true) }
        // A session over DTLS has no keys of its own that could be refused.
        try? peer.update(session: session, now: now)
        limiter.setSenders(
            Set(incoming.values.map(\.source.participant)).count,
            reportedOn: Set(outgoing.keys.map(\.participant)).count, now: now)
    }

    private func media(_ stream: CascadeState.Stream, sends: Bool) -> NegotiatedMedia {
        let isAudio = stream.source.content == .audio
        let extensions = HeaderExtensionIDs(
            transportSequenceNumber: 1, audioLevel: isAudio ? 2 : nil, videoOrientation: isAudio ? nil : 3)
        let retransmissions = stream.retransmissions
        var media = NegotiatedMedia(
            // Its name makes it another stream than the one that had the line before.
            kind: isAudio ? .audio : .video, index: stream.line, mid: String(stream.ssrc),
            payloadType: isAudio ? Self.audioPayloadType : Self.videoPayloadType,
            retransmissionPayloadType: isAudio ? nil : Self.retransmissionPayloadType,
            content: .relayed(stream.line),
            direction: sends ? .sendOnly : .receiveOnly, keys: nil,
            h264: isAudio ? nil : H264FormatParameters(profileLevelID: nil, packetizationMode: 1),
            feedback: isAudio ? .audio : FeedbackSupport(nack: true, pli: true, transportCC: true),
            extensionIDs: extensions, outboundExtensionIDs: extensions,
            remoteSSRCs: sends ? [] : [stream.ssrc], localSSRC: sends ? stream.ssrc : localReporter,
            localRetransmissionSSRC: sends ? retransmissions : nil,
            remoteRetransmissionSSRCs: sends ? [:] : retransmissions.map { [$0: stream.ssrc] } ?? [:],
            reducedSizeRTCP: true)
        media.hasOnlyAnnouncedSources = true
        return media
    }

    // MARK: Our sources

    /// Sets the sources that are to cross.
    func setSources(_ sources: OrderedSet<CascadeSource>, now: MonotonicInstant) {
        var isChanged = false
        for source in Array(outgoing.keys) where !sources.contains(source) {
            outgoing[source] = nil
            isChanged = true
        }
        for source in sources where outgoing[source] == nil {
            guard let line = freeLine() else { break }
            let hasPicture = source.content != .audio
            outgoing[source] = CascadeStreamSender(
                stream: CascadeState.Stream(
                    source: source, line: line, ssrc: makeSSRC(), retransmissions: hasPicture ? makeSSRC() : nil))
            isChanged = true
        }
        if isChanged { updateSession(now: now) }
    }

    private func freeLine() -> Int? {
        let used = Set(outgoing.values.map(\.stream.line))
        let lines = stride(from: isMaker ? 2 : 1, to: 2 * Self.maximumStreams + 1, by: 2)
        return lines.first { !used.contains($0) }
    }

    private func makeSSRC() -> UInt32 {
        while true {
            let ssrc = UInt32.random(in: 1 ... .max, using: &random)
            if !sources.contains(ssrc) { return ssrc }
        }
    }

    /// All sources of the link's packets, in both directions.
    private var sources: Set<UInt32> {
        remoteSources.union([localReporter] + outgoing.values.flatMap(\.stream.sources))
    }

    override func maySend(as ssrc: UInt32) -> Bool { remoteSources.contains(ssrc) }

    /// The source of a line of ours.
    func source(ofLine line: Int) -> CascadeSource? {
        outgoing.values.first { $0.stream.line == line }?.stream.source
    }

    /// Returns true if another picture may be held back now.
    func mayHold(now: MonotonicInstant) -> Bool {
        guard now >= nextHold else { return false }
        nextHold = now + Self.holdInterval
        return true
    }

    // MARK: Messages to the other side

    /// Takes the room's state for the other side. It is sent if it has changed, and once a second.
    func tell(_ state: CascadeState, now: MonotonicInstant) {
        var state = state
        state.streams = outgoing.values.map(\.stream)
        state.orders = orders.waiting
        state.acts = acts.waiting
        state.sequence = sent.sequence
        guard state != sent || now >= nextHeartbeat else { return }
        state.sequence += 1
        sent = state
        nextHeartbeat = now + Self.heartbeat
        for source in outgoing.keys where outgoing[source]?.announced == nil {
            outgoing[source]?.announced = state.sequence
        }
        waiting = state
    }

    /// The next message. There is one at a time.
    func takeMessage(now: MonotonicInstant) -> CascadeState? {
        guard !isUnderWay, now >= nextMessage, let message = waiting else { return nil }
        waiting = nil
        isUnderWay = true
        return message
    }

    /// The other side has taken a message, or it is not known whether it has.
    func messageEnded(_ message: CascadeState, isDelivered: Bool, now: MonotonicInstant) {
        isUnderWay = false
        if isDelivered {
            orders.delivered(message.orders)
            acts.delivered(message.acts)
            for source in outgoing.keys {
                guard let announced = outgoing[source]?.announced, announced <= message.sequence else { continue }
                outgoing[source]?.isReady = true
            }
        } else {
            nextMessage = now + Self.retryInterval
            // All of it is told again.
            if waiting == nil { waiting = sent }
        }
        nextCheck = now
    }

    // MARK: Messages of the other side

    /// Takes a message. Returns false if a newer one has come before.
    func take(_ state: CascadeState, now: MonotonicInstant) throws(CascadeError) -> Bool {
        guard messageBudget.take(now: now) else { throw .tooManyMessages }
        guard state.sequence > lastSequence else { return false }
        let streams = try checked(state.streams)
        lastSequence = state.sequence
        nextCheck = now
        wanted = [:]
        for want in state.wants.prefix(Self.maximumStreams) where want.width > 0 && want.height > 0 {
            wanted[want.source] = VideoDimensions(
                width: min(want.width, Self.largestTile), height: min(want.height, Self.largestTile))
        }
        guard streams != incoming else { return true }
        incoming = streams
        updateSession(now: now)
        return true
    }

    /// No tile is larger.
    private static let largestTile = 8192

    private func checked(
        _ streams: [CascadeState.Stream]
    ) throws(CascadeError) -> OrderedDictionary<Int, CascadeState.Stream> {
        guard streams.count <= Self.maximumStreams else { throw .invalid(reason: "too many streams") }
        var lines: OrderedDictionary<Int, CascadeState.Stream> = [:]
        var ssrcs = Set([localReporter, remoteReporter] + outgoing.values.flatMap(\.stream.sources))
        for stream in streams {
            let isTheirs = stream.line % 2 == (isMaker ? 1 : 0)
            guard isTheirs, (1...2 * Self.maximumStreams).contains(stream.line), lines[stream.line] == nil else {
                throw .invalid(reason: "line \(stream.line) is not possible")
            }
            guard stream.ssrc != 0, ssrcs.insert(stream.ssrc).inserted,
                stream.retransmissions.map({ $0 != 0 && ssrcs.insert($0).inserted }) ?? true,
                (stream.retransmissions == nil) == (stream.source.content == .audio)
            else { throw .invalid(reason: "the sources of line \(stream.line) are not possible") }
            lines[stream.line] = stream
        }
        return lines
    }

    /// The member and content of a line of theirs; nil if the line is not in use.
    func owner(ofLine line: Int) -> (member: Participant, content: CascadeSource.Content)? {
        guard let stream = incoming[line], let member = members[stream.source.participant] else { return nil }
        return (member, stream.source.content)
    }

    // MARK: Life

    /// True if the other side does not answer.
    func hasFailed(now: MonotonicInstant) -> Bool {
        guard isConnected else { return now - began > Self.connectTimeout }
        return now - max(peer.lastAuthenticated ?? began, began) > Self.silenceTimeout
    }

    func snapshot(now: MonotonicInstant) -> CascadeLinkSnapshot {
        let statistics = peer.statistics(now: now)
        return CascadeLinkSnapshot(
            room: room, node: node, isConnected: isConnected, members: members.count,
            streamsOut: outgoing.count, streamsIn: incoming.count,
            sendBitRate: statistics.sendBitRate.bitsPerSecond, receiveBitRate: statistics.receiveBitRate.bitsPerSecond,
            targetBitRate: statistics.targetBitRate.bitsPerSecond,
            roundTripTime: statistics.roundTripTime?.seconds)
    }
}

extension CascadeState.Stream {
    /// The sources of the stream's packets.
    fileprivate var sources: [UInt32] { [ssrc] + (retransmissions.map { [$0] } ?? []) }
}
