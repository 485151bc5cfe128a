import MediaCore
import NIOCore
import SDP
import SecureTransport
import Simulation
import Testing
import VideoCoding

@testable import Conference
@testable import PeerConnection

/// The pictures that libavcodec decodes from samples, each given alone after the ones before.
private func pictures(of samples: [SampleBuffer]) -> [[UInt8]?] {
    let decoder = DecodingPipeline()
    return samples.map { sample in
        var contents: [UInt8]?
        decoder.decode(sample) { event in
            guard case .output(let output) = event, let picture = output.picture else { return }
            var all: [UInt8] = []
            for plane in 0..<3 {
                let (width, rows) = picture.pixelBuffer.format.planeSize(plane, of: picture.pixelBuffer.dimensions)
                picture.pixelBuffer.withPlane(plane) { bytes, stride in
                    for row in 0..<rows { all += bytes[row * stride..<row * stride + width] }
                }
            }
            contents = all
        }
        return contents
    }
}

/// The recovery of a receiver's picture from losses that were not repaired in time, end to end with real codecs.
@Suite struct PictureRecoveryTests {
    private static func withoutRPSI(_ parameters: inout OfferParameters) {
        withoutProtection(&parameters)
        parameters.video?.feedback.rpsi = false
    }

    private static func withoutProtection(_ parameters: inout OfferParameters) {
        parameters.video?.flexFECPayloadType = nil
    }

    /// Bursts of a tenth of a second.
    private func watch(_ lossy: LossyCall, bursts: Int = 8) -> (begin: MonotonicInstant, frames: Int) {
        lossy.call.run(for: .seconds(4))
        let (begin, frames) = (lossy.call.now, lossy.encoded.count)
        for _ in 0..<bursts {
            lossy.call.run(for: .milliseconds(600))
            lossy.lose(for: .milliseconds(100))
            lossy.call.run(for: .milliseconds(2400))
        }
        return (begin, frames)
    }

