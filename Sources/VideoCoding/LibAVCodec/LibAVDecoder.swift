import CLibAVCodec
import MediaCore

/// libavcodec's H.264 decoder, with one thread, and without delay if the stream does not reorder.
struct LibAVDecoder: ~Copyable {
    private var context: UnsafeMutablePointer<AVCodecContext>
    private let limits: DecodingLimits
    #if VAAPI
        /// Decodes in place of the processor; nil: nothing does.
        private let hardware: LibAVHardware?
    #endif
    /// The frame to decode. It keeps one buffer, which is reused when libavcodec has released it.
    private let packet: UnsafeMutablePointer<AVPacket>
    private var freeList = FrameFreeList()
    /// The frames that pass the loop filter. libavcodec checks it at each slice's header, so it may change between
    /// frames.
    var loopFilter = DecodingEffort.LoopFilter.all {
        didSet { applyLoopFilter() }
    }

    /// libavcodec writes problems to standard error unless it is silenced; errors of the sender are in the outputs.
    private static let silenceLog: Void = av_log_set_level(AV_LOG_QUIET)
    /// Zeros that libavcodec's bit readers run into.
    private static let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
    private static let minimumCapacity = 64 << 10

    /// - Parameter device: Decodes in place of the processor.
    init(limits: DecodingLimits, device: DecodingDevice? = nil) throws(VideoCodingError) {
        #if VAAPI
            var hardware: LibAVHardware?
            if let device { hardware = try LibAVHardware(device) }
            var newContext: UnsafeMutablePointer<AVCodecContext>? = try Self.open(limits) { hardware?.attach(to: $0) }
        #else
            if device != nil { throw .hardwareUnavailable(reason: "the program was built without VA-API") }
            var newContext: UnsafeMutablePointer<AVCodecContext>? = try Self.open(limits) { _ in }
        #endif
        guard let context = newContext, let packet = av_packet_alloc() else {
            avcodec_free_context(&newContext)
            throw .codecUnavailable(reason: "no memory for a decoder")
        }
        self.context = context
        self.packet = packet
        self.limits = limits
        #if VAAPI
            self.hardware = hardware
        #endif
    }

    private static func open(
        _ limits: DecodingLimits, _ prepare: (UnsafeMutablePointer<AVCodecContext>) -> Void
    ) throws(VideoCodingError) -> UnsafeMutablePointer<AVCodecContext> {
        silenceLog
        guard let codec = avcodec_find_decoder(AV_CODEC_ID_H264) else {
            throw .codecUnavailable(reason: "this libavcodec has no H.264 decoder; install a complete one")
        }
        var newContext = avcodec_alloc_context3(codec)
        guard let context = newContext else { throw .codecUnavailable(reason: "no memory for a decoder") }
        context.pointee.thread_count = 1
        // Crop to the sample, not to where rows happen to be aligned.
        context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
        context.pointee.max_pixels = Int64(clamping: limits.maximumArea)
        prepare(context)
        let status = avcodec_open2(context, codec, nil)
        guard status == 0 else {
            avcodec_free_context(&newContext)
            throw .codecUnavailable(reason: "libavcodec did not open its H.264 decoder (\(status))")
        }
        return context
    }

