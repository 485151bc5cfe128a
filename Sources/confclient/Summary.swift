import ConferenceClient

extension ClientReport {
    /// The result of a session, for people.
    var summary: [String] {
        let video = receivedVideo
        let size = video.width.flatMap { width in video.height.map { " \(width)x\($0)" } } ?? ""
        let sentSize = sentVideo.width.flatMap { width in sentVideo.height.map { " \(width)x\($0)" } } ?? ""
        let pause = "; no frame was missing in \(tenths(video.pauseSeconds)) s (\(video.pauseCount)x)"
        var lines = [
            "\(name): \(tenths(durationSeconds)) s in \(url) (\(end))",
            "  received video: \(video.frames) frames\(size), \(tenths(video.framesPerSecond)) fps,"
                + " \(kilobits(video.bitsPerSecond)), \(video.packetsLost) of"
                + " \(video.packets + max(0, video.packetsLost)) packets lost, frozen \(tenths(video.freezeSeconds)) s"
                + " (\(video.freezeCount)x)" + (video.pauseCount > 0 ? pause : ""),
            "  received audio: \(receivedAudio.packets) packets, \(kilobits(receivedAudio.bitsPerSecond))",
            "  sent video: \(sentVideo.frames) frames\(sentSize), \(kilobits(sentVideo.bitsPerSecond)) of"
                + " \(kilobits(sentVideo.targetBitsPerSecond)) allowed, \(sentVideo.framesSkipped) frames skipped",
        ]
        if let mean = delay.meanSeconds, let p95 = delay.p95Seconds {
            lines.append("  end-to-end delay: mean \(milliseconds(mean)), 95 % within \(milliseconds(p95))")
        }
        if let roundTrip = transport.roundTripSeconds { lines.append("  round trip: \(milliseconds(roundTrip))") }
        return lines
    }
}

extension LoadReport {
    /// The result of a run, for people.
    var summary: [String] {
        var lines = [
            "\(joined) of \(count) clients, \(tenths(durationSeconds)) s in \(url) (\(end))",
            "  received: \(tenths(totals.meanFramesPerSecond)) fps, the least \(tenths(totals.minimumFramesPerSecond)),"
                + " \(kilobits(totals.receivedVideoBitsPerSecond)) together, \(totals.packetsLost) packets lost,"
                + " frozen \(tenths(totals.freezeSeconds)) s",
            "  sent: \(kilobits(totals.sentVideoBitsPerSecond)) together",
            "  processor: \(tenths(cpuSeconds)) s",
        ]
        if let longest = moves.map(\.seconds).max() {
            lines.append("  joined again at other relays: \(moves.count) times, within \(milliseconds(longest))")
        }
        return lines
    }
}

extension PlayReport {
    /// The result of playing, for people.
    var summary: [String] {
        var lines = [
            "\(path): \(tenths(durationSeconds)) s of \(width)x\(height) in \(tenths(elapsedSeconds)) s "
                + "(\(end.rawValue))",
            "  \(frames.shown) frames shown, \(frames.late + frames.skipped) late, \(frames.concealed) damaged,"
                + " \(frames.decodeErrors + frames.dropped) without a picture; the latest by"
                + " \(milliseconds(largestLatenessSeconds))",
        ]
        if let output { lines.append("  \(frames.written) frames written to \(output)") }
        return lines
    }
}

private func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

private func kilobits(_ bitsPerSecond: Double) -> String { "\(Int((bitsPerSecond / 1000).rounded())) kbit/s" }

private func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded())) ms" }
