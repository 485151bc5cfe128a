import MediaCore
import NIOCore

extension AudioSource {
    /// Concealment is at full strength for 40 ms and silent after 100 ms.
    static let fadeStart = 1920
    static let fadeEnd = 4800
    /// After a fade, the first real samples come in over 5 ms.
    static let fadeIn = 240
    /// Gaps are bridged in steps of 2.5 ms, the shortest packet.
    static let concealmentStep = 120
    /// The speech modes of libopus conceal 10 ms at a time: of a shorter piece they drop the rest, which clicks.
    static let concealmentUnit = 480
    /// A packet of at most this size announces silence (DTX; RFC 7587, 3.1.3).
    static let discontinuousPayloadSize = 2

    /// Begins to play when the first packet has waited long enough.
    func start(_ time: Int64) {
        guard let first = packets.first, let base = estimator.base else { return }
        let wait = targetDelay - (time - base - first.timestamp)
        guard wait < Int64(AudioFormat.frameSampleCount) else { return }
        isPlaying = true
        // Keeps the samples that a restart left in the queue.
        queue.appendSilence(Int(max(wait, 0)))
        cursor = first.timestamp
        concealedRun = max(concealedRun, Self.fadeEnd)
        concealedAhead = 0
    }

    /// Drops audio that exceeds every acceptable delay: after an outage, many packets come at once.
    func skipExcess(_ time: Int64) {
        guard let delay = delay(time), delay > targetDelay + 14_400, let last = packets.last else { return }
        let end = last.end
        while packets.count > 1, let first = packets.first, end - first.end > targetDelay {
            _ = packets.popFirst()
            counts.discarded += 1
            cursor = max(cursor ?? first.end, first.end)
            lastSequence = first.sequence
            concealedAhead = 0
        }
    }

    /// Decodes and conceals until there is a frame.
    func fill(_ time: Int64) {
        while isPlaying, queue.count < AudioFormat.frameSampleCount { step(time) }
    }

    /// Adds some samples to the queue, or removes a useless packet from the packets.
    func step(_ time: Int64) {
        guard let first = packets.first, let cursor else {
            concealUnderrun()
            return
        }
        let gap = first.timestamp - cursor
        if gap <= -Int64(first.sampleCount) {
            _ = packets.popFirst()
            counts.late += 1
        } else if gap <= 0 {
            decodeFirst(skipping: Int(-gap))
        } else {
            bridge(gap: gap, to: first, time: time)
        }
    }

    /// Fills the time before the next packet, or part of it, or takes the packet when enough has been filled.
    private func bridge(gap: Int64, to packet: PacketQueue.Packet, time: Int64) {
        let isLoss = lastSequence.map { packet.sequence &- $0 != 1 } ?? false
        guard isLoss, concealedRun < Self.fadeEnd else {
            // The sender was silent: a good time to correct the delay. This time is not the sender's and is not
            // counted.
            let length = concealableLength(targetDelay - ((delay(time) ?? targetDelay) - gap))
            if length > 0 { _ = conceal(length, isCounted: false) } else { take(up: packet) }
            return
        }
        // Samples concealed during the wait replace the first of the missing packets.
        let missing = gap - concealedAhead
        guard missing >= Int64(Self.concealmentStep) else { return take(up: packet) }
        let carried = OpusPacket.carriesFEC(packet.payload) ? OpusPacket.frameSampleCount(of: packet.payload) : 0
        let uncovered = concealableLength(missing - Int64(carried))
        if uncovered > 0 {
            advance(conceal(uncovered, isCounted: true))
        } else {
            advance(recover(carried, keeping: Int(min(missing, Int64(carried))), from: packet))
        }
    }

    /// `length` in whole steps of concealment, a frame at most; zero if it is not positive.
    private func concealableLength(_ length: Int64) -> Int {
        let steps = min(max(length, 0), Int64(AudioFormat.frameSampleCount)) / Int64(Self.concealmentStep)
        return Int(steps) * Self.concealmentStep
    }

    /// Continues with `packet`, whatever is missing before it.
    private func take(up packet: PacketQueue.Packet) {
        cursor = packet.timestamp
        concealedAhead = 0
    }

    private func advance(_ sampleCount: Int) {
        cursor = cursor.map { $0 + Int64(sampleCount) }
    }

    private func decodeFirst(skipping skipped: Int) {
        guard let packet = packets.popFirst() else { return }
        guard !repeatsDecodedTime(packet) else {
            counts.overlapping += 1
            return
        }
        guard spend(packet.sampleCount) else {
            counts.overBudget += 1
            return
        }
        let before = queue.count
        do throws(OpusError) {
            try queue.append(maximum: packet.sampleCount) { (output) throws(OpusError) in
                try decoder.decode(packet.payload, into: output)
            }
            counts.packetsDecoded += 1
            checkClaim(of: packet, decoded: queue.count - before)
            queue.removeMiddle(ofLast: queue.count - before, dropping: skipped)
            fadeIn(queue.count - before)
            concealedRun = 0
        } catch {
            counts.malformed += 1
            _ = conceal(packet.sampleCount - skipped, isCounted: true)
        }
        isDiscontinuous = packet.payload.readableBytes <= Self.discontinuousPayloadSize
        lastSequence = packet.sequence
        decodedEnd = packet.end
        cursor = packet.end
        concealedAhead = 0
    }

