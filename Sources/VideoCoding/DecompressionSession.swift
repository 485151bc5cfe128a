import H264
public import MediaCore
import NIOCore
import Synchronization

/// Decodes one H.264 stream in software, with libavcodec.
///
/// Each frame pushed is answered exactly once: with a picture, a drop or a failure, in the same call unless the stream
/// reorders frames. Frames that arrive damaged or refer to lost ones are concealed rather than refused. A session is
/// meant for one serial queue; calls from elsewhere wait for the one that runs.
public final class DecompressionSession: Sendable {
    /// What the session was made for.
    public let format: VideoFormatDescription
    private let limits: DecodingLimits
    private let state: Mutex<State>

    /// The most frames that H.264 lets a decoder hold back (`MaxDpbFrames`, A.3.1).
    private static let maximumReorderDepth = 16

    /// Makes a decoder. It shows pictures from the first key frame (or recovery point) on.
    public init(format: VideoFormatDescription, limits: DecodingLimits = .default) throws(VideoCodingError) {
        if let reason = limits.reasonToReject(format) { throw .unsupportedFormat(reason: reason) }
        self.format = format
        self.limits = limits
        state = Mutex(State(decoder: try LibAVDecoder(reorders: format.reorderDepth > 0, limits: limits)))
    }

    /// Whether the session goes on when the stream's parameter sets change to those of `format`.
    ///
    /// It does as long as size, profile and reordering stay as they are. Otherwise pictures still held back are fetched
    /// with `finishDelayedFrames` and a new session takes over at the key frame that the new parameter sets begin with.
    public func canAccept(_ format: VideoFormatDescription) -> Acceptance {
        if let reason = limits.reasonToReject(format) { return .reject(reason: reason) }
        let current = self.format
        if format.dimensions != current.dimensions || format.codedDimensions != current.codedDimensions {
            return .recreate(reason: "the picture changes from \(current.dimensions) to \(format.dimensions)")
        }
        if format.profileLevel.profileIDC != current.profileLevel.profileIDC {
            let (old, new) = (current.profileLevel.profileIDC, format.profileLevel.profileIDC)
            return .recreate(reason: "profile_idc changes from \(old) to \(new)")
        }
        if format.reorderDepth != current.reorderDepth {
            return .recreate(
                reason: "the reorder depth changes from \(current.reorderDepth) to \(format.reorderDepth) frames")
        }
        return .accept
    }

    /// Decodes the next frame of the stream.
    ///
    /// - Parameter sample: A frame in decoding order. Its format's parameter sets hold; any within its data do not.
    /// - Returns: Outcomes of this frame and of earlier ones, pictures in output order.
    public func decode(_ sample: SampleBuffer) -> [DecodeOutcome] {
        if sample.format != format {
            switch canAccept(sample.format) {
            case .accept: break
            case .recreate(let reason), .reject(let reason): return [.failed(.formatNotAccepted(reason: reason))]
            }
        }
        return state.withLock { state in
            let parameterSets = state.parameterSetsDue(for: sample)
            let serial = state.pending.push(presentationTime: sample.presentationTime)
            var failure: DecodeOutcome?
            do throws(VideoCodingError) {
                let isSent = try state.decoder.send(
                    sample.data.contiguous(), parameterSets: parameterSets, serial: serial)
                if isSent { state.currentFormat = sample.format } else { failure = .dropped(.empty) }
            } catch {
                failure = .failed(error)
            }
            var outcomes = state.pictures()
            // A frame that failed is answered once, even where libavcodec showed something of it.
            if let failure, state.pending.take(serial) != nil { outcomes.append(failure) }
            let held = state.decoder.reorderDepth
            state.drop(butNewest: held == 0 ? 0 : held + Self.maximumReorderDepth, into: &outcomes)
            return outcomes
        }
    }

    /// Gives out what the decoder holds back and answers all that was not. A key frame may follow.
    public func finishDelayedFrames() -> [DecodeOutcome] {
        state.withLock { state in
            state.decoder.drain()
            var outcomes = state.pictures()
            state.drop(butNewest: 0, into: &outcomes)
            state.decoder.restart()
            state.currentFormat = nil
            state.hasShownPicture = false
            return outcomes
        }
    }

    private struct State: ~Copyable {
        let decoder: LibAVDecoder
        var pending = PendingFrames()
        /// The format whose parameter sets the decoder has.
        var currentFormat: VideoFormatDescription?
        var hasShownPicture = false

        init(decoder: consuming LibAVDecoder) {
            self.decoder = decoder
        }

        /// Parameter sets to put before `sample`: all of them at a key frame and where they changed.
        func parameterSetsDue(for sample: borrowing SampleBuffer) -> [UInt8] {
            if !sample.isSync, sample.format == currentFormat { return [] }
            var bytes: [UInt8] = []
            for parameterSet in sample.format.parameterSets {
                var written = parameterSet
                if sample.format.reorderDepth == 0, let unit = NALUnit(parameterSet),
                    unit.type == .sequenceParameterSet, let rewritten = LowDelayParameterSet.rewrite(unit)
                {
                    written = rewritten.bytes
                }
                bytes.append(contentsOf: [0, 0, 0, 1])
                bytes.append(contentsOf: written.readableBytesView)
            }
            return bytes
        }

        /// All pictures that the decoder has finished.
        mutating func pictures() -> [DecodeOutcome] {
            var outcomes: [DecodeOutcome] = []
            while let frame = decoder.receive() {
                guard let entry = pending.take(frame.serial) else { continue }
                guard let pixelBuffer = frame.makePixelBuffer() else {
                    outcomes.append(.failed(.unsupportedFormat(reason: "the decoded picture is not 8-bit 4:2:0")))
                    continue
                }
                hasShownPicture = true
                outcomes.append(
                    .picture(
                        DecodedPicture(
                            pixelBuffer: pixelBuffer, presentationTime: entry.presentationTime,
                            isConcealed: frame.isConcealed)))
            }
            return outcomes
        }

        mutating func drop(butNewest count: Int, into outcomes: inout [DecodeOutcome]) {
            let reason: DropReason = hasShownPicture ? .noPicture : .awaitingKeyFrame
            for _ in 0..<pending.dropAll(butNewest: count) { outcomes.append(.dropped(reason)) }
        }
    }
}
