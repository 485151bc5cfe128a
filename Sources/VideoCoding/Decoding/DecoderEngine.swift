import H264
import MediaCore
import PixelTransfer

/// Decodes one H.264 stream with libavcodec and answers every frame exactly once: the base of `DecompressionSession`
/// and `DecodingPipeline`. In steady state it allocates nothing for a frame.
struct DecoderEngine: ~Copyable {
    let format: VideoFormatDescription
    /// Converts pictures to the requested attributes; nil if any picture is accepted.
    private let transfer: PixelTransferSession?
    private let limits: DecodingLimits
    private let reordering: PictureReordering
    private let counters: DecodingCounters
    private var decoder: LibAVDecoder
    private var pending = PendingFrames()
    private var active: ActiveFormat
    private var fields = FieldPairing()
    /// Watches for lost references; nil: nobody wants to know.
    private var gap: FrameNumberGap?
    /// True if a device decodes, which is given no frame that refers to a lost one. Software conceals those.
    private let isOnDevice: Bool
    /// True if a gap was found that nobody was told of.
    private var hasFoundGap = false
    /// True until libavcodec has the parameter sets.
    private var parameterSetsAreDue = true
    private var hasShownPicture = false
    /// True if nothing has been sent since the decoder was cleared; and the same before the last frame.
    private var isFresh = true
    private var wasFresh = true
    /// True if a frame was damaged since the decoder was cleared.
    private var isDamaged = false
    private var isUnused = true
    private var gate = DecodingGate()

    /// The largest number of frames that H.264 lets a decoder hold back (`MaxDpbFrames`, A.3.1).
    private static let maximumReorderDepth = 16

    init(
        format: VideoFormatDescription, attributes: PixelBufferAttributes, limits: DecodingLimits,
        reordering: PictureReordering = .signalled, counters: DecodingCounters, device: DecodingDevice? = nil,
        findsGaps: Bool = false
    ) throws(VideoCodingError) {
        if let reason = limits.reasonToReject(format) { throw .unsupportedFormat(reason: reason) }
        decoder = try LibAVDecoder(limits: limits, device: device)
        isOnDevice = device != nil
        gap = isOnDevice || findsGaps ? FrameNumberGap() : nil
        self.format = format
        // A device's memory is not read any longer than to take a picture out of it, unless the picture stays there.
        let wanted = attributes == .any && device != nil ? PixelBufferAttributes(formats: [.i420]) : attributes
        transfer = wanted == .any ? nil : PixelTransferSession(destination: wanted)
        self.limits = limits
        self.reordering = reordering
        self.counters = counters
        active = ActiveFormat(format, findsGaps: gap != nil)
    }

    /// The decoding effort for the next frames.
    var effort = DecodingEffort.full {
        didSet {
            gate.frames = effort.frames
            decoder.loopFilter = effort.loopFilter
        }
    }

    /// Returns whether a decoder for `current` can continue when the stream's format becomes `format`.
    static func canAccept(
        _ format: VideoFormatDescription, after current: VideoFormatDescription, limits: DecodingLimits
    ) -> Acceptance {
        if let reason = limits.reasonToReject(format) { return .reject(reason: reason) }
        let (old, new) = (current.properties, format.properties)
        if new.profileLevel.profileIDC != old.profileLevel.profileIDC {
            return .recreate(
                reason: "profile_idc changes from \(old.profileLevel.profileIDC) to \(new.profileLevel.profileIDC)")
        }
        if new.chromaFormat != old.chromaFormat {
            return .recreate(reason: "chroma_format_idc changes from \(old.chromaFormat) to \(new.chromaFormat)")
        }
        if new.bitDepth != old.bitDepth {
            return .recreate(reason: "the bit depth changes from \(old.bitDepth) to \(new.bitDepth)")
        }
        if new.codedDimensions.width > old.codedDimensions.width
            || new.codedDimensions.height > old.codedDimensions.height
        {
            return .recreate(
                reason: "the picture grows beyond \(old.codedDimensions), for which the session was made, "
                    + "to \(new.codedDimensions)")
        }
        return .accept
    }

    /// The outcome of taking on a format.
    enum Adoption {
        /// Frames of it may be decoded. A new PPS alone begins no new sequence.
        case adopted(isNewSequence: Bool)
        case refused(Acceptance)
    }

    /// Changes to a format with which the decoder can continue. Pictures of an earlier sequence come out first.
    mutating func adopt(_ newFormat: VideoFormatDescription, _ emit: (DecodeOutput) -> Void) -> Adoption {
        if !isUnused, newFormat == active.format {
            // The next comparison is one of references.
            active.format = newFormat
            return .adopted(isNewSequence: false)
        }
        let acceptance = Self.canAccept(newFormat, after: format, limits: limits)
        guard acceptance == .accept else { return .refused(acceptance) }
        let isSame = !isUnused && active.isSameSequence(as: newFormat)
        if !isSame, !isUnused { finish(emit) }
        let reordering = isSame ? active.reordering : nil
        active = ActiveFormat(newFormat, findsGaps: gap != nil)
        active.reordering = reordering ?? active.reordering
        parameterSetsAreDue = true
        isUnused = false
        return .adopted(isNewSequence: !isSame)
    }

