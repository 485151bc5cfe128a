import MediaCore
import Testing

@testable import VideoCoding

@Suite("The QP of a keyframe in place of a frame that is too large")
struct KeyframeSizeModelTests {
    @Test("is the coarser of those that the frame and the last keyframe each tell")
    func both() {
        var model = KeyframeSizeModel()
        let frame = KeyframeSizeModel.Keyframe(bytes: 180_000, qp: 21)
        let alone = model.qp(for: 50_000, at: frame)
        #expect((32...34).contains(alone))
        model.add(KeyframeSizeModel.Keyframe(bytes: 8000, qp: 47))
        #expect(model.qp(for: 50_000, at: frame) == alone)
        model.add(KeyframeSizeModel.Keyframe(bytes: 50_000, qp: 40))
        #expect(model.qp(for: 50_000, at: frame) == 41)
    }

    @Test("for an encoder's first keyframe follows the pictures' area, where it is coarser than the encoder's choice")
    func firstKeyframe() {
        var model = KeyframeSizeModel()
        let (small, large) = (VideoDimensions(width: 640, height: 360), VideoDimensions(width: 1280, height: 720))
        model.scale(to: small)
        #expect(model.firstQP(for: 10_000) == nil)
        model.add(KeyframeSizeModel.Keyframe(bytes: 9000, qp: 36))
        #expect(model.firstQP(for: 10_000) == 36)
        #expect(model.firstQP(for: 14_000) == nil)
        model.observeUsual(qp: 30)
        #expect(model.firstQP(for: 14_000) == 34)
        // Frames that are coarser themselves do not make the encoder's first choice so.
        model.observeUsual(qp: 46)
        #expect(model.firstQP(for: 10_000) == 36)
        model.scale(to: large)
        #expect(model.firstQP(for: 10_000) == 45)
        model.scale(to: small)
        #expect(model.firstQP(for: 10_000) == 36)
    }

    @Test(
        "is learnt from the try that fits, so that the next keyframes need few tries and use their limit",
        arguments: [1, 3])
    func fewTries(layers: Int) throws {
        let limit = 5000
        let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .kilobits(300), profile: .main) {
            $0.temporalLayers = layers
            $0.maxFrameBytes = DataSize(bytes: limit)
        }
        let pattern = MovingPattern(mediumPicture)
        let keyframes = try (0..<300).compactMap { number in
            let isKeyframe = number.isMultiple(of: 30)
            let frame = try encoder.encode(
                pattern.picture(number), number, options: EncodeOptions(forceKeyframe: isKeyframe))
            return isKeyframe ? frame?.size.bytes : nil
        }
        #expect(keyframes.count == 10 && encoder.session.statistics.framesRepeated <= 3)
        #expect(keyframes.reduce(0, +) > 7 * limit, "\(keyframes)")
    }
}
