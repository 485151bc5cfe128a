import COpenH264
import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

/// The pictures of a stream, as libavcodec decodes them; fails if one is missing or had to be concealed.
func libavcodecPictures(_ samples: [SampleBuffer]) throws -> [PixelBuffer] {
    let decoder = try TestDecoder(format: try #require(samples.first).format)
    var outcomes: [DecodeOutput] = []
    for sample in samples { outcomes += decoder.decode(sample) }
    outcomes += decoder.finishDelayedFrames()
    try #require(outcomes.count == samples.count)
    return try outcomes.map { outcome in
        let picture = try #require(outcome.picture)
        #expect(!picture.isConcealed)
        return picture.pixelBuffer
    }
}

/// The samples of I420 planes, one behind the other without gaps.
func contents(_ picture: PixelBuffer) -> [UInt8] {
    var samples: [UInt8] = []
    for plane in 0..<3 {
        let (width, rows) = PixelFormat.i420.planeSize(plane, of: picture.dimensions)
        picture.withPlane(plane) { bytes, stride in
            for row in 0..<rows { samples += bytes[row * stride..<row * stride + width] }
        }
    }
    return samples
}

/// OpenH264's decoder, for comparison.
final class OpenH264Decoder {
    private let decoder: UnsafeMutablePointer<ISVCDecoder?>
    private let methods: ISVCDecoderVtbl

    init() throws {
        var created: UnsafeMutablePointer<ISVCDecoder?>?
        try #require(WelsCreateDecoder(&created) == 0)
        decoder = try #require(created)
        methods = try #require(decoder.pointee).pointee
        var level: Int32 = 0
        _ = methods.SetOption(decoder, DECODER_OPTION_TRACE_LEVEL, &level)
        var parameters = SDecodingParam()
        parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC
        parameters.eEcActiveIdc = ERROR_CON_DISABLE
        try #require(methods.Initialize(decoder, &parameters) == 0)
    }

    deinit {
        _ = methods.Uninitialize(decoder)
        WelsDestroyDecoder(decoder)
    }

    /// The pictures of a stream, as `contents` has them.
    static func pictures(_ samples: [SampleBuffer]) throws -> [[UInt8]] {
        let decoder = try OpenH264Decoder()
        var pictures: [[UInt8]] = []
        for sample in samples {
            let bytes = Array(AnnexB.encode(try sample.nalUnits()).readableBytesView)
            pictures += try decoder.decode(bytes)
        }
        while let picture = decoder.flush() { pictures.append(picture) }
        return pictures
    }

    private func decode(_ bytes: [UInt8]) throws -> [[UInt8]] {
        var planes: [UnsafeMutablePointer<UInt8>?] = [nil, nil, nil]
        var info = SBufferInfo()
        let state = methods.DecodeFrameNoDelay(decoder, bytes, Int32(bytes.count), &planes, &info)
        try #require(state == dsErrorFree, "the decoder reports \(state)")
        return [picture(planes, info)].compactMap(\.self)
    }

    private func flush() -> [UInt8]? {
        var left: Int32 = 0
        _ = methods.GetOption(decoder, DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &left)
        guard left > 0 else { return nil }
        var planes: [UnsafeMutablePointer<UInt8>?] = [nil, nil, nil]
        var info = SBufferInfo()
        _ = methods.FlushFrame(decoder, &planes, &info)
        return picture(planes, info)
    }

    private func picture(_ planes: [UnsafeMutablePointer<UInt8>?], _ info: SBufferInfo) -> [UInt8]? {
        guard info.iBufferStatus == 1 else { return nil }
        let layout = info.UsrData.sSystemBuffer
        let (width, height) = (Int(layout.iWidth), Int(layout.iHeight))
        let shapes = [
            (width, height, Int(layout.iStride.0)), (width / 2, height / 2, Int(layout.iStride.1)),
            (width / 2, height / 2, Int(layout.iStride.1)),
        ]
        var samples: [UInt8] = []
        for (plane, (width, rows, stride)) in zip(planes, shapes) {
            guard let plane else { return nil }
            for row in 0..<rows { samples += UnsafeBufferPointer(start: plane + row * stride, count: width) }
        }
        return samples
    }
}

/// True if both decoders see the same pictures; their number.
@discardableResult
func expectEqualPictures(_ samples: [SampleBuffer]) throws -> Int {
    let ours = try libavcodecPictures(samples)
    let theirs = try OpenH264Decoder.pictures(samples)
    #expect(ours.count == theirs.count)
    for (number, (left, right)) in zip(ours, theirs).enumerated() {
        #expect(contents(left) == right, "picture \(number)")
    }
    return ours.count
}
