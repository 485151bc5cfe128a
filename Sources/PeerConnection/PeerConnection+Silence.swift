import MediaCore

/// Pauses sending to a remote side that has fallen silent, where no ICE consent does (RFC 7675 asks for it after
/// 30 s): another host may have the address by now, and it did not ask for our packets.
extension PeerConnection {
    /// To be called at least once a second or so. A remote side that has never been heard is its owner's concern.
    func pauseIfSilent(now: MonotonicInstant) {
        guard !isPausedForSilence, transport == nil, let limit = configuration.silenceLimit,
            let last = lastAuthenticated, now - last >= limit
        else { return }
        setPausedForSilence(true)
    }

    func setPausedForSilence(_ isPaused: Bool) {
        isPausedForSilence = isPaused
        for line in lines.indices { lines[line].isPaused = isPaused }
        events.append(.connectionStateChanged(isPaused ? .reconnecting : .connected))
    }
}
