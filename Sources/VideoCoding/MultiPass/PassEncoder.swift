import MediaCore

/// An encoder of passes, as a compression session uses it.
///
/// `encode` and `finish` work as with other back ends, but that several frames may come out at once: those that
/// `encode` did not return are taken with `nextReadyFrame`.
protocol PassEncoder: EncoderBackEndSession {
    /// Whether the pass goes on with the frame at `time`; throws where it does not.
    func check(_ time: MediaTime) throws(VideoCodingError)

    /// The next frame that has come out; nil when there is none at the moment.
    func nextReadyFrame() throws(VideoCodingError) -> BackEndFrame?

    /// Ends the pass once all has come out, and plans the next one.
    func endPass() throws(VideoCodingError) -> PassResult
}
