import MediaCore

/// About how much the index of a movie takes whose frames and Opus packets are interleaved (ISO/IEC 14496-12, 8.6 and
/// 8.7).
enum MovieIndexSize {
    /// The index of an empty movie.
    private static let empty = 1200
    /// For each frame and packet its size, for each chunk of them its place.
    private static let size = 4
    private static let place = 4
    /// For each frame how much later it is shown than decoded: eight bytes where that changes from frame to frame, as
    /// it mostly does where frames are reordered. Only the encoder knows.
    private static let presentationOffset = 7
    /// For each run of chunks that have equally many packets.
    private static let run = 12

    static func estimate(frameCount: Int, frameRate: Int, packetCount: Int, packetDuration: MediaTime) -> Int {
        var (chunks, runs, packetsDone, lastCount) = (0, 0, 0, 0)
        for frame in 1...max(1, frameCount) where packetsDone < packetCount {
            let time = Double(frame) / Double(max(1, frameRate))
            let due = min(packetCount, Int(clamping: (time / packetDuration.seconds).rounded(.up)))
            let count = due - packetsDone
            guard count > 0 else { continue }
            chunks += 1
            if count != lastCount { runs += 1 }
            (packetsDone, lastCount) = (due, count)
        }
        let frames = frameCount * (size + presentationOffset) + max(1, min(chunks, frameCount)) * place
        return empty + frames + packetCount * size + chunks * place + runs * run
    }
}
