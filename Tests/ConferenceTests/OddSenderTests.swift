import CongestionControl
import H264
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import Testing
import VideoCoding

@testable import Conference
@testable import PeerConnection

/// Senders of pictures and streams that the relay meets rarely.
@Suite struct OddSenderTests {
    /// A room in which Ben sees Ada's camera, whose pictures have many slices.
    private final class Rig {
        let call = VirtualCall()
        let ada: TestClient

        init(adjust: (inout OfferParameters) -> Void = { _ in }) throws {
            let rates = RateLimits(minimum: .megabits(1), start: .megabits(1), maximum: .megabits(2))
            ada = try call.join(
                "Ada", colour: .red, dimensions: Scenery.dimensions, rateLimits: rates, adjust: adjust)
            ada.pictures = Scenery.pictures
            ada.adjustEncoder = { $0.sliceMaxBytes = DataSize(bytes: 500) }
            try call.join("Ben", video: .receiveOnly)
        }

        var uplink: UplinkSnapshot {
            get throws {
                let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
                return try #require(room.participants.first { $0.id == ada.participantID }).uplink
            }
        }

        var pipeline: UplinkPipeline? {
            call.relay.rooms["demo"]?.participant(publicID: ada.participantID)?.uplink
        }

        /// The picture of Ada that the relay shows.
        var shown: PixelBuffer? { pipeline?.newest }
    }

