import Compositing
import H264
import MediaCore
import MediaFixtures
import RoomAPI
import SDP
import Testing
import VideoCoding

@testable import Conference

/// A camera whose pictures have a yellow border that its SPS crops away, on any edge.
@Suite("Senders that crop their pictures") struct CroppedSenderTests {
    private static let coded = VideoDimensions(width: 320, height: 192)
    /// Left, right, top and bottom offsets in pairs of samples.
    private static let cropping = [21, 8, 5, 13]
    private static let shown = VideoDimensions(width: 262, height: 156)

    /// Blue within a yellow border.
    private static func picture() -> PixelBuffer {
        var buffer = MutablePixelBuffer(format: .i420, dimensions: coded)
        let (blue, yellow) = (Colour.blue, Colour.yellow)
        let values = [(blue.y, yellow.y), (blue.u, yellow.u), (blue.v, yellow.v)]
        for (plane, (inside, border)) in values.enumerated() {
            let (width, height) = PixelFormat.i420.planeSize(plane, of: coded)
            let unit = plane == 0 ? 2 : 1
            let columns = cropping[0] * unit..<width - cropping[1] * unit
            let rows = cropping[2] * unit..<height - cropping[3] * unit
            buffer.withMutablePlane(plane) { bytes, stride in
                for y in 0..<height {
                    for x in 0..<width {
                        bytes[y * stride + x] = columns.contains(x) && rows.contains(y) ? inside : border
                    }
                }
            }
        }
        return buffer.freeze()
    }

    @Test("are shown without the border, composed and forwarded", arguments: [ForwardingMode.off, .auto])
    func shown(forwarding: ForwardingMode) throws {
        let call = VirtualCall {
            $0.forwarding = forwarding
            $0.labels = false
            $0.canvas = VideoDimensions(width: 262, height: 156)
        }
        let ada = try call.join("Ada", colour: .yellow, dimensions: Self.coded)
        ada.pictures = [Self.picture()]
        ada.rewriteFrame = { $0.cropped(by: Self.cropping) }
        let ben = try call.join("Ben", video: .receiveOnly, selfView: .never)
        let layout = RoomLayout(.solo(participant: ada.participantID), fit: .contain)
        try call.act { try $0.perform(.setLayout(layout), room: "demo", now: $1) }
        call.run(for: .seconds(4))
        let pipeline = call.relay.rooms["demo"]?.participant(publicID: ada.participantID)?.uplink
        #expect(pipeline?.newest?.dimensions == Self.shown)
        let snapshot = call.relay.snapshot(room: "demo", now: call.now)
        let downlink = try #require(snapshot?.participants.first { $0.id == ben.participantID }).downlink
        #expect((downlink.forwarding != nil) == (forwarding == .auto))
        let picture = try #require(ben.picture)
        #expect(picture.dimensions == Self.shown)
        for x in [4, 131, 257] {
            for y in [4, 78, 151] { #expect(picture.colour(x: x, y: y).resembles(.blue), "at \(x), \(y)") }
        }
    }
}

extension EncodedFrame {
    /// The frame with an SPS that crops its picture, if it is a keyframe.
    ///
    /// - Parameter offsets: Left, right, top and bottom, in pairs of samples.
    fileprivate func cropped(by offsets: [Int]) -> EncodedFrame {
        var sets = sample.format.parameterSets
        guard isKeyframe, let set = sample.format.sequenceParameterSets.first else { return self }
        var bits = BitWriter()
        for byte in [set.profileLevel.profileIDC, set.profileLevel.constraintFlags, set.profileLevel.levelIDC] {
            bits.bits(Int(byte), 8)
        }
        bits.unsigned(Int(set.id))
        if set.profileLevel.profileIDC >= 100 {
            // 4:2:0, 8 bits, no transform bypass, no scaling lists.
            for value in [1, 0, 0] { bits.unsigned(value) }
            bits.bits(0, 2)
        }
        bits.unsigned(set.log2MaximumFrameNumber - 4)
        switch set.pictureOrderCount {
        case .explicit(let count):
            bits.unsigned(0)
            bits.unsigned(count - 4)
        case .cyclic, .decodingOrder: bits.unsigned(2)
        }
        bits.unsigned(set.maximumReferenceFrames)
        bits.flag(set.allowsFrameNumberGaps)
        for side in [set.codedDimensions.width, set.codedDimensions.height] { bits.unsigned(side / 16 - 1) }
        // Frames only, direct_8x8_inference, cropping.
        bits.bits(0b111, 3)
        for offset in offsets { bits.unsigned(offset) }
        // No VUI.
        bits.flag(false)
        bits.stop()
        sets[0] = NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: bits.bytes).bytes
        var frame = self
        if let format = try? VideoFormatDescription(h264ParameterSets: sets) { frame.sample.format = format }
        return frame
    }
}
