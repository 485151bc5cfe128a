import MediaCore
import Testing
import VideoCoding

@testable import confbench

@Suite("Choice of the best encoder")
struct EncoderRankTests {
    private let cheap = EncoderVariant(.openH264, .fastest, .cavlc)
    private let good = EncoderVariant(.openH264, .fastest, .cabac)
    private let dear = EncoderVariant(.openH264, .quality, .cabac)

    private func result(
        _ variant: EncoderVariant, cost: Double, decibels: Double, target: Double = 1000, rate: Double = 1000
    ) -> EncoderResult {
        EncoderResult(
            content: "a", variant: variant, targetKilobitsPerSecond: target, kilobitsPerSecond: rate,
            processorMilliseconds: cost, peakSignalToNoiseRatio: 40, structuralSimilarity: 0.9,
            structuralSimilarityDecibels: decibels, meanDeviation: 0, worstDeviation: 0,
            largestDeltaFrameMilliseconds: 40, framesDropped: 0)
    }

    private func step(_ variant: EncoderVariant, _ deviations: [Double] = [0.02, -0.03], keyframes: Int = 1)
        -> StepResult
    {
        StepResult(content: "a", variant: variant, deviations: deviations, keyframes: keyframes)
    }

    private func best(_ results: [EncoderResult], _ steps: [StepResult]) -> EncoderVariant? {
        EncoderRank.ranking(results, steps: steps, relayDefault: cheap).first(where: \.isBest)?.variant
    }

    @Test("the best has the most similarity of those within the budget")
    func budget() {
        let results = [
            result(cheap, cost: 2, decibels: 10), result(good, cost: 3, decibels: 11),
            result(dear, cost: 3.1, decibels: 12),
        ]
        #expect(best(results, [cheap, good, dear].map { step($0) }) == good)
    }

    @Test("a variant that misses a step, or answers it with a keyframe, is not the best", arguments: [true, false])
    func steps(isByKeyframe: Bool) {
        let results = [result(cheap, cost: 2, decibels: 10), result(good, cost: 2, decibels: 11)]
        let missed = isByKeyframe ? step(good, keyframes: 2) : step(good, [0.01, -0.11])
        #expect(best(results, [step(cheap), missed]) == cheap)
    }

    @Test("an encoder that exceeds the rate has no advantage by it")
    func equalRate() {
        // Two points each, 6 dB for twice the rate; `good` is 10 % over and lies on a line 0.3 dB below the other's.
        let over = 1.1
        let results = [
            result(cheap, cost: 2, decibels: 10), result(cheap, cost: 2, decibels: 16, target: 2000, rate: 2000),
            result(good, cost: 2, decibels: 10.5, rate: 1000 * over),
            result(good, cost: 2, decibels: 16.5, target: 2000, rate: 2000 * over),
        ]
        let ranks = EncoderRank.ranking(results, steps: [], relayDefault: cheap)
        #expect(abs(ranks[0].structuralSimilarityDecibels - 13) < 1e-9)
        #expect(abs(ranks[1].structuralSimilarityDecibels - (13.5 - 6 * 0.13750352)) < 1e-6)
        #expect(ranks[0].isBest)
        #expect(ranks.map(\.isRelayDefault) == [true, false])
    }

    @Test("the relay's default is among those measured")
    func relayDefault() throws {
        #expect(EncoderVariant.all.contains(try EncoderVariant.relayDefault()))
    }

    @Test("deviations are those of every second behind the first")
    func deviations() {
        let even = DataSize(bytes: 125)
        // A large keyframe, a second as asked, and one of double frames.
        var sizes = Array(repeating: even, count: 30)
        sizes[0] = DataSize(bytes: 100_000)
        sizes += Array(repeating: even, count: 30)
        let rate = BitRate.kilobits(30)
        #expect(RateDeviation(sizes: sizes, rate: rate, frameRate: 30).worst == 0)
        sizes += Array(repeating: DataSize(bytes: 250), count: 30)
        let deviation = RateDeviation(sizes: sizes, rate: rate, frameRate: 30)
        #expect(abs(deviation.worst - 1) < 1e-9)
        #expect(abs(deviation.mean - 0.5) < 1e-9)
    }

    @Test("rates are numbers of kbit/s with commas between them")
    func rates() {
        #expect(BitRateList(argument: "400,1500")?.values == [.kilobits(400), .kilobits(1500)])
        for refused in ["", "400,", "5", "x"] { #expect(BitRateList(argument: refused) == nil) }
    }
}
