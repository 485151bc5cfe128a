import MediaCore

/// An encoder of passes, for a compression session.
///
/// `encode` and `finish` work as with other back ends, but several frames may come out at once: `nextReadyFrame`
/// returns the frames that `encode` did not return.
protocol PassEncoder: EncoderBackEndSession {
    /// Checks that the frame at `time` continues the pass; throws otherwise.
    func check(_ time: MediaTime) throws(VideoCodingError)

    /// The next frame that has come out; nil when there is none at the moment.
    func nextReadyFrame() throws(VideoCodingError) -> BackEndFrame?

    /// Ends the pass once all has come out, and plans the next one.
    func endPass() throws(VideoCodingError) -> PassResult
}
