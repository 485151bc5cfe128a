import Conference
import LinkEmulation
import MediaCore
import NIOCore
import PeerConnection
import SecureTransport
import VideoCoding

/// A participant of the simulated room, at the other end of two links.
final class SimulatedMember {
    private static let pleadingInterval = Duration.milliseconds(333)

    let name: String
    let id: String
    let address: TransportAddress
    private let peer: PeerConnection
    private let camera: SimulatedCamera?
    private var uplink: LinkModel<ByteBuffer>
    private var downlink: LinkModel<ByteBuffer>
    private var nextPlea: MonotonicInstant
    private(set) var received = ReceivedFrames()
    /// The time of the next work.
    private(set) var nextEvent: MonotonicInstant

    init(
        _ receiver: RoomSimulationParameters.Receiver, id: String, address: TransportAddress, peer: PeerConnection,
        camera: SimulatedCamera? = nil, seed: UInt64, now: MonotonicInstant
    ) {
        name = receiver.name
        self.id = id
        self.address = address
        self.peer = peer
        self.camera = camera
        uplink = LinkModel(
            profile: LinkProfile(rate: .unlimited, delay: receiver.downlink.delay), seed: seed, start: now)
        downlink = LinkModel(profile: receiver.downlink, seed: seed &+ 1, start: now)
        nextPlea = receiver.pleads ? now + .seconds(1) : .distantFuture
        nextEvent = now
    }

    /// Sends a datagram of the relay to the member.
    func send(_ datagram: ByteBuffer, now: MonotonicInstant) {
        downlink.send(datagram, size: Self.size(datagram), now: now)
        nextEvent = min(nextEvent, downlink.nextDelivery)
    }

    /// Does the work that is due, and hands arrived datagrams to the relay.
    ///
    /// - Parameter onFrame: Called with each complete frame.
    func wake(
        _ relay: Relay, now: MonotonicInstant, onFrame: (SampleBuffer) -> Void
    ) throws(VideoCodingError) {
        while let datagram = uplink.deliver(now: now) { relay.receive(datagram, from: address, now: now) }
        while let datagram = downlink.deliver(now: now) {
            _ = peer.receive(datagram, from: SimulatedMember.relayAddress, now: now)
            handleEvents(onFrame)
        }
        if now >= nextPlea {
            nextPlea += Self.pleadingInterval
            peer.requestKeyframe(now: now)
        }
        try camera?.wake(peer, now: now)
        peer.wake(now: now)
        handleEvents(onFrame)
        while let transmit = peer.pollTransmit(now: now) {
            uplink.send(transmit.datagram, size: Self.size(transmit.datagram), now: now)
        }
        nextEvent = min(
            min(uplink.nextDelivery, downlink.nextDelivery),
            min(camera?.nextFrame ?? .distantFuture, nextPlea, peer.nextWakeUp(now: now)))
        // All work that is due by now is done.
        nextEvent = max(nextEvent, now + .microseconds(10))
    }

    /// Resets the figures of received frames.
    func startCounting(now: MonotonicInstant) { received = ReceivedFrames(since: now) }

    func count(_ frame: RoomFrame) { received.count(frame) }

    static let relayAddress = TransportAddress(ipv4: 0x7f00_0001, port: 7000)

    private static func size(_ datagram: ByteBuffer) -> DataSize {
        DataSize(bytes: datagram.readableBytes) + MediaFlow.datagramOverhead
    }

    private func handleEvents(_ onFrame: (SampleBuffer) -> Void) {
        while let event = peer.pollEvent() {
            switch event {
            case .videoFrame(let frame): onFrame(frame.sample)
            case .keyframeRequested, .pictureLost: camera?.requestKeyframe()
            default: break
            }
        }
    }
}
