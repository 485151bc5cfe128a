import CongestionControl
import Dispatch
import Foundation
import LinkEmulation
import MediaCore
import NIOCore
import PeerConnection
import RTP
import SDP
import SecureTransport
import VideoCoding

/// One client in one room, from join to leave.
///
/// `@unchecked Sendable` holds because everything that changes is touched on `eventLoop` only: every entry point hops
/// to it, and blocks on other queues hand their results back to it.
public final class ClientSession: @unchecked Sendable {
    /// The reason for the end of a session.
    public enum End: Sendable, Equatable {
        /// The client called `leave`.
        case left
        /// The relay said goodbye or fell silent.
        case relayLeft(reason: String)
        /// A moderator removed the client, or ended the room. The client is not to join again.
        case dismissed(reason: String)
        /// A source or codec failed.
        case failed(ClientError)
    }

    /// The time without a packet that means that the relay is gone, if no consent is kept fresh.
    static let silenceLimit: Duration = .seconds(10)
    /// The largest number of frames that wait for the decoder.
    static let maximumDecodeBacklog = 30

    let options: JoinOptions
    let eventLoop: any EventLoop
    let negotiation: Negotiation
    /// The key by which the client moderates the room, if it began it, here or at another relay.
    public var moderatorKey: String? { negotiation.moderatorKey ?? options.url.moderatorKey }
    let peer: PeerConnection
    let socket: MediaSocket
    let videoSender: VideoSendPipeline?
    let audioSender: AudioSendPipeline?
    let videoReceiver: VideoReceivePipeline?
    let recorder: MovieRecorder?
    let flight: ClientFlight?
    var watch: FrameWatch?
    let joinedAt = Date()
    let endPromise: EventLoopPromise<End>
    /// Succeeds with true when the relay asks the client to go to another one, with false at the session's end.
    let movePromise: EventLoopPromise<Bool>

    var uplink: EmulatedAccessLink<TransportAddress>?
    var downlink: EmulatedAccessLink<TransportAddress>?
    var measurements = ClientMeasurements()
    var samples: [ClientReport.Sample] = []
    var videoBitRate = JoinOptions.startBitRate
    var audioBitRate: BitRate?
    /// The packets that could not be sent in time: the source of the audio is to leave them out.
    var missedAudioPackets = 0
    var isKeyframeWanted = false
    /// The largest tile of the client's own picture; nil while that is not known.
    var tile: VideoDimensions?
    var roomFeed: Task<Void, Never>?
    var decodeBacklog = 0
    var audioSampleTime: UInt32 = 0
    var isClosed = false
    /// Watches whether the relay is there, if there are others to go to.
    var relayWatch: RepeatedTask?
    var isProbingRelay = false

    private var wakeUp: (instant: MonotonicInstant, task: Scheduled<Void>)?
    private var reporting: RepeatedTask?
    var previousSample = MonotonicInstant.zero

    init(
        options: JoinOptions, eventLoop: any EventLoop, negotiation: Negotiation, certificate: DTLSCertificate?,
        socket: MediaSocket, sources: MediaSources, recorder: MovieRecorder?
    ) throws(ClientError) {
        self.options = options
        self.eventLoop = eventLoop
        self.negotiation = negotiation
        self.socket = socket
        self.recorder = recorder
        watch = options.observer.map(FrameWatch.init)
        let now = ClientClock.now()
        let session = negotiation.session
        let limits = RateLimits(
            minimum: JoinOptions.minimumBitRate, start: JoinOptions.startBitRate, maximum: options.maximumBitRate)
        let isIPv6 = socket.localAddress?.isIPv6 ?? false
        let flight = options.flightRecorderPath.map { path in
            ClientFlight(
                path: path, options: options, limits: limits,
                packetOverhead: .datagramHeaders(isIPv6: isIPv6), now: now)
        }
        self.flight = flight
        let controller = options.controller.makeController(limits: limits, now: now)
        do {
            peer = try PeerConnection(
                session: session,
                configuration: PeerConfiguration(
                    rateLimits: limits, trustsRemoteDescription: true, seed: options.seed, certificate: certificate),
                wallClock: ClientClock.wallClock(), controller: flight?.recording(controller) ?? controller, now: now)
        } catch {
            throw .failed(reason: "the connection's ciphers cannot be set up: \(error)")
        }
        videoSender =
            if let source = sources.video, let video = session.video, video.sends {
                VideoSendPipeline(source: source, settings: Self.encoderSettings(video, options))
            } else { nil }
        audioSender =
            if let source = sources.audio, let audio = session.audio, audio.sends {
                AudioSendPipeline(source: source)
            } else { nil }
        videoReceiver = options.decodesVideo && session.video?.receives == true ? VideoReceivePipeline() : nil
        uplink = options.uplink.map {
            EmulatedAccessLink(profile: $0, isIPv6: isIPv6, seed: options.seed, start: now)
        }
        downlink = options.downlink.map {
            EmulatedAccessLink(profile: $0, isIPv6: isIPv6, seed: options.seed &+ 1, start: now)
        }
        endPromise = eventLoop.makePromise(of: End.self)
        movePromise = eventLoop.makePromise(of: Bool.self)
        measurements.start = now
        measurements.posted = negotiation.posted
        if session.transport == nil { measurements.connected = now }
        previousSample = now
        samples.reserveCapacity(64)
    }

