import CongestionControl
import MediaCore
import NIOCore
import PeerConnection
import RTP
import SDP
import SecureTransport

/// The receiving end of a flow: a peer connection with a clock of its own.
///
/// It is a class so that access through the flow does not copy it.
final class MediaFlowReceiver {
    /// The receiver's clock has another origin than the sender's, as in reality.
    private static let clockOffset = Duration.seconds(86_400)

    private let peer: PeerConnection
    /// The drift of its clock, in parts per million.
    private let clockDrift: Double
    private var samples = CircularBuffer<SampleBuffer>()

    init(session: NegotiatedSession, parameters: MediaFlowParameters, seed: UInt64) throws(SRTPError) {
        clockDrift = parameters.receiverClockDrift
        let least = BitRate.kilobits(64)
        var configuration = PeerConfiguration(
            rateLimits: RateLimits(minimum: least, start: least, maximum: least), trustsRemoteDescription: true,
            seed: seed)
        configuration.isProtected = false
        configuration.feedbackTiming = parameters.feedbackTiming ?? .browser
        configuration.reportsFrameEnds = parameters.reportsFrameEnds
        peer = try PeerConnection(
            session: session, configuration: configuration, wallClock: .simulated,
            now: Self.time(.zero + parameters.start, drift: parameters.receiverClockDrift))
    }

    // MARK: Its clock

    private static func time(_ now: MonotonicInstant, drift: Double) -> MonotonicInstant {
        let time = now + clockOffset
        guard drift != 0 else { return time }
        return time + .nanoseconds(Int64(clamping: Double(now.nanoseconds) * drift / 1e6))
    }

    private func time(_ now: MonotonicInstant) -> MonotonicInstant { Self.time(now, drift: clockDrift) }

    /// Returns the time at which the receiver's clock shows a given time.
    private func instant(of time: MonotonicInstant) -> MonotonicInstant {
        guard time < .distantFuture else { return .distantFuture }
        let elapsed = time - Self.clockOffset
        guard clockDrift != 0 else { return elapsed }
        // The rounding must not give a time before the clock shows it.
        return MonotonicInstant(nanoseconds: Int64(clamping: Double(elapsed.nanoseconds) / (1 + clockDrift / 1e6)))
            + .microseconds(1)
    }

    // MARK: Packets and time

    func receive(_ datagram: ByteBuffer, ecn: ECNCodepoint, now: MonotonicInstant) {
        _ = peer.receive(datagram, from: MediaFlowSessions.senderAddress, ecn: ecn, now: time(now))
        handleEvents()
    }

    func wake(now: MonotonicInstant) {
        let time = time(now)
        guard peer.nextWakeUp(now: time) <= time else { return }
        peer.wake(now: time)
        handleEvents()
    }

    func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant { instant(of: peer.nextWakeUp(now: time(now))) }

    /// Returns the next datagram to send now.
    func pollTransmit(now: MonotonicInstant) -> ByteBuffer? { peer.pollTransmit(now: time(now))?.datagram }

    /// Returns the next frame from the jitter buffer whose references are all present.
    func pollFrame() -> SampleBuffer? { samples.popFirst() }

    private func handleEvents() {
        while let event = peer.pollEvent() {
            if case .videoFrame(let frame) = event { samples.append(frame.sample) }
        }
    }
}
