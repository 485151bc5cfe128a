import CongestionControl
import MediaCore
import SDP
import SecureTransport
import Testing

@testable import Conference

/// True if a receiver may be sent a source's own packets.
@Suite struct ForwardingPolicyTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func media(
        _ profile: H264Profile = .constrainedBaseline, level: H264ProfileLevelID.Level = .level31,
        mode: UInt8 = 1, pli: Bool = true, orientation: UInt8? = nil
    ) throws -> NegotiatedMedia {
        var random = SeededGenerator(seed: 1)
        var parameters = OfferParameters(address: VirtualCall.relayAddress)
        parameters.video = OfferParameters.Video(direction: .sendAndReceive)
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let (answer, _) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: VirtualCall.relayAddress), using: &random)
        let session = try OfferAnswer.complete(pending: pending, answer: answer)
        var media = try #require(session.video)
        media.h264 = H264FormatParameters(
            profileLevelID: H264ProfileLevelID(profile, level: level), packetizationMode: mode)
        media.feedback.pli = pli
        media.feedback.fir = false
        media.outboundExtensionIDs.videoOrientation = orientation
        return media
    }

    private func receiver(_ media: NegotiatedMedia, carries: BitRate = .megabits(2)) -> ForwardingPolicy.Receiver {
        ForwardingPolicy.Receiver(
            acceptance: ForwardingAcceptance(media), canvas: VideoDimensions(width: 1280, height: 720),
            carries: carries, ceiling: .megabits(10), backlog: .zero)
    }

    private func source(
        _ profile: H264Profile = .constrainedBaseline, level: H264ProfileLevelID.Level = .level31,
        width: Int = 640, height: Int = 360, rate: BitRate = .megabits(1)
    ) -> ForwardingPolicy.Source {
        ForwardingPolicy.Source(
            profileLevel: H264ProfileLevelID(profile, level: level),
            dimensions: VideoDimensions(width: width, height: height), packetizationMode: 1, rate: rate, peakRate: rate)
    }

    private func obstacle(
        _ source: ForwardingPolicy.Source?, _ receiver: ForwardingPolicy.Receiver
    ) -> ForwardingObstacle? {
        ForwardingPolicy().obstacle(source: source, receiver: receiver, now: start)
    }

    @Test("a picture of the canvas's shape within the receiver's profile, level and rate is passed through")
    func fits() throws {
        #expect(obstacle(source(), receiver(try media())) == nil)
        // Another size, and nearly the same shape.
        #expect(obstacle(source(width: 480, height: 272), receiver(try media())) == nil)
        #expect(obstacle(source(width: 1920, height: 1080), receiver(try media())) == nil)
    }

    @Test("another shape is not")
    func shape() throws {
        #expect(obstacle(source(width: 640, height: 480), receiver(try media())) == .shape)
        #expect(obstacle(source(width: 0, height: 0), receiver(try media())) == .shape)
        // Some receivers would show another shape than the canvas's.
        var anamorphic = source()
        anamorphic.hasSquareSamples = false
        #expect(obstacle(anamorphic, receiver(try media())) == .shape)
    }

    @Test("a picture that needs turning is forwarded to receivers that turn it themselves, by its upright shape")
    func rotation() throws {
        var turned = source()
        turned.rotation = .rotate180
        #expect(obstacle(turned, receiver(try media())) == .rotation)
        #expect(obstacle(turned, receiver(try media(orientation: 4))) == nil)
        turned.rotation = .clockwise90
        #expect(obstacle(turned, receiver(try media(orientation: 4))) == .shape)
    }

    @Test(
        "a decoder takes its own profile and those within it",
        arguments: [
            (H264Profile.constrainedBaseline, H264Profile.high, true),
            (.constrainedBaseline, .baseline, true), (.main, .high, true), (.high, .main, false),
            (.main, .constrainedBaseline, false), (.baseline, .main, false), (.baseline, .constrainedBaseline, false),
            (.high, .high, true),
        ])
    func profiles(
        _ sent: H264Profile, _ taken: H264Profile, _ fits: Bool
    ) throws {
        #expect(obstacle(source(sent), receiver(try media(taken))) == (fits ? nil : .profile))
    }

    @Test("a stream above the receiver's level is not passed through")
    func level() throws {
        #expect(obstacle(source(level: .level4), receiver(try media(level: .level31))) == .level)
        #expect(obstacle(source(level: .level1b), receiver(try media(level: .level31))) == nil)
    }

    @Test("fragments, large packets and a way without requests for keyframes are in the way")
    func transport() throws {
        #expect(obstacle(source(), receiver(try media(mode: 0))) == .packetization)
        var large = source()
        large.largestPayload = ForwardingPolicy.maximumPayload + 1
        #expect(obstacle(large, receiver(try media())) == .packetSize)
        #expect(obstacle(source(), receiver(try media(pli: false))) == .keyframes)
        var deaf = source()
        deaf.canRequestKeyframes = false
        #expect(obstacle(deaf, receiver(try media())) == .keyframes)
    }

    @Test("a camera that is off or silent is not passed through")
    func silence() throws {
        var silent = source()
        silent.isPresent = false
        #expect(obstacle(silent, receiver(try media())) == .noPicture)
        silent.isOn = false
        #expect(obstacle(silent, receiver(try media())) == .cameraOff)
        #expect(obstacle(nil, receiver(try media())) == .noPicture)
    }

    @Test("forwarding needs more of the network to begin than to continue")
    func hysteresis() throws {
        var policy = ForwardingPolicy()
        let media = try media()
        func obstacle(carries: BitRate, backlog: Duration = .zero, after: Duration = .zero) -> ForwardingObstacle? {
            var receiver = receiver(media, carries: carries)
            receiver.backlog = backlog
            return policy.obstacle(source: source(), receiver: receiver, now: start + after)
        }
        #expect(obstacle(carries: .kilobits(1150)) == .network)
        #expect(obstacle(carries: .kilobits(1250)) == nil)
        policy.begin(now: start)
        #expect(obstacle(carries: .kilobits(1000), after: .seconds(2)) == nil)
        #expect(obstacle(carries: .kilobits(900), after: .seconds(2)) == .network)
        #expect(obstacle(carries: .megabits(2), backlog: .milliseconds(200), after: .milliseconds(500)) == nil)
        #expect(obstacle(carries: .megabits(2), backlog: .milliseconds(200), after: .seconds(2)) == .network)
    }

    @Test("a receiver whose rate is at its ceiling may carry more")
    func ceiling() throws {
        var atCeiling = receiver(try media(), carries: .kilobits(1050))
        atCeiling.ceiling = .kilobits(1100)
        #expect(obstacle(source(), atCeiling) == nil)
    }

    @Test("all has to be well for two seconds, and after a failure longer and longer")
    func holdOff() throws {
        var policy = ForwardingPolicy()
        let receiver = receiver(try media())
        let settled = [0, 1900, 2000].map { policy.record(isClear: true, now: start + .milliseconds($0)) }
        #expect(settled == [false, false, true])
        var now = start + .seconds(2)
        for held in [3, 6, 12, 24, 48, 60, 60] {
            policy.begin(now: now)
            now = now + .seconds(10)
            policy.end(because: .network, now: now)
            let almost = now + .seconds(Int64(held)) - .milliseconds(1)
            #expect(policy.obstacle(source: source(), receiver: receiver, now: almost) == .network)
            now = now + .seconds(Int64(held))
            #expect(policy.obstacle(source: source(), receiver: receiver, now: now) == nil)
        }
        policy.begin(now: now)
        now = now + .seconds(61)
        policy.end(because: .network, now: now)
        #expect(policy.obstacle(source: source(), receiver: receiver, now: now + .seconds(3)) == nil)
    }
}
