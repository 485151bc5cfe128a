public import MediaCore
import Synchronization

/// Several passes over a recording, with `CompressionProperties.multiPassStorage` set.
///
///     let silo = try FrameSilo(path: …)
///     let session = …                                     // adds each frame to the silo
///     var result: PassResult
///     repeat {
///     let ranges = session.timeRangesForNextPass      // everything at first, then parts
///     try silo.setTimeRangesForNextPass(ranges)
///     try session.beginPass()
///     for picture in pictures(in: ranges) { try session.encode(picture, …) }
///     result = try session.endPass()
///     } while result.furtherPassesRequested
///     try silo.forEachSample { sample in … }
extension CompressionSession {
    /// Begins the first pass, or the one that the last pass or the storage's last user requested.
    ///
    /// Properties cannot change any more. The frames encoded until `endPass` belong to the pass. They must be all
    /// frames of `timeRangesForNextPass`, with the same times in each pass. An unfinished pass continues after its last
    /// finished group of pictures.
    public func beginPass() throws(VideoCodingError) {
        try encoding.withLock { state throws(VideoCodingError) in
            guard !state.isInvalidated else { throw .sessionInvalidated }
            guard !state.isInPass else { throw .multiPass(.passNotEnded) }
            guard properties.multiPassStorage != nil else {
                throw .propertyNotSupported(.multiPassStorage, reason: "there is none; set one before the first pass")
            }
            state.isInPass = true
            state.lastTime = nil
            state.firstTime = nil
            do throws(VideoCodingError) {
                try prepare(&state, isStarting: true)
            } catch {
                leavePass(&state)
                throw error
            }
        }
    }

    /// Ends the pass: completes all frames, compares their size with the bitrate, and selects the parts that are worth
    /// another pass.
    ///
    /// - Throws: `.multiPass(.framesMissing)` if the pass is not complete; it then continues.
    public func endPass() throws(VideoCodingError) -> PassResult {
        try encoding.withLock { state throws(VideoCodingError) in
            guard state.isInPass, let encoder = state.encoder as? any PassEncoder else { throw .multiPass(.noPass) }
            drain(&state)
            let result = try encoder.endPass()
            leavePass(&state)
            return result
        }
    }

    /// The time ranges of the next pass, or of the rest of an unfinished one, in ascending order: everything for the
    /// first pass, nothing if no further pass is wanted or there is no storage.
    public var timeRangesForNextPass: [MediaTimeRange] {
        properties.multiPassStorage?.analysis.pendingRanges ?? []
    }

    private func leavePass(_ state: inout EncodingState) {
        state.isInPass = false
        state.encoder = nil
        state.generation = -1
    }
}