    /// Returns true if the packets before have already given more than half of a packet's time.
    ///
    /// Timestamps from a clock overlap a little. The decoder would decode the whole packet for its new part.
    private func repeatsDecodedTime(_ packet: PacketQueue.Packet) -> Bool {
        guard let decodedEnd else { return false }
        return (packet.end - decodedEnd) * 2 < Int64(packet.sampleCount)
    }

    /// Pays for the decoding of `sampleCount` samples. Returns false if the budget does not allow it.
    private func spend(_ sampleCount: Int) -> Bool {
        guard decoding.tokens >= Double(sampleCount) else { return false }
        decoding.charge(Double(sampleCount))
        counts.decoded += .microseconds(sampleCount * 1000 / 48)
        return true
    }

    private func checkClaim(of packet: PacketQueue.Packet, decoded sampleCount: Int) {
        guard let claim = packet.claimedLevel else { return }
        queue.withSamples { samples in
            levelClaims.add(
                claim: claim.decibelsBelowOverload,
                of: UnsafeMutableBufferPointer(rebasing: samples[(samples.count - sampleCount)...]))
        }
    }

    /// Conceals a tick for which no packet came, and stops playing after a while.
    private func concealUnderrun() {
        guard concealedRun < Self.fadeEnd else {
            isPlaying = false
            return
        }
        if !isDiscontinuous, concealedRun == 0 { counts.underruns += 1 }
        let missing = AudioFormat.frameSampleCount - queue.count
        concealedAhead += Int64(conceal(missing, isCounted: !isDiscontinuous))
    }

    /// Adds `length` made-up samples, which fade to silence. Returns `length`.
    private func conceal(_ length: Int, isCounted: Bool) -> Int {
        let before = queue.count
        let length = max(length, 0)
        if concealedRun < Self.fadeEnd {
            let whole = (length + Self.concealmentUnit - 1) / Self.concealmentUnit * Self.concealmentUnit
            // If libopus cannot conceal, silence is used.
            if spend(whole) {
                _ = try? queue.append(maximum: whole) { (output) throws(OpusError) in
                    try decoder.conceal(into: output)
                }
            }
            let made = queue.count - before
            queue.removeMiddle(ofLast: made, dropping: made - length)
            fadeOut(queue.count - before)
            if isCounted { counts.concealed += .microseconds(length * 1000 / 48) }
        }
        queue.appendSilence(length - (queue.count - before))
        concealedRun += length
        return length
    }

    /// Adds the last `kept` of the `length` samples that `packet` carries of the time before it. Returns `kept`.
    private func recover(_ length: Int, keeping kept: Int, from packet: PacketQueue.Packet) -> Int {
        guard spend(length) else { return conceal(kept, isCounted: true) }
        let before = queue.count
        do throws(OpusError) {
            try queue.append(maximum: length) { (output) throws(OpusError) in
                try decoder.recover(from: packet.payload, into: output)
            }
        } catch {
            return conceal(kept, isCounted: true)
        }
        queue.removeMiddle(ofLast: queue.count - before, dropping: length - kept)
        counts.recoveredByFEC += 1
        fadeIn(queue.count - before)
        concealedRun = 0
        queue.appendSilence(kept - (queue.count - before))
        return kept
    }

    /// Fades the waiting samples out: the decoder begins anew and does not continue them.
    func endQueue() {
        if queue.count < Self.fadeIn { _ = conceal(Self.fadeIn - queue.count, isCounted: false) }
        queue.withSamples { samples in
            for index in samples.indices { samples[index] *= 1 - Float(index + 1) / Float(samples.count) }
        }
    }

    /// The gain of concealment after `run` samples.
    private static func concealmentGain(_ run: Int) -> Float {
        min(max(Float(fadeEnd - run) / Float(fadeEnd - fadeStart), 0), 1)
    }

    private func fadeOut(_ length: Int) {
        guard concealedRun + length > Self.fadeStart else { return }
        let run = concealedRun
        queue.withSamples { samples in
            let start = samples.count - length
            for index in 0..<length { samples[start + index] *= Self.concealmentGain(run + index) }
        }
    }

    /// Raises the first of `length` new samples from the gain that concealment had reached.
    private func fadeIn(_ length: Int) {
        guard concealedRun > Self.fadeStart else { return }
        let gain = Self.concealmentGain(concealedRun)
        queue.withSamples { samples in
            let start = samples.count - length
            for index in 0..<min(length, Self.fadeIn) {
                samples[start + index] *= gain + (1 - gain) * Float(index) / Float(Self.fadeIn)
            }
        }
    }
}