    /// Takes on the sample's format and decodes it.
    mutating func push(_ sample: SampleBuffer, token: FrameToken, _ emit: (DecodeOutput) -> Void) {
        switch adopt(sample.format, emit) {
        case .adopted, .refused(.accept):
            decode(sample, token: token, emit)
        case .refused(.recreate(let reason)):
            answer(sample, token, .failed(.formatNotAccepted(reason: reason)), emit)
        case .refused(.reject(let reason)):
            answer(sample, token, .failed(.unsupportedFormat(reason: reason)), emit)
        }
    }

    /// Decodes a frame of the format that was adopted last.
    mutating func decode(_ sample: SampleBuffer, token: FrameToken, _ emit: (DecodeOutput) -> Void) {
        switch gate.admit(sample) {
        case .decode: break
        case .skip: return answer(sample, token, .dropped(.skipped), emit)
        case .awaitKeyframe: return answer(sample, token, .dropped(.awaitingKeyframe), emit)
        }
        let frame: Peek
        do throws(VideoCodingError) {
            frame = try layOut(sample)
        } catch {
            return answer(sample, token, .failed(error), emit)
        }
        guard frame.holdsSlices else { return answer(sample, token, .dropped(.empty), emit) }
        if let slice = frame.firstSlice, isWithheld(slice) {
            return answer(sample, token, .dropped(.awaitingKeyframe), emit)
        }
        let role = frame.firstSlice == nil ? .frame : fields.role(of: frame.content)
        if role != .secondField {
            if frame.isIDR { beginAnewIfNeeded(sample, emit) }
            if let slice = frame.firstSlice { active.reordering?.observe(slice) }
        }
        let serial = pending.push(presentationTime: sample.presentationTime, token: token)
        var failure = send(serial, emit)
        if frame.isIDR, role == .frame, !wasFresh, failure != nil || (decoder.reorderDepth == 0 && pending.has(serial))
        {
            // The remains of damaged frames may disturb it.
            isDamaged = true
            restart()
            if (try? layOut(sample)) != nil { failure = send(serial, emit) }
        }
        // A frame that failed is answered once, even where libavcodec shows something of it later.
        if let failure, let entry = pending.take(serial) { answer(entry, .failed(failure), emit) }
        if role == .secondField, let entry = pending.take(serial) { answer(entry, .dropped(.secondField), emit) }
        let held = decoder.reorderDepth
        dropPending(butNewest: held > 0 ? held + Self.maximumReorderDepth : role == .firstField ? 1 : 0, emit)
    }

    /// Looks for a gap before the frame of a slice. Returns true if a device must not be given that frame.
    private mutating func isWithheld(_ slice: SliceHeaderPeek) -> Bool {
        guard let sequence = active.sequence, gap != nil, isOnDevice || !sequence.allowsFrameNumberGaps else {
            return false
        }
        let wasClosed = gap?.isClosed ?? false
        let isOpen = gap?.isOpen(at: slice, in: sequence) ?? false
        if isOpen, wasClosed { hasFoundGap = true }
        return isOpen && isOnDevice
    }

    /// Returns true once for each gap in the numbers of the frames that others refer to.
    mutating func takeLackOfReference() -> Bool {
        defer { hasFoundGap = false }
        return hasFoundGap
    }

    /// Facts of a frame that decoding needs.
    private struct Peek {
        var holdsSlices = false
        var isIDR = false
        var content = FieldPairing.Content()
        /// The first slice; nil also if slices are not examined.
        var firstSlice: SliceHeaderPeek?
    }

    private mutating func layOut(_ sample: SampleBuffer) throws(VideoCodingError) -> Peek {
        var frame = Peek()
        let (sequence, pictureSets) = (active.sequence, active.pictureSets)
        frame.holdsSlices = try decoder.load(
            sample.data, parameterSets: parameterSetsAreDue ? active.parameterSets : []
        ) { unit in
            frame.isIDR = frame.isIDR || unit[0] & 0x1F == NALUnitType.codedSliceIDR.rawValue
            guard let sequence, let slice = SliceHeaderPeek(unit, sequence: sequence, pictureSets: pictureSets)
            else { return }
            frame.content.insert(slice)
            frame.firstSlice = frame.firstSlice ?? slice
        }
        return frame
    }

    /// Decodes the prepared bytes and emits the available pictures.
    private mutating func send(_ serial: Int64, _ emit: (DecodeOutput) -> Void) -> VideoCodingError? {
        switch (reordering, active.reordering) {
        case (.complete, _): decoder.reorderDepth = Self.maximumReorderDepth
        case (.signalled, let estimator?): decoder.reorderDepth = estimator.depth
        case (.signalled, nil): break
        }
        wasFresh = isFresh
        isFresh = false
        var failure: VideoCodingError?
        do throws(VideoCodingError) {
            try decoder.send(serial: serial)
            parameterSetsAreDue = false
        } catch {
            failure = error
        }
        emitPictures(emit)
        return failure
    }

