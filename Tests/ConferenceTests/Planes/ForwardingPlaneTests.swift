import Compositing
import H264
import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// A room's forwarding by itself: no connection, no socket, no sleep.
@Suite struct ForwardingPlaneTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private static let canvas = VideoDimensions(width: 640, height: 360)
    private static let interval = Duration.milliseconds(33)
    private let receiver = ParticipantID(rawValue: 1)
    private let source = SourceID.camera(2)

    private func makePlane(of source: SourceID = .camera(2)) -> ForwardingPlane {
        var configuration = RelayConfiguration()
        configuration.forwarding = .auto
        let plane = ForwardingPlane(configuration: configuration)
        plane.addReceiver(receiver)
        plane.setState(ForwardingPlane.SourceState(), of: source)
        return plane
    }

    private func state(
        sole: SourceID? = .camera(2), backlog: Duration = .zero
    ) throws -> ForwardingPlane.ReceiverState {
        ForwardingPlane.ReceiverState(
            id: receiver, sole: sole,
            limits: ForwardingPolicy.Receiver(
                acceptance: ForwardingAcceptance(try Self.media()), canvas: Self.canvas, carries: .megabits(5),
                ceiling: .megabits(5), backlog: backlog))
    }

    private static func media() throws -> NegotiatedMedia {
        var random = SeededGenerator(seed: 1)
        var parameters = OfferParameters(address: VirtualCall.relayAddress)
        parameters.video = OfferParameters.Video(direction: .sendAndReceive)
        let (offer, _) = OfferAnswer.makeOffer(parameters, using: &random)
        let (_, session) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: VirtualCall.relayAddress), using: &random)
        return try #require(session.video)
    }

    private func frame() -> ReceivedVideoFrame {
        let format = VideoFormatDescription(
            parameterSets: [ByteBuffer(bytes: [0x67, 0x42, 0xC0, 0x1F])],
            properties: .init(
                profileLevel: .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 31), dimensions: Self.canvas,
                codedDimensions: VideoDimensions(width: 640, height: 368)))
        return ReceivedVideoFrame(
            sample: SampleBuffer(
                data: BlockBuffer(ByteBuffer(repeating: 1, count: 2000)), format: format, presentationTime: .zero,
                isSync: true), firstArrival: .zero, lastArrival: .zero)
    }

    /// A frame of one packet: an IDR picture, or another.
    private func packet(_ number: UInt16, isIDR: Bool, now: MonotonicInstant) -> ReceivedVideoPacket {
        packet(number, [isIDR ? 0x65 : 0x41, 0x88, 0x84, 0x00, 0x10, 0xFF], frame: number, marker: true, now: now)
    }

    private func packet(
        _ number: UInt16, _ payload: [UInt8], frame: UInt16, marker: Bool, now: MonotonicInstant
    ) -> ReceivedVideoPacket {
        ReceivedVideoPacket(
            packet: RTPPacket(
                payloadType: 96, marker: marker, sequenceNumber: number, timestamp: UInt32(frame) * 3000, ssrc: 7,
                payload: ByteBuffer(bytes: payload)), content: .main, rotation: nil, arrival: now)
    }

    /// Ticks with a source that sends, until the plane asks for something.
    private func settle(
        _ plane: ForwardingPlane, of source: SourceID = .camera(2), from start: MonotonicInstant
    ) throws -> ([ForwardingPlane.Command], MonotonicInstant) {
        var now = start
        while now < start + .seconds(10) {
            plane.observe(frame(), of: source, now: now)
            let commands = plane.update([try state(sole: source)], required: [], now: now)
            if !commands.isEmpty { return (commands, now) }
            now += Self.interval
        }
        return ([], now)
    }

    private func isBegin(_ command: ForwardingPlane.Command) -> Bool {
        if case .begin = command { true } else { false }
    }

    private func isForward(_ command: ForwardingPlane.Command) -> Bool {
        if case .forward = command { true } else { false }
    }

    @Test("nothing is forwarded on a path on which video is paused")
    func videoPaused() throws {
        let plane = makePlane()
        var receiver = try state()
        receiver.isVideoPaused = true
        for tick in 0..<Int64(150) {
            let now = Self.start + Self.interval * tick
            plane.observe(frame(), of: source, now: now)
            #expect(plane.update([receiver], required: [], now: now).isEmpty)
        }
        #expect(plane.link(of: receiver.id)?.obstacle == .network)
    }

    @Test("after two seconds without an obstacle, a keyframe of the source is requested")
    func asksForKeyframe() throws {
        let plane = makePlane()
        let (commands, now) = try settle(plane, from: Self.start)
        #expect(now - Self.start >= .seconds(2))
        #expect(
            commands.contains {
                if case .requestKeyframe(source) = $0 { true } else { false }
            })
        #expect(
            commands.contains {
                if case .setForwarded(source, true) = $0 { true } else { false }
            })
        #expect(plane.link(of: receiver)?.awaited == source)
        #expect(plane.isComposed(receiver))
    }

    @Test("a keyframe begins it, frames follow, and a link that is full ends it with the frame before")
    func beginsAndEnds() throws {
        let plane = makePlane()
        var (_, now) = try settle(plane, from: Self.start)
        _ = plane.take(packet(1, isIDR: false, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        let first = plane.take(packet(2, isIDR: true, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        #expect(first.contains(where: isBegin) && first.contains(where: isForward))
        #expect(plane.takeChange() && !plane.isComposed(receiver))
        now += Self.interval
        let next = plane.take(packet(3, isIDR: false, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        #expect(next.count == 1 && next.allSatisfy(isForward))
        now += Self.interval
        let full = plane.take(
            packet(4, isIDR: false, now: now), of: source, backlog: { _, _ in .seconds(1) }, now: now)
        #expect(
            full.contains {
                if case .stopForwarding(receiver) = $0 { true } else { false }
            })
        #expect(plane.link(of: receiver)?.obstacle == .network)
        #expect(plane.sourceAnswering(receiver) == nil)
    }

    @Test("a frame without an end is cut off when its link is more than a second behind")
    func endlessFrame() throws {
        let plane = makePlane()
        let (_, now) = try settle(plane, from: Self.start)
        _ = plane.take(packet(1, isIDR: false, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        _ = plane.take(packet(2, isIDR: true, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        func isCutOff(at number: UInt16, backlog: Duration) -> Bool {
            let fragment = packet(number, [0x5C, number == 3 ? 0x81 : 0x01, 0x9A], frame: 3, marker: false, now: now)
            return plane.take(fragment, of: source, backlog: { _, _ in backlog }, now: now).contains {
                if case .stopForwarding(receiver) = $0 { true } else { false }
            }
        }
        #expect(!isCutOff(at: 3, backlog: .zero))
        #expect(!isCutOff(at: 4, backlog: .milliseconds(900)))
        #expect(isCutOff(at: 5, backlog: .milliseconds(1100)))
        #expect(plane.link(of: receiver)?.obstacle == .network)
    }

    @Test("a receiver that is sent video again after a while without is first watched as long as a new one")
    func videoReturns() throws {
        let plane = makePlane()
        var (_, now) = try settle(plane, from: Self.start)
        _ = plane.take(packet(1, isIDR: false, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        _ = plane.take(packet(2, isIDR: true, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        #expect(!plane.isComposed(receiver))
        plane.reset(receiver)
        for _ in 0..<3 {
            now += Self.interval
            plane.observe(frame(), of: source, now: now)
            _ = plane.update([try state()], required: [], now: now)
            #expect(plane.link(of: receiver)?.phase == .encoded)
        }
    }

    @Test("a keyframe that a link cannot take soon is not begun with")
    func keyframeTooLarge() throws {
        let plane = makePlane()
        let (_, now) = try settle(plane, from: Self.start)
        _ = plane.take(packet(1, isIDR: false, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        let commands = plane.take(
            packet(2, isIDR: true, now: now), of: source, backlog: { _, size in size > .zero ? .seconds(1) : .zero },
            now: now)
        #expect(!commands.contains(where: isBegin))
        #expect(plane.link(of: receiver)?.phase == .encoded)
    }

    @Test(
        "a screen that stands still is not composed before it is decoded, and a camera that is silent is at once",
        arguments: [SourceID.screenShare(2), .camera(2)])
    func standsStill(source: SourceID) throws {
        let plane = makePlane(of: source)
        var (_, now) = try settle(plane, of: source, from: Self.start)
        _ = plane.take(packet(1, isIDR: false, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        _ = plane.take(packet(2, isIDR: true, now: now), of: source, backlog: { _, _ in .zero }, now: now)
        #expect(!plane.isComposed(receiver))
        now += .seconds(1)
        plane.setState(ForwardingPlane.SourceState(isPicturePaused: true), of: source)
        _ = plane.update([try state(sole: nil)], required: [], now: now)
        #expect(plane.isComposed(receiver) == (source.content == .camera))
        plane.setState(ForwardingPlane.SourceState(pictureTime: now), of: source)
        _ = plane.update([try state(sole: nil)], required: [], now: now + Self.interval)
        #expect(plane.isComposed(receiver))
    }

    /// The last command on the handing out of the source's packets; nil if there is none.
    private func isForwarded(_ commands: [ForwardingPlane.Command]) -> Bool? {
        commands.compactMap { if case .setForwarded(source, let isForwarded) = $0 { isForwarded } else { nil } }.last
    }

    @Test("the packets of a stream are asked for anew if the one before has ended")
    func streamFollows() throws {
        let plane = makePlane()
        let (first, now) = try settle(plane, from: Self.start)
        #expect(isForwarded(first) == true)
        plane.end(source)
        plane.observe(frame(), of: source, now: now)
        #expect(isForwarded(plane.update([try state()], required: [], now: now + Self.interval)) == true)
    }

    @Test("a source whose stream is no longer in use is ignored until it is in use again")
    func streamEnds() throws {
        let plane = makePlane()
        let (first, now) = try settle(plane, from: Self.start)
        #expect(isForwarded(first) == true)
        plane.setState(nil, of: source)
        #expect(isForwarded(plane.update([try state()], required: [], now: now + Self.interval)) == false)
        plane.setState(ForwardingPlane.SourceState(), of: source)
        #expect(isForwarded(try settle(plane, from: now + .seconds(1)).0) == true)
    }

    @Test("sources and links of a member end when it leaves")
    func leaves() throws {
        let plane = makePlane()
        _ = try settle(plane, from: Self.start)
        plane.remove(ParticipantID(rawValue: 2))
        #expect(plane.format(of: source) == nil)
        plane.remove(receiver)
        #expect(plane.link(of: receiver) == nil && plane.isComposed(receiver))
    }
}
