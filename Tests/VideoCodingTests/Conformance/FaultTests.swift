import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

/// The decoding of clips in which single NAL units are dropped, truncated or damaged. Seeded: the same faults each
/// time.
@Suite(
    "A conformance clip with faults",
    .enabled(if: ConformanceClip.folder != nil, "CONFRELAY_CONFORMANCE_DIR names no folder"))
struct FaultTests {
    /// Access units of a run, which begins at an IDR picture.
    private static let runLength = 5

    @Test("gets one output a frame, and decodes exactly from the next IDR picture on", arguments: ConformanceClip.all)
    func faults(clip: ConformanceClip) throws {
        let run = Array(try clip.accessUnits().prefix(Self.runLength))
        let clean = ConformanceClip.samples(of: run)
        let digests = Driver(DecodingPipeline()).run(clean, finishing: true).map(\.digest)
        try #require(digests.count == clean.count && digests.allSatisfy { $0.count == 40 })

        let area = clean[0].format.codedDimensions.area
        let rounds = min(max(24 * 176 * 144 / area, 4), 24)
        var generator = SeededGenerator(seed: clip.name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
        let driver = Driver(DecodingPipeline(limits: DecodingLimits(maximumArea: 1280 * 720)))
        for round in 0..<rounds {
            for fault in Fault.allCases {
                _ = driver.run(damaged(run, fault, using: &generator), finishing: false)
                let recovered = driver.run(clean, finishing: true)
                #expect(recovered.map(\.digest) == digests, "round \(round), \(fault)")
                #expect(!recovered.contains { $0.isConcealed })
            }
        }
        #expect(driver.pushed == driver.answered)
    }

    private enum Fault: CaseIterable {
        case dropped
        case truncated
        case flipped
        case parameterSets
    }

    /// The run with a fault in one NAL unit of about every other access unit, or in the parameter sets.
    private func damaged(
        _ run: [[NALUnit]], _ fault: Fault, using generator: inout SeededGenerator
    ) -> [SampleBuffer] {
        var damaged = run
        for index in run.indices where fault == .parameterSets ? index == 0 : generator.next() % 2 == 0 {
            let candidates = run[index].indices.filter { run[index][$0].isParameterSet == (fault == .parameterSets) }
            guard !candidates.isEmpty else { continue }
            let position = candidates[Int(generator.next() % UInt64(candidates.count))]
            let changed = change(run[index][position], fault, using: &generator)
            damaged[index].replaceSubrange(position...position, with: [changed].compactMap { $0 })
        }
        return ConformanceClip.samples(of: damaged)
    }

    private func change(_ unit: NALUnit, _ fault: Fault, using generator: inout SeededGenerator) -> NALUnit? {
        var bytes = [UInt8](unit.bytes.readableBytesView)
        switch fault {
        case .dropped:
            return nil
        case .truncated:
            bytes.removeLast(Int(generator.next() % UInt64(bytes.count)))
        case .flipped, .parameterSets:
            for _ in 0...(generator.next() % 4) {
                let bit = Int(generator.next() % UInt64(bytes.count * 8))
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            }
        }
        return NALUnit(ByteBuffer(bytes: bytes))
    }

    /// Pushes runs of frames and checks that each is answered once.
    private final class Driver {
        struct Answer {
            /// The picture's digest, or why there is none.
            var digest: String
            var isConcealed: Bool
        }

        private let pipeline: DecodingPipeline
        private(set) var pushed = 0
        private(set) var answered = 0
        private var owed: Set<UInt64> = []

        init(_ pipeline: DecodingPipeline) {
            self.pipeline = pipeline
        }

        /// The answers to `samples`, in order.
        func run(_ samples: [SampleBuffer], finishing: Bool) -> [Answer] {
            let first = UInt64(pushed)
            var answers: [Answer] = []
            func take(_ event: DecodingEvent) {
                guard case .output(let output) = event else { return }
                answered += 1
                #expect(owed.remove(output.token.rawValue) != nil, "a frame was answered twice")
                guard output.token.rawValue >= first else { return }
                answers.append(
                    Answer(
                        digest: output.picture.map { PictureDigest.of($0.pixelBuffer) } ?? "\(output.result)",
                        isConcealed: output.picture?.isConcealed ?? false))
            }
            for sample in samples {
                owed.insert(UInt64(pushed))
                pipeline.decode(sample, token: FrameToken(UInt64(pushed))) { take($0) }
                pushed += 1
            }
            if finishing {
                pipeline.finishDelayedFrames { take($0) }
                #expect(owed.isEmpty)
            }
            return answers
        }
    }
}
