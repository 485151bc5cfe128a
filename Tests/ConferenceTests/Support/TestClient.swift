import Conference
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing
import VideoCoding

@testable import PeerConnection

/// A participant on virtual time: it sends a flat colour with some texture and a tone, and decodes what it receives.
final class TestClient {
    let name: String
    let participantID: String
    var address: TransportAddress
    let peer: PeerConnection
    /// The offer that was answered last, for the next one.
    var pending: PendingOffer
    /// The parameters of that offer.
    var parameters: OfferParameters
    var colour: Colour?
    /// The size of the pictures that are sent from now on; a change makes a new encoder, as with a camera that is
    /// turned.
    var dimensions: VideoDimensions {
        didSet { encoder = nil }
    }
    var frameRate = 15
    var isSendingVideo = true
    /// The rotation that makes the sent picture upright.
    var rotation = VideoRotation.none
    /// The colour of the presented screen, if the session has a stream for it.
    var screenShare: Colour? {
        didSet { screenShareEncoder = nil }
    }
    /// If true, the packets go on but contain silence.
    var isSilent: Bool {
        get { tone?.isSilent ?? true }
        set { tone?.isSilent = newValue }
    }

    private var encoder: CompressionSession?
    private var screenShareEncoder: CompressionSession?
    private let outputs = EncodeOutputQueue()
    private var tone: ToneEncoder?
    private let decoder = DecodingPipeline()
    private var nextFrame: MonotonicInstant
    private var nextAudio: MonotonicInstant
    private var wantedKeyframes: Set<NegotiatedMedia.Content> = []
    private var bitRate = BitRate.kilobits(300)
    private var frameCount = 0

    /// The frames that came since somebody looked at the pictures. Most tests never look, and decoding takes long.
    private var undecoded: [ReceivedVideoFrame] = []
    private var shown: PixelBuffer?
    /// The newest picture.
    var picture: PixelBuffer? {
        decode()
        return shown
    }
    /// Called with each picture, and with the time at which it was made by the relay's sender reports.
    var onPicture: ((PixelBuffer, NTPTime) -> Void)? { willSet { decode() } }
    /// The compressed frames that were received, if they are recorded.
    private(set) var frames: [[UInt8]] = []
    var recordsFrames = false
    /// The compressed frames of the camera that were sent, with their times, if they are recorded.
    private(set) var sentFrames: [(bytes: [UInt8], time: MonotonicInstant)] = []
    /// For each of them, true if it is not to be shown yet.
    private(set) var framesRecovering: [Bool] = []
    /// The presentation times of the frames that came, likewise.
    private(set) var times: [MediaTime] = []
    private(set) var arrivals: [MonotonicInstant] = []
    private(set) var keyframesReceived = 0
    private(set) var bytesReceived = 0
    private(set) var audioPackets: [ReceivedAudioPacket] = []
    /// Opus packets sent, in order.
    private(set) var sentAudio: [ByteBuffer] = []
    /// The level that packets state; nil if they state none.
    var toldLevel: AudioLevel?
    /// The rate of the audio.
    var audioBitRate: BitRate {
        get { tone?.bitRate ?? .zero }
        set { tone?.bitRate = newValue }
    }
    private(set) var bitRates: [BitRate] = []
    private(set) var sawGoodbye = false
    private(set) var connectionStates: [ConnectionState] = []
    private var failures = 0
    var decodeFailures: Int {
        decode()
        return failures
    }
    /// The arrival time of each datagram, and its delay in the downlink's queue.
    private(set) var queueing: [(time: MonotonicInstant, delay: Duration)] = []
    var uplink: LinkModel<ByteBuffer> { didSet { nextUplinkDelivery = uplink.nextDelivery } }
    var downlink: LinkModel<ByteBuffer> { didSet { nextDownlinkDelivery = downlink.nextDelivery } }
    private(set) var nextUplinkDelivery = MonotonicInstant.distantFuture
    private(set) var nextDownlinkDelivery = MonotonicInstant.distantFuture
    /// The pictures that are sent in turn in place of the flat colour.
    var pictures: [PixelBuffer] = []
    /// Changes each frame of the camera before it is sent; nil: it is not sent.
    var rewriteFrame: (EncodedFrame) -> EncodedFrame? = { $0 }
    /// Changes the properties of the next encoder.
    var adjustEncoder: (inout CompressionProperties) -> Void = { _ in }
    /// The colour description that the stream states.
    var colourDescription = ColourDescription.unspecified