    /// Clears the decoder before an IDR picture where something is held back, which may come out now, or where
    /// something was damaged.
    private mutating func beginAnewIfNeeded(_ sample: SampleBuffer, _ emit: (DecodeOutput) -> Void) {
        guard isDamaged || (decoder.reorderDepth > 0 && !pending.isEmpty) else { return }
        giveOut(emit)
        restart()
        // With parameter sets this time, which a new decoder lacks. It cannot fail a second time.
        if parameterSetsAreDue { _ = try? layOut(sample) }
    }

    private mutating func restart() {
        decoder.restart(afterDamage: isDamaged)
        parameterSetsAreDue = parameterSetsAreDue || isDamaged
        isDamaged = false
        isFresh = true
    }

    /// Emits delayed pictures and answers all other frames. Decoding starts again at a keyframe.
    mutating func finish(_ emit: (DecodeOutput) -> Void) {
        giveOut(emit)
        restart()
        hasShownPicture = false
        fields.reset()
    }

    /// Answers a frame that was not taken in.
    func answer(
        _ sample: SampleBuffer, _ token: FrameToken, _ result: DecodeResult, _ emit: (DecodeOutput) -> Void
    ) {
        counters.count(result)
        emit(DecodeOutput(presentationTime: sample.presentationTime, token: token, result: result))
    }

    /// Answers all frames without a picture.
    mutating func abandon(_ emit: (DecodeOutput) -> Void) {
        while let entry = pending.takeOldest(butNewest: 0) { answer(entry, .dropped(.sessionInvalidated), emit) }
        restart()
    }

    private mutating func giveOut(_ emit: (DecodeOutput) -> Void) {
        decoder.drain()
        emitPictures(emit)
        dropPending(butNewest: 0, emit)
    }

    /// Emits all pictures that the decoder has finished.
    private mutating func emitPictures(_ emit: (DecodeOutput) -> Void) {
        var received = true
        while received {
            var made: (serial: Int64, picture: PixelBuffer?, damage: PictureDamage)?
            received = decoder.receive(attachments: active.attachments) { frame, picture in
                made = (frame.serial, picture, frame.damage)
            }
            guard let made, let entry = pending.take(made.serial) else { continue }
            guard let picture = made.picture else {
                answer(entry, .failed(unreadable), emit)
                continue
            }
            hasShownPicture = true
            show(picture, of: entry, damage: made.damage, emit)
        }
    }

    /// The error for a picture whose samples cannot be had.
    private var unreadable: VideoCodingError {
        !isOnDevice
            ? .unsupportedFormat(reason: "the decoded picture is not 8-bit 4:2:0")
            : .hardwareFailed(call: "vaGetImage", code: 0)
    }

    /// Answers a frame with its picture, in the decoder's own memory if that satisfies the attributes.
    private mutating func show(
        _ picture: PixelBuffer, of entry: PendingFrames.Entry, damage: PictureDamage, _ emit: (DecodeOutput) -> Void
    ) {
        var shown = DecodedPicture(pixelBuffer: picture, presentationTime: entry.presentationTime, damage: damage)
        guard let transfer, picture.surface == nil, !transfer.destination.isSatisfied(by: picture) else {
            return answer(entry, .picture(shown), emit)
        }
        do {
            shown.pixelBuffer = try transfer.transfer(picture)
            answer(entry, .picture(shown), isTransferred: true, emit)
        } catch {
            answer(entry, .failed(.pixelTransferFailed(reason: error.description)), emit)
        }
    }

    private mutating func dropPending(butNewest count: Int, _ emit: (DecodeOutput) -> Void) {
        let reason: DropReason = hasShownPicture ? .noPicture : .awaitingKeyframe
        while let entry = pending.takeOldest(butNewest: count) { answer(entry, .dropped(reason), emit) }
    }

    private mutating func answer(
        _ entry: PendingFrames.Entry, _ result: DecodeResult, isTransferred: Bool = false,
        _ emit: (DecodeOutput) -> Void
    ) {
        switch result {
        case .picture(let picture): isDamaged = isDamaged || picture.isConcealed
        case .dropped(.noPicture), .failed: isDamaged = true
        case .dropped: break
        }
        counters.count(result, isTransferred: isTransferred)
        emit(DecodeOutput(presentationTime: entry.presentationTime, token: entry.token, result: result))
    }
}

/// The number of frames that a decoder delays to give out pictures in presentation order.
public enum PictureReordering: Hashable, Sendable {
    /// The number that the stream's parameter sets and slices demand, which gives the shortest delay. If a stream
    /// denies reordering but reorders, late pictures are dropped.
    case signalled
    /// The number that any stream may need (16, `MaxDpbFrames`, H.264 A.3.1), whatever this one states: no picture
    /// comes too late. For files, whose delay and memory do not matter.
    case complete
}
