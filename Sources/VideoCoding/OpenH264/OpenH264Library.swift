import COpenH264
import MediaCore
import NIOCore

/// The library's encoder behind its C interface: its options, and the frame that it made last.
final class OpenH264Library {
    private let encoder: UnsafeMutablePointer<ISVCEncoder?>
    private let methods: ISVCEncoderVtbl
    private let output: UnsafeMutablePointer<SFrameBSInfo>
    private let scratch: UnsafeMutablePointer<SEncParamExt>
    /// The last settings.
    private var qp: Int?

    init() throws(VideoCodingError) {
        var created: UnsafeMutablePointer<ISVCEncoder?>?
        guard WelsCreateSVCEncoder(&created) == 0, let created, let table = created.pointee else {
            throw .codecUnavailable(reason: "OpenH264 made no encoder")
        }
        encoder = created
        methods = table.pointee
        output = .allocate(capacity: 1)
        output.initialize(to: SFrameBSInfo())
        scratch = .allocate(capacity: 1)
        scratch.initialize(to: SEncParamExt())
        // The library warns on stderr about settings that are meant; WELS_LOG_QUIET is zero.
        try set(ENCODER_OPTION_TRACE_LEVEL, to: Int32(0))
    }

    deinit {
        _ = methods.Uninitialize(encoder)
        WelsDestroySVCEncoder(encoder)
        output.deallocate()
        scratch.deallocate()
    }

    // MARK: - Calls

    func defaultParameters() throws(VideoCodingError) -> SEncParamExt {
        var parameters = SEncParamExt()
        try check(methods.GetDefaultParams(encoder, &parameters))
        return parameters
    }

    /// Sets the library up, also anew: it then begins with a keyframe.
    func initialize(_ parameters: SEncParamExt) throws(VideoCodingError) {
        var parameters = parameters
        qp = nil
        try check(methods.InitializeExt(encoder, &parameters))
        try set(ENCODER_OPTION_DATAFORMAT, to: Int32(videoFormatI420.rawValue))
    }

    func encodeParameterSets() throws(VideoCodingError) {
        try check(methods.EncodeParameterSets(encoder, output))
    }

    func forceKeyframe() throws(VideoCodingError) {
        try check(methods.ForceIntraFrame(encoder, true))
    }

    func set<Value: BitwiseCopyable>(_ option: ENCODER_OPTION, to value: Value) throws(VideoCodingError) {
        var value = value
        try check(methods.SetOption(encoder, option, &value))
    }

    /// Sets the quantisation parameter of frames that are encoded without rate control.
    func setQP(_ qp: Int) throws(VideoCodingError) {
        guard qp != self.qp else { return }
        try check(methods.GetOption(encoder, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, scratch))
        scratch.pointee.sSpatialLayers.0.iDLayerQp = Int32(qp)
        try check(methods.SetOption(encoder, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, scratch))
        self.qp = qp
    }

    func encode(
        _ picture: PixelBuffer, dimensions: VideoDimensions, time: MediaTime
    ) throws(VideoCodingError) {
        let status = picture.withEncoderPlanes { luma, blue, red in
            var source = SSourcePicture()
            source.iColorFormat = Int32(videoFormatI420.rawValue)
            source.iPicWidth = Int32(dimensions.width)
            source.iPicHeight = Int32(dimensions.height)
            source.iStride = (luma.stride, blue.stride, red.stride, 0)
            source.pData = (luma.base, blue.base, red.base, nil)
            source.uiTimeStamp = time.converted(toTimescale: 1000).value
            return methods.EncodeFrame(encoder, &source, output)
        }
        try check(status)
    }

    private func check(_ status: Int32) throws(VideoCodingError) {
        guard status == 0 else { throw .encodingFailed(backEnd: .openH264, code: Int(status)) }
    }

    // MARK: - Output

    var hasFrame: Bool {
        let type = output.pointee.eFrameType
        return type != videoFrameTypeSkip && type != videoFrameTypeInvalid
    }

    var isKeyframe: Bool { output.pointee.eFrameType == videoFrameTypeIDR }

    /// Bytes of the frame with start codes, which take as many bytes as lengths do.
    var frameSize: Int { max(0, Int(output.pointee.iFrameSizeInBytes)) }

    /// The temporal layer of the frame.
    var temporalLayer: Int {
        var temporalLayer = 0
        forEachLayer { layer in
            if layer.uiLayerType == UInt8(VIDEO_CODING_LAYER.rawValue) { temporalLayer = Int(layer.uiTemporalId) }
        }
        return temporalLayer
    }

    func readParameterSets() -> [ByteBuffer] {
        var sets: [ByteBuffer] = []
        forEachNALUnit { unit, isParameterSet in
            if isParameterSet { sets.append(ByteBuffer(bytes: unit)) }
        }
        return sets
    }

    /// Writes all NAL units but the parameter sets, each behind its length.
    func writeSlices(into data: inout ByteBuffer) {
        forEachNALUnit { unit, isParameterSet in
            guard !isParameterSet else { return }
            data.writeInteger(UInt32(truncatingIfNeeded: unit.count))
            data.writeBytes(unit)
        }
    }

    /// Calls `body` with each NAL unit of the frame, without start code.
    private func forEachNALUnit(_ body: (_ unit: UnsafeRawBufferPointer, _ isParameterSet: Bool) -> Void) {
        forEachLayer { layer in
            var offset = 0
            for index in 0..<Int(layer.iNalCount) {
                let length = Int(layer.pNalLengthInByte[index])
                let bytes = UnsafeRawBufferPointer(start: layer.pBsBuf + offset, count: length)
                offset += length
                // A start code is zeros and a one.
                var one = 0
                while one < length, bytes[one] == 0 { one += 1 }
                guard one + 1 < length else { continue }
                let unit = UnsafeRawBufferPointer(rebasing: bytes[(one + 1)...])
                body(unit, unit[0] & 0x1F == 7 || unit[0] & 0x1F == 8)
            }
        }
    }

    private func forEachLayer(_ body: (SLayerBSInfo) -> Void) {
        withUnsafePointer(to: &output.pointee.sLayerInfo) { tuple in
            let capacity = Int(MAX_LAYER_NUM_OF_FRAME)
            tuple.withMemoryRebound(to: SLayerBSInfo.self, capacity: capacity) { layers in
                let count = min(max(0, Int(output.pointee.iLayerNum)), capacity)
                for layer in UnsafeBufferPointer(start: layers, count: count) { body(layer) }
            }
        }
    }
}