    init(
        name: String, participantID: String, address: TransportAddress, session: NegotiatedSession,
        pending: PendingOffer, parameters: OfferParameters, wallClock: WallClock, colour: Colour?,
        dimensions: VideoDimensions,
        downlink: LinkProfile, rateLimits: RateLimits, now: MonotonicInstant
    ) throws {
        self.name = name
        self.participantID = participantID
        self.address = address
        self.pending = pending
        self.parameters = parameters
        self.colour = colour
        self.dimensions = dimensions
        uplink = LinkModel(
            profile: LinkProfile(rate: .unlimited, delay: .milliseconds(10)), seed: UInt64(address.port), start: now)
        self.downlink = LinkModel(profile: downlink, seed: UInt64(address.port) + 1, start: now)
        peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(
                rateLimits: rateLimits,
                trustsRemoteDescription: session.transport == nil, seed: UInt64(address.port),
                certificate: VirtualCall.clientCertificate,
                checkIdentifiers: SeededGenerator(seed: UInt64(address.port) + 2)),
            wallClock: wallClock, now: now)
        nextFrame = session.media.contains { $0.kind == .video && $0.sends } ? now : .distantFuture
        nextAudio = session.audio?.sends == true ? now : .distantFuture
        if session.audio?.sends == true { tone = try ToneEncoder(frequency: 300 + 100 * Double(address.port % 16)) }
    }

    func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant {
        min(min(nextFrame, nextAudio), peer.nextWakeUp(now: now))
    }

    func wake(now: MonotonicInstant) {
        if now >= nextFrame {
            nextFrame = nextFrame + .nanoseconds(1_000_000_000 / Int64(frameRate))
            sendFrame(now: now)
        }
        if now >= nextAudio, let tone {
            nextAudio = nextAudio + .milliseconds(20)
            if let payload = tone.next() {
                sentAudio.append(payload)
                peer.sendAudio(payload, sampleTime: tone.sampleTime, level: toldLevel, captureTime: now, now: now)
            }
        }
        peer.wake(now: now)
        handleEvents(now: now)
    }

    func receive(_ delivery: LinkModel<ByteBuffer>.Delivery, now: MonotonicInstant) {
        bytesReceived += delivery.size.bytes
        queueing.append((now, delivery.queueingDelay))
        _ = peer.receive(delivery.packet, from: VirtualCall.relayAddress, now: now)
        handleEvents(now: now)
    }

    func pollTransmit(now: MonotonicInstant) -> ByteBuffer? { peer.pollTransmit(now: now)?.datagram }

    /// An authentic check of the client, as if it were sent now.
    func makeCheck(seed: UInt64, now: MonotonicInstant) throws -> ByteBuffer {
        let transport = try #require(peer.session.transport)
        let candidate = try #require(ICECandidate.hostCandidates([VirtualCall.relayAddress]).first)
        var agent = ICEControllingAgent(
            local: transport.localCredentials, remote: transport.remoteCredentials, candidates: [candidate],
            random: SeededGenerator(seed: seed), now: now)
        agent.advance(now: now)
        let transmit = agent.pollTransmit()
        return try #require(transmit).datagram
    }

    private func sendFrame(now: MonotonicInstant) {
        guard isSendingVideo else { return }
        frameCount += 1
        do {
            if let colour {
                let session = try encoder ?? makeEncoder(dimensions)
                encoder = session
                let picture =
                    pictures.isEmpty
                    ? .pattern(colour, dimensions: dimensions, phase: frameCount)
                    : pictures[frameCount % pictures.count]
                try send(picture, through: session, content: .main, now: now)
            }
            if let screenShare {
                let size = VideoDimensions(width: 160, height: 120)
                let session = try screenShareEncoder ?? makeEncoder(size)
                screenShareEncoder = session
                try send(
                    .pattern(screenShare, dimensions: size, phase: frameCount), through: session, content: .screenShare,
                    now: now)
            }
        } catch {
            fatalError("the test's own encoder failed: \(error)")
        }
    }

    private func send(
        _ picture: PixelBuffer, through session: CompressionSession, content: NegotiatedMedia.Content,
        now: MonotonicInstant
    ) throws {
        try session.set(\.averageBitRate, to: bitRate)
        try session.encode(
            picture, presentationTime: MediaTime(value: now.nanoseconds, timescale: 1_000_000_000),
            options: EncodeOptions(forceKeyframe: wantedKeyframes.remove(content) != nil))
        guard let made = outputs.next()?.frame, let frame = content == .main ? rewriteFrame(made) : made else { return }
        if recordsFrames, content == .main { sentFrames.append((frame.sample.data.bytes, now)) }
        peer.sendVideo(
            frame, content: content, rotation: content == .main ? rotation : .none, captureTime: now, targetTime: now,
            now: now)
    }

    private func makeEncoder(_ dimensions: VideoDimensions) throws -> CompressionSession {
        var properties = CompressionProperties(averageBitRate: bitRate, expectedFrameRate: Double(frameRate))
        properties.colour = colourDescription
        adjustEncoder(&properties)
        return try CompressionSession(dimensions: dimensions, properties: properties, outputHandler: outputs.append)
    }

    private func decode() {
        let frames = undecoded
        undecoded = []
        for frame in frames {
            decoder.decode(frame.sample) { event in
                guard case .output(let output) = event else { return }
                switch output.result {
                case .picture(let decoded):
                    shown = decoded.pixelBuffer
                    if let time = frame.senderTime { onPicture?(decoded.pixelBuffer, time) }
                case .dropped: break
                case .failed: failures += 1
                }
            }
        }
    }

    private func handleEvents(now: MonotonicInstant) {
        while let event = peer.pollEvent() {
            switch event {
            case .videoFrame(let frame):
                arrivals.append(now)
                if recordsFrames {
                    frames.append(frame.sample.data.bytes)
                    times.append(frame.sample.presentationTime)
                    framesRecovering.append(frame.isRecovering)
                }
                if frame.sample.isSync { keyframesReceived += 1 }
                undecoded.append(frame)
                if onPicture != nil { decode() }
            case .audioPacket(let packet): audioPackets.append(packet)
            case .keyframeRequested(let content), .pictureLost(let content): wantedKeyframes.insert(content)
            case .videoBitRateChanged(let rate):
                bitRate = rate.target
                bitRates.append(rate.target)
            case .audioBitRateChanged, .videoEnded, .videoPacket, .pictureAcknowledged: break
            case .connectionStateChanged(let state): connectionStates.append(state)
            case .goodbye: sawGoodbye = true
            }
        }
    }
}

extension BlockBuffer {
    fileprivate var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            copyBytes(into: UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }
}
