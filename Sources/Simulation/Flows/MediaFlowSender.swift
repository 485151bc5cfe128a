import CongestionControl
import MediaCore
import NIOCore
import PeerConnection
import RTP
import SDP
import SecureTransport
import VideoCoding

/// The sending end of a flow: a peer connection, and the behaviour of its application.
///
/// It is a class so that access through the flow does not copy it.
final class MediaFlowSender {
    static let audioInterval = Duration.milliseconds(20)

    private let peer: PeerConnection
    private let session: NegotiatedSession
    private let mostAudio: BitRate
    private var audioBitRate: BitRate
    private var audioTime: UInt32 = 0
    private(set) var isSending = true
    /// True if the next frame must be a keyframe.
    var isKeyframeRequested = false
    /// The upper limit of the application's rate, whatever the target; nil for none.
    var applicationLimit: BitRate?

    init(
        session: NegotiatedSession, parameters: MediaFlowParameters, limits: RateLimits,
        controller: any CongestionController, seed: UInt64
    ) throws(SRTPError) {
        self.session = session
        mostAudio = parameters.audio ?? .zero
        audioBitRate = mostAudio
        var configuration = PeerConfiguration(rateLimits: limits, trustsRemoteDescription: true, seed: seed)
        configuration.isProtected = false
        configuration.canPad = parameters.canPad
        peer = try PeerConnection(
            session: session, configuration: configuration, wallClock: .simulated, controller: controller,
            now: .zero + parameters.start)
    }

    // MARK: Media

    func hasRoomForVideo(now: MonotonicInstant) -> Bool { peer.hasRoomForVideo(now: now) }

    /// The rate that the encoder may use now.
    var videoBitRate: BitRate { min(peer.videoBitRate, applicationLimit ?? peer.videoBitRate) }

    /// Sends a frame and returns its RTP timestamp.
    func send(_ frame: EncodedFrame, now: MonotonicInstant) -> UInt32? {
        isKeyframeRequested = false
        peer.sendVideo(frame, captureTime: now, targetTime: now, now: now)
        return peer.latestVideoTimestamp
    }

    /// Sends 20 ms of audio at the rate that the connection allows.
    func sendAudio(now: MonotonicInstant) {
        guard isSending else { return }
        let size = audioBitRate.dataSize(over: Self.audioInterval)
        let payload = ByteBuffer(repeating: 0, count: max(size.bytes, 1))
        peer.sendAudio(payload, sampleTime: audioTime, level: nil, captureTime: now, now: now)
        audioTime &+= UInt32(48 * Self.audioInterval.milliseconds)
    }

    /// Turns the camera and the microphone off or on with a new negotiation of the session, as browsers do.
    func setSending(_ isSending: Bool, now: MonotonicInstant) {
        guard isSending != self.isSending else { return }
        self.isSending = isSending
        var session = session
        if !isSending { for index in session.media.indices { session.media[index].direction = .inactive } }
        // The update can fail only on keys, and this session has none.
        try? peer.update(session: session, now: now)
    }

    // MARK: Packets and time

    func receive(_ datagram: ByteBuffer, now: MonotonicInstant) {
        _ = peer.receive(datagram, from: MediaFlowSessions.receiverAddress, now: now)
        handleEvents()
    }

    func wake(now: MonotonicInstant) {
        guard peer.nextWakeUp(now: now) <= now else { return }
        peer.wake(now: now)
        handleEvents()
    }

    func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant { peer.nextWakeUp(now: now) }

    /// Returns the next datagram to send now.
    func pollTransmit(now: MonotonicInstant) -> ByteBuffer? { peer.pollTransmit(now: now)?.datagram }

    private func handleEvents() {
        while let event = peer.pollEvent() {
            switch event {
            case .keyframeRequested, .pictureLost: isKeyframeRequested = true
            case .audioBitRateChanged(let rate): audioBitRate = min(mostAudio, rate)
            default: break
            }
        }
    }

    // MARK: Measurements

    var controllerSnapshot: ControllerSnapshot { peer.controllerSnapshot }

    func queueDelay(now: MonotonicInstant) -> Duration { peer.queueDelay(now: now) }
}

extension WallClock {
    /// The wall clock of simulations, which begin in 2023.
    static let simulated = WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32))
}