    @Test("a camera of a picture every two seconds is not dimmed between two, and is when it stops")
    func slowCamera() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .yellow)
        try call.join("Ben", video: .receiveOnly)
        ada.frameRate = 1
        var darkest = UInt8.max
        call.onComposed = { tick in
            for picture in tick.pictures { darkest = min(darkest, picture.colour(x: 160, y: 60).y) }
        }
        func send(_ count: Int) {
            for _ in 0..<count {
                ada.isSendingVideo = true
                call.run(for: .seconds(1))
                ada.isSendingVideo = false
                call.run(for: .seconds(1))
            }
        }
        send(3)
        darkest = .max
        send(5)
        #expect(darkest > 180)
        call.run(for: .seconds(4))
        #expect(darkest < 150)
    }

    @Test("one long pause of a camera does not make it a slow one")
    func pause() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .yellow)
        try call.join("Ben", video: .receiveOnly)
        var brightness: UInt8 = 0
        call.onComposed = { tick in
            for picture in tick.pictures { brightness = picture.colour(x: 160, y: 60).y }
        }
        func send(_ isSending: Bool, for duration: Duration) {
            ada.isSendingVideo = isSending
            call.run(for: duration)
        }
        send(true, for: .seconds(1))
        send(false, for: .seconds(3))
        // One picture.
        send(true, for: .milliseconds(70))
        send(false, for: .milliseconds(500))
        #expect(brightness > 180)
        send(false, for: .seconds(1))
        #expect(brightness < 150)
    }

    @Test("what the path loses of a sender that makes no keyframes on request holds no further picture up")
    func lossOnPath() throws {
        let rig = try Rig { parameters in
            parameters.video?.feedback = .none
            parameters.video?.flexFECPayloadType = nil
        }
        rig.call.run(for: .milliseconds(2030))
        let path = rig.ada.uplink
        rig.ada.uplink = LinkModel(
            profile: LinkProfile(rate: .unlimited, delay: .milliseconds(10), loss: .bernoulli(1)), seed: 1,
            start: rig.call.now)
        rig.call.run(for: .milliseconds(60))
        rig.ada.uplink = path
        let (before, shown) = (try rig.uplink, try #require(rig.shown))
        #expect(rig.call.run(until: { rig.pipeline.map { $0.framesDecoded > before.framesDecoded } ?? false }))
        #expect(rig.shown.map { !($0 === shown) } ?? false)
        #expect(try rig.uplink.packetsLost > before.packetsLost)
    }

    @Test("a picture of which the path loses a packet is shown, of a sender that makes no keyframes on request")
    func lossInPicture() throws {
        let rig = try Rig { parameters in
            parameters.video?.feedback = .none
            parameters.video?.flexFECPayloadType = nil
        }
        // The last picture has come, and the next is not sent yet.
        rig.call.run(for: .milliseconds(2030))
        let (before, shown) = (try rig.uplink, try #require(rig.shown))
        var count = 0
        rig.call.drops = { datagram, isDownlink, _ in
            guard !isDownlink, datagram.readableBytes > 300 else { return false }
            count += 1
            return count == 2
        }
        #expect(rig.call.run(until: { rig.pipeline.map { $0.framesDecoded > before.framesDecoded } ?? false }))
        #expect(try rig.uplink.packetsLost > before.packetsLost)
        #expect(rig.shown.map { !($0 === shown) } ?? false)
    }

    @Test(
        "a picture that lacks a slice, or the picture before it, is not shown, and a keyframe ends the damage",
        arguments: [true, false])
    func missing(isSlice: Bool) throws {
        let rig = try Rig()
        // The last picture has come, and the next is not sent yet.
        rig.call.run(for: .milliseconds(2030))
        let (before, shown) = (try rig.uplink, try #require(rig.shown))
        var isDue = true
        rig.ada.rewriteFrame = { frame in
            defer { isDue = false }
            return isDue ? isSlice ? frame.withoutSlice : nil : frame
        }
        #expect(rig.call.run(until: { rig.pipeline.map { $0.framesDecoded > before.framesDecoded } ?? false }))
        #expect(rig.shown.map { $0 === shown } ?? false)
        rig.call.run(for: .milliseconds(200))
        let after = try rig.uplink
        #expect(after.keyframeRequests == before.keyframeRequests + 1)
        #expect(after.keyframes == before.keyframes + 1)
        #expect(rig.shown.map { !($0 === shown) } ?? false)
    }

    @Test("a sender whose pictures all lack a slice is shown, and asked for a keyframe only now and then")
    func neverWhole() throws {
        let rig = try Rig()
        rig.ada.rewriteFrame = { $0.withoutSlice }
        rig.call.run(for: .seconds(20))
        let uplink = try rig.uplink
        #expect(uplink.keyframeRequests <= 6)
        #expect(uplink.framesDropped < 30)
        #expect(rig.shown != nil)
    }

    @Test("a sender whose pictures are whole again from a keyframe on is asked for no other")
    func wholeAgain() throws {
        let rig = try Rig()
        rig.ada.rewriteFrame = { $0.withoutSlice }
        rig.call.run(for: .seconds(6))
        rig.ada.rewriteFrame = { $0 }
        // Another size makes another encoder, which begins with a keyframe.
        rig.ada.pictures = []
        rig.ada.dimensions = VideoDimensions(width: 320, height: 192)
        rig.call.run(for: .seconds(1))
        let before = try rig.uplink
        rig.call.run(for: .seconds(12))
        #expect(try rig.uplink.keyframeRequests == before.keyframeRequests)
        #expect(before.keyframeRequests >= 3)
    }

    @Test("a sender of a format that no decoder takes is not asked for keyframes, and another format is shown again")
    func unsupportedFormat() throws {
        let rig = try Rig()
        rig.call.run(for: .seconds(2))
        let before = try rig.uplink
        rig.ada.rewriteFrame = { $0.withChroma422 }
        // Another size makes another encoder, which begins with a keyframe.
        rig.ada.pictures = []
        rig.ada.dimensions = VideoDimensions(width: 320, height: 192)
        rig.call.run(for: .seconds(8))
        let during = try rig.uplink
        #expect(during.keyframeRequests == before.keyframeRequests)
        #expect(during.keyframes == before.keyframes + 1)
        #expect(during.framesDropped > before.framesDropped + 100)
        #expect(rig.shown == nil, "the last picture is too old to be shown")
        rig.ada.rewriteFrame = { $0 }
        rig.ada.dimensions = VideoDimensions(width: 160, height: 96)
        rig.call.run(for: .milliseconds(500))
        #expect(rig.shown?.dimensions == VideoDimensions(width: 160, height: 96))
    }
}

extension EncodedFrame {
    private var units: [NALUnit] { (try? LengthPrefixed.nalUnits(in: sample.data.contiguous())) ?? [] }

    /// The frame without one of the slices in its middle.
    fileprivate var withoutSlice: EncodedFrame {
        var (frame, units) = (self, units)
        if units.count > 2 { units.remove(at: units.count / 2) }
        frame.sample.data = BlockBuffer(LengthPrefixed.encode(units))
        return frame
    }

    /// The frame with an SPS that says that it has 4:2:2 samples.
    fileprivate var withChroma422: EncodedFrame {
        var frame = self
        var sets = sample.format.parameterSets
        guard isKeyframe, let set = sample.format.sequenceParameterSets.first else { return self }
        var bits = BitWriter()
        for byte in [122, 0, 31] { bits.bits(byte, 8) }
        // Id, 4:2:2, 8 bits, no transform bypass, no scaling lists.
        for value in [Int(set.id), 2, 0, 0] { bits.unsigned(value) }
        bits.bits(0, 2)
        // Frame numbers, pictures in decoding order, one reference frame without gaps.
        for value in [set.log2MaximumFrameNumber - 4, 2, 1] { bits.unsigned(value) }
        bits.flag(false)
        for side in [set.codedDimensions.width, set.codedDimensions.height] { bits.unsigned(side / 16 - 1) }
        // Frames only, direct_8x8_inference, no cropping, no VUI.
        bits.bits(0b1100, 4)
        bits.stop()
        sets[0] = NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: bits.bytes).bytes
        if let format = try? VideoFormatDescription(h264ParameterSets: sets) { frame.sample.format = format }
        return frame
    }
}