    deinit {
        var lastContext: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&lastContext)
        var lastPacket: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&lastPacket)
    }

    private func applyLoopFilter() {
        context.pointee.skip_loop_filter =
            switch loopFilter {
            case .all: AVDISCARD_DEFAULT
            case .references: AVDISCARD_NONREF
            case .none: AVDISCARD_ALL
            }
    }

    /// The number of frames that the decoder delays at present.
    var reorderDepth: Int {
        get { max(0, Int(context.pointee.has_b_frames)) }
        nonmutating set { context.pointee.has_b_frames = Int32(clamping: newValue) }
    }

    /// Prepares a frame for sending: `parameterSets` (Annex B), then the NAL units of `data` that are neither parameter
    /// sets nor delimiters.
    ///
    /// - Parameter visit: Called with each NAL unit that holds slice data.
    /// - Returns: True if there is anything to decode.
    func load(
        _ data: borrowing BlockBuffer, parameterSets: [UInt8], _ visit: (_ sliceUnit: UnsafeRawBufferPointer) -> Void
    ) throws(VideoCodingError) -> Bool {
        guard data.count <= SampleLayout.maximumSize else {
            throw .malformedSample(reason: "\(data.count) bytes; the most is \(SampleLayout.maximumSize)")
        }
        let prefix = parameterSets.count
        guard let base = reserve(prefix + data.count) else {
            throw .codecUnavailable(reason: "no memory for a frame of \(data.count) bytes")
        }
        UnsafeMutableRawBufferPointer(start: base, count: prefix).copyBytes(from: parameterSets)
        let sample = UnsafeMutableRawBufferPointer(start: base + prefix, count: data.count)
        data.copyBytes(into: sample)
        let size = try SampleLayout.convertToAnnexB(sample, visit)
        guard size > 0 else { return false }
        memset(base + prefix + size, 0, Self.padding)
        packet.pointee.data = base.assumingMemoryBound(to: UInt8.self)
        packet.pointee.size = Int32(clamping: prefix + size)
        return true
    }

    /// The packet's buffer with room for `count` bytes and the padding; nil when there is no memory.
    private func reserve(_ count: Int) -> UnsafeMutableRawPointer? {
        let needed = count + Self.padding
        if let buffer = packet.pointee.buf, buffer.pointee.size >= needed, av_buffer_is_writable(buffer) == 1 {
            return UnsafeMutableRawPointer(buffer.pointee.data)
        }
        av_packet_unref(packet)
        packet.pointee.buf = av_buffer_alloc(max(needed + needed / 2, Self.minimumCapacity))
        return packet.pointee.buf.map { UnsafeMutableRawPointer($0.pointee.data) }
    }

    /// Decodes the prepared frame. `receive` then returns its pictures, also if this throws.
    mutating func send(serial: Int64) throws(VideoCodingError) {
        freeList.reclaim()
        packet.pointee.pts = serial
        packet.pointee.dts = serial
        let status = avcodec_send_packet(context, packet)
        guard status == 0 else { throw .decodingFailed(code: status) }
    }

    /// Hands the next finished frame to `body`, with its picture unless it is not 8-bit 4:2:0.
    ///
    /// - Returns: True if there was one.
    mutating func receive(
        attachments: PixelBufferAttachments, _ body: (_ frame: LibAVFrame, _ picture: PixelBuffer?) -> Void
    ) -> Bool {
        #if VAAPI
            // The others are copied, so that the decoder does not run out of surfaces.
            let hardware = freeList.surfacesInUse < LibAVHardware.keptPictures ? hardware : nil
            return freeList.receive(from: context, attachments: attachments, surface: { hardware?.share($0) }, body)
        #else
            return freeList.receive(from: context, attachments: attachments, surface: { _ in nil }, body)
        #endif
    }

    /// Makes the decoder give out delayed pictures: `receive` until false, then `restart`.
    func drain() {
        _ = avcodec_send_packet(context, nil)
    }

    private func reopened() -> UnsafeMutablePointer<AVCodecContext>? {
        #if VAAPI
            let hardware = hardware
            return try? Self.open(limits) { hardware?.attach(to: $0) }
        #else
            return try? Self.open(limits) { _ in }
        #endif
    }

    /// Forgets all frames; decoding starts again at a keyframe.
    ///
    /// - Parameter afterDamage: True if a frame was damaged. A macroblock that libavcodec gives up half way leaves
    ///   coefficients behind, which it adds to the next macroblock that it decodes, even to an IDR picture's after a
    ///   flush. So the decoder is opened again, and needs parameter sets.
    mutating func restart(afterDamage: Bool) {
        if afterDamage, let fresh = reopened() {
            var lastContext: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&lastContext)
            context = fresh
            applyLoopFilter()
        } else {
            avcodec_flush_buffers(context)
        }
        reorderDepth = 0
    }
}