    /// Returns the encoder's settings for the profile and level that the relay named.
    private static func encoderSettings(
        _ video: NegotiatedMedia, _ options: JoinOptions
    ) -> VideoSendPipeline.EncoderSettings {
        let profile = video.profileLevelID.flatMap(H264Profile.init(answering:)) ?? .constrainedBaseline
        return .init(
            backEnd: options.encoder, profile: profile, levelIDC: video.profileLevelID?.levelIDC)
    }

    /// Starts sending. On the event loop.
    func start() {
        eventLoop.preconditionInEventLoop()
        let now = ClientClock.now()
        if videoSender != nil { scheduleVideo(at: now) }
        if audioSender != nil { scheduleAudio(at: now) }
        if followsRoom { followRoom() }
        if !negotiation.alternates.isEmpty { watchRelay() }
        reporting = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [weak self] _ in
            self?.everySecond()
        }
        pump(now: now)
    }

    /// A datagram came from the socket. On the event loop.
    func received(_ datagram: ByteBuffer, from address: TransportAddress, arrival: MonotonicInstant) {
        guard !isClosed else { return }
        let now = ClientClock.now()
        watch?.came(datagram, at: arrival)
        if downlink != nil {
            downlink?.send(datagram, peer: address, now: now)
        } else {
            _ = peer.receive(datagram, from: address, arrival: arrival, now: now)
        }
    }

    /// Moves everything that can move, and sets the timer for the rest. On the event loop.
    func pump(now: MonotonicInstant) {
        guard !isClosed else { return }
        while let parcel = downlink?.deliver(now: now) {
            _ = peer.receive(parcel.datagram, from: parcel.peer, now: now)
        }
        if peer.nextWakeUp(now: now) <= now { peer.wake(now: now) }
        while let event = peer.pollEvent() { handle(event, now: now) }
        transmit(now: now)
        scheduleWakeUp(now: now)
    }

    func transmit(now: MonotonicInstant) {
        var hasWritten = false
        while let transmit = peer.pollTransmit(now: now) {
            guard !options.isSilent else { continue }
            watch?.written(transmit.datagram)
            if uplink != nil {
                uplink?.send(transmit.datagram, peer: transmit.destination, now: now)
            } else {
                socket.write(transmit.datagram, to: transmit.destination)
                hasWritten = true
            }
        }
        while let parcel = uplink?.deliver(now: now) {
            socket.write(parcel.datagram, to: parcel.peer)
            hasWritten = true
        }
        guard hasWritten else { return }
        socket.flush()
        watch?.flushed(at: ClientClock.now())
    }

    private func scheduleWakeUp(now: MonotonicInstant) {
        var next = peer.nextWakeUp(now: now)
        if let uplink { next = min(next, uplink.nextDelivery) }
        if let downlink { next = min(next, downlink.nextDelivery) }
        // Not at once again: a timer that fires early would otherwise spin.
        next = max(next, now + .microseconds(100))
        if let wakeUp {
            // One that is due already fires: it cannot be cancelled any more, and with another in its place there would
            // be two from then on, and more after each delay.
            guard next < wakeUp.instant, wakeUp.instant > now else { return }
            wakeUp.task.cancel()
        }
        guard next < .distantFuture else {
            wakeUp = nil
            return
        }
        let task = eventLoop.scheduleTask(deadline: next.deadline) { [weak self] in
            guard let self else { return }
            self.wakeUp = nil
            self.pump(now: ClientClock.now())
        }
        wakeUp = (next, task)
    }

    private func everySecond() {
        let now = ClientClock.now()
        samples.keep(takeSample(now: now))
        // Over ICE the connection itself tells when consent is lost.
        guard negotiation.session.transport == nil else { return }
        let last = peer.lastAuthenticated ?? measurements.start
        if now - last > Self.silenceLimit {
            end(.relayLeft(reason: "the relay sent nothing for \(Int(clamping: (now - last).seconds)) s"))
        }
    }

    /// Ends the session for a reason of its own; `leave` still has to be called. On the event loop.
    func end(_ reason: End) {
        endPromise.succeed(reason)
        movePromise.succeed(false)
    }

    /// Stops sending and says goodbye. On the event loop.
    func stop() {
        guard !isClosed else { return }
        let now = ClientClock.now()
        reporting?.cancel()
        relayWatch?.cancel()
        peer.close(now: now)
        // The goodbye is not kept waiting by an emulated queue: the program is about to end.
        uplink = nil
        transmit(now: now)
        isClosed = true
        movePromise.succeed(false)
        flight?.stop()
        roomFeed?.cancel()
        wakeUp?.task.cancel()
        wakeUp = nil
    }
}

/// A client's audio on its way out.
///
/// `@unchecked Sendable` holds because the source is touched inside blocks on `queue` only, a serial queue, or on the
/// client's event loop only where packets lie ready.
final class AudioSendPipeline: @unchecked Sendable {
    let queue = DispatchQueue(label: "confclient.audio")
    private let source: any OpusSource

    init(source: any OpusSource) {
        self.source = source
    }

    /// True if packets are ready, so that `queue` is not needed.
    var isImmediate: Bool { source.isImmediate }

    /// Makes the next 20 ms, at this bitrate. Call on `queue` only, unless packets lie ready.
    ///
    /// - Parameter count: The packets in front of it whose time has passed.
    func produce(bitRate: BitRate?, leavingOut count: Int) throws(ClientError) -> OutgoingAudio {
        if let bitRate { source.setBitRate(bitRate) }
        source.skip(count)
        return try source.nextPacket()
    }
}
