import H264
import MediaCore
import NIOCore
import Synchronization
import Testing

@testable import VideoCoding

/// True if every way to the decoder gives the pictures of the conformance suite, to the bit.
@Suite(
    "A conformance clip", .enabled(if: ConformanceClip.folder != nil, "CONFRELAY_CONFORMANCE_DIR names no folder"))
struct ConformanceTests {
    /// Decodes samples one by one and gives the digest of all pictures.
    private func digest(of samples: [SampleBuffer]) -> String {
        let pipeline = DecodingPipeline()
        let digest = PictureDigest()
        var answered: [FrameToken] = []
        func take(_ event: DecodingEvent) {
            guard case .output(let output) = event else { return }
            answered.append(output.token)
            guard let picture = output.picture else {
                Issue.record("frame \(output.token.rawValue): \(output.result)")
                return
            }
            #expect(!picture.isConcealed)
            digest.add(picture.pixelBuffer)
        }
        for (number, sample) in samples.enumerated() {
            pipeline.decode(sample, token: FrameToken(UInt64(number))) { take($0) }
        }
        pipeline.finishDelayedFrames { take($0) }
        #expect(answered.map(\.rawValue).sorted() == Array(0..<UInt64(samples.count)))
        return digest.finish()
    }

    @Test("decodes exactly from Annex B that comes in pieces", arguments: ConformanceClip.all)
    func annexB(clip: ConformanceClip) throws {
        var reader = ElementaryStreamReader()
        var samples: [SampleBuffer] = []
        var rest = try clip.bytes()
        while let piece = rest.readSlice(length: min(61_003, rest.readableBytes)), piece.readableBytes > 0 {
            reader.append(piece)
            while let sample = reader.nextSample() { samples.append(sample) }
        }
        while let sample = reader.finish() { samples.append(sample) }
        #expect(digest(of: samples) == clip.expectedDigest)
    }

    @Test("decodes exactly from length-prefixed packaging, put into several blocks", arguments: ConformanceClip.all)
    func lengthPrefixed(clip: ConformanceClip) throws {
        let units = try clip.accessUnits().map { unit in
            let size = unit.allSatisfy { $0.count < 1 << 16 } ? 2 : 4
            return try LengthPrefixed.nalUnits(
                in: LengthPrefixed.encode(unit, lengthSize: size), lengthSize: size)
        }
        let samples = ConformanceClip.samples(of: units).map { sample in
            var sample = sample
            var whole = sample.data.contiguous()
            sample.data = BlockBuffer()
            // Cut anywhere, also within a length.
            while let block = whole.readSlice(length: min(1021, whole.readableBytes)), block.readableBytes > 0 {
                sample.data.append(block)
            }
            return sample
        }
        #expect(digest(of: samples) == clip.expectedDigest)
    }

    @Test(
        "decodes exactly after RTP with packets out of order", arguments: ConformanceClip.all,
        [
            (300, PacketizationMode.nonInterleaved), (1200, .nonInterleaved), (300, .singleNALUnit),
            (1200, .singleNALUnit),
        ])
    func packetized(clip: ConformanceClip, transport: (size: Int, mode: PacketizationMode)) throws {
        let units = try clip.accessUnits()
        let path = PacketizedClip(mode: transport.mode, maximumPayloadSize: transport.size)
        guard path.carries(units) else { return }
        let received = path.transport(units)
        #expect(!received.dropFirst().contains { $0.isDamaged })
        #expect(digest(of: ConformanceClip.samples(of: received.map(\.nalUnits))) == clip.expectedDigest)
    }

    @Test("decodes exactly in asynchronous mode", arguments: ConformanceClip.all)
    func asynchronous(clip: ConformanceClip) async throws {
        let collected = Mutex<(digest: PictureDigest, tokens: [UInt64])>((PictureDigest(), []))
        let samples = try clip.samples()
        func makeSession(_ format: VideoFormatDescription) throws -> DecompressionSession {
            try DecompressionSession(format: format) { output in
                collected.withLock { collected in
                    collected.tokens.append(output.token.rawValue)
                    if let picture = output.picture { collected.digest.add(picture.pixelBuffer) }
                }
            }
        }
        var session = try makeSession(samples[0].format)
        for (number, sample) in samples.enumerated() {
            if session.canAccept(sample.format) != .accept {
                session.finishDelayedFrames()
                session = try makeSession(sample.format)
            }
            await session.decodeAsynchronously(sample, token: FrameToken(UInt64(number)))
        }
        await session.waitForAsynchronousFrames()
        session.finishDelayedFrames()
        let (digest, tokens) = collected.withLock { ($0.digest.finish(), $0.tokens) }
        #expect(digest == clip.expectedDigest)
        #expect(tokens.sorted() == Array(0..<UInt64(samples.count)))
    }
}