    @Test(
        "a receiver alone on its encoder gets its picture back without a keyframe, for fewer bits, bit by bit as it was"
    )
    func longTermReference() throws {
        let with = try LossyCall(adjust: Self.withoutProtection)
        let (begin, frames) = watch(with)
        let without = try LossyCall(adjust: Self.withoutRPSI)
        let (otherBegin, otherFrames) = watch(without)

        let downlink = try with.downlink()
        #expect(downlink.recovery.refreshes >= 8)
        #expect(downlink.recovery.refreshesUsed == 8)
        #expect(downlink.recovery.keyframes == 0)
        #expect(downlink.keyframes == 1)
        #expect(try without.downlink().keyframes >= 9)
        #expect(try without.downlink().recovery == RecoverySnapshot())
        let peer = with.watchers[0].peer.statistics(now: with.call.now)
        #expect(peer.video.recoveryPointsUsed == 8)

        let (repairs, keyframes) = (with.repairs(since: frames), without.repairs(since: otherFrames))
        let text =
            "refreshes: \(repairs), gap \(with.longestGap(since: begin)); "
            + "keyframes: \(keyframes), gap \(without.longestGap(since: otherBegin))"
        #expect(repairs.bytes(at: keyframes.qp) * 2 < keyframes.bytes, "\(text)")
        let (gap, otherGap) = (with.longestGap(since: begin), without.longestGap(since: otherBegin))
        withKnownIssue("a refresh arrives 10 to 17 ms later in its tick than a keyframe", isIntermittent: true) {
            #expect(gap <= otherGap, "\(text)")
        }
        #expect(gap <= otherGap + .milliseconds(33), "\(text)")

        // The samples that were handed on are those that the encoder made, and they decode as they do without loss.
        let whole = with.encoded.compactMap { $0.frame?.sample }
        let bytes = Dictionary(
            whole.enumerated().map { (Array($0.element.data.contiguous().readableBytesView), $0.offset) }
        ) { $1 }
        let received = try with.watchers[0].frames.map { try #require(bytes[$0]) }
        #expect(received.count < whole.count - 16)
        let wanted = pictures(of: whole)
        for (picture, index) in zip(pictures(of: received.map { whole[$0] }), received) {
            let isSame = picture != nil && picture == wanted[index]
            #expect(isSame, "frame \(index)")
        }
        #expect(with.watchers[0].decodeFailures == 0)
    }

    @Test("when two refreshes are lost as well, a keyframe comes")
    func inVain() throws {
        let lossy = try LossyCall(adjust: Self.withoutProtection)
        lossy.call.run(for: .seconds(4))
        lossy.lose(for: .milliseconds(100))
        // The receiver's requests get through, but the frames that answer them do not.
        var refreshes = 0
        lossy.call.onEncoded = { result in
            guard let frame = result.frame, frame.isRefresh else { return }
            refreshes += 1
            if refreshes <= 2 { lossy.lose(for: .milliseconds(30)) }
        }
        lossy.call.run(for: .seconds(8))
        let downlink = try lossy.downlink()
        #expect(downlink.recovery.refreshes == 2)
        #expect(downlink.recovery.refreshesUsed == 0)
        #expect(downlink.recovery.keyframes == 1)
        #expect(downlink.keyframes == 2)
        #expect(lossy.watchers[0].arrivals.last.map { lossy.call.now - $0 < .milliseconds(200) } ?? false)
        // From then on it behaves as before.
        lossy.lose(for: .milliseconds(100))
        lossy.call.run(for: .seconds(3))
        #expect(try lossy.downlink().recovery.refreshesUsed == 1)
    }

    @Test("a receiver whose decoder lost its references is sent a keyframe")
    func decoderLost() throws {
        let lossy = try LossyCall(adjust: Self.withoutProtection)
        lossy.call.run(for: .seconds(4))
        lossy.watchers[0].peer.requestKeyframe(now: lossy.call.now)
        lossy.call.run(for: .seconds(3))
        let downlink = try lossy.downlink()
        #expect(downlink.recovery.refreshes == 0)
        #expect(downlink.keyframes == 2)
    }

    @Test("a receiver that shares an encoder is sent a keyframe")
    func shared() throws {
        let lossy = try LossyCall(watchers: 3, encoders: 1, adjust: Self.withoutProtection)
        lossy.call.run(for: .seconds(4))
        lossy.lose(for: .milliseconds(100))
        lossy.call.run(for: .seconds(4))
        let room = try #require(lossy.call.relay.snapshot(room: "demo", now: lossy.call.now))
        #expect(room.encoding.groups.count == 1)
        #expect(!lossy.encoded.contains { $0.frame?.isRefresh ?? false })
        #expect(try lossy.downlink().recovery == RecoverySnapshot())
        #expect(lossy.watchers[0].keyframesReceived >= 2)
        #expect(lossy.watchers[0].arrivals.last.map { lossy.call.now - $0 < .milliseconds(200) } ?? false)
    }

    @Test("x264 refreshes the picture of a single receiver in parts: losses need no keyframe")
    func intraRefresh() throws {
        let lossy = try LossyCall(backEnd: .x264, adjust: Self.withoutProtection)
        let (begin, _) = watch(lossy, bursts: 4)
        let downlink = try lossy.downlink()
        #expect(downlink.keyframes == 1)
        #expect(downlink.recovery.method == "intra-refresh")
        let watcher = lossy.watchers[0]
        #expect(watcher.peer.statistics(now: lossy.call.now).video.recoveryPointsUsed >= 4)
        #expect(watcher.framesRecovering.contains(true))
        // From one whole picture to the next, the part included in which it becomes whole.
        let shown = zip(watcher.arrivals, watcher.framesRecovering).filter { !$1 && $0 >= begin }.map(\.0)
        let gap = zip(shown, shown.dropFirst()).map { $1 - $0 }.max() ?? .seconds(99)
        #expect(gap < .seconds(4), "\(gap)")
        // A frame that is reported as complete looks the same as without loss.
        let whole = lossy.encoded.compactMap { $0.frame?.sample }
        let bytes = Dictionary(
            whole.enumerated().map { (Array($0.element.data.contiguous().readableBytesView), $0.offset) }
        ) { $1 }
        let received = try watcher.frames.map { try #require(bytes[$0]) }
        let wanted = pictures(of: whole)
        for (position, picture) in pictures(of: received.map { whole[$0] }).enumerated()
        where !watcher.framesRecovering[position] {
            let isSame = picture != nil && picture == wanted[received[position]]
            #expect(isSame, "frame \(received[position])")
        }
    }
}
