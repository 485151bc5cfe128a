import MediaCore

extension CompressionSession {
    /// Takes a frame's decode time, which is later than that of the frame before it.
    func takeDecodeTime(_ state: inout EncodingState, of frame: BackEndFrame) -> MediaTime? {
        // A pass tells its own times, which go back where it encodes a part of the film again.
        if let time = frame.decodeTime { return time }
        guard var time = decodeTime(state, of: frame) else { return nil }
        // An encoder that was drained early held nothing back, and its frames were decoded when they are shown. The
        // first ones of the next encoder, which does, would be decoded before those.
        if let last = state.lastDecodeTime { time = max(time, last + MediaTime(value: 1, timescale: 90_000)) }
        state.lastDecodeTime = time
        return time
    }

    /// The time of the picture whose turn it is. Before the first one, times go back by frame intervals.
    private func decodeTime(_ state: borrowing EncodingState, of frame: BackEndFrame) -> MediaTime? {
        if let entry = state.ledger[frame.decodeSerial] { return entry.presentationTime }
        guard frame.decodeSerial < 0, let first = state.firstTime else { return nil }
        let interval = Duration.seconds(1 / max(1, state.properties.expectedFrameRate))
        return first - MediaTime(interval * Int(-frame.decodeSerial), timescale: 90_000)
    }
}
