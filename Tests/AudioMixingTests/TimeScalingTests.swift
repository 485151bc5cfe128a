import MediaCore
import Testing

@testable import AudioMixing

@Suite("Time scaling")
struct TimeScalingTests {
    private func queue(_ samples: [Float], capacity: Int = 8192) throws -> SampleQueue {
        var queue = SampleQueue(capacity: capacity)
        try queue.append(maximum: samples.count) { (output) throws(OpusError) in
            for index in samples.indices { output[index] = samples[index] }
            return samples.count
        }
        return queue
    }

    private func all(_ queue: inout SampleQueue) -> [Float] {
        queue.withSamples { Array($0) }
    }

    /// The largest difference between a sample and the one before.
    private func steepest(_ samples: [Float]) -> Float {
        zip(samples, samples.dropFirst()).map { abs($1 - $0) }.max() ?? 0
    }

    @Test("a piece is taken out of a tone without a click and without a change of its amplitude")
    func removal() throws {
        let samples = tone(330, count: 2400)
        var queue = try queue(samples)
        let match = try #require(queue.withSamples { TimeScaling.bestMatch(in: UnsafeBufferPointer($0)) })
        #expect(match.similarity > 0.99)
        TimeScaling.remove(lag: match.lag, from: &queue)
        let result = all(&queue)
        #expect(result.count == 2400 - match.lag)
        #expect(result.first.map { abs($0 - samples[0]) < 0.02 } == true)
        #expect(steepest(result) < steepest(samples) * 1.2)
        #expect(abs(amplitude(of: 330, in: result) - amplitude(of: 330, in: samples)) < 0.03)
    }

    @Test("a piece is put into a tone without a click and without a change of its amplitude")
    func insertion() throws {
        let samples = tone(330, count: 1200)
        var queue = try queue(samples)
        var scratch = [Float](repeating: 0, count: 960)
        let match = try #require(queue.withSamples { TimeScaling.bestMatch(in: UnsafeBufferPointer($0)) })
        TimeScaling.insert(lag: match.lag, into: &queue, scratch: &scratch)
        let result = all(&queue)
        #expect(result.count == 1200 + match.lag)
        #expect(result.suffix(900) == samples.suffix(900))
        #expect(steepest(result) < steepest(samples) * 1.2)
        #expect(abs(amplitude(of: 330, in: result) - 0.3) < 0.03)
    }

    @Test("there is no match in too few samples")
    func tooShort() throws {
        var queue = try queue(tone(330, count: 479))
        #expect(queue.withSamples { TimeScaling.bestMatch(in: UnsafeBufferPointer($0)) } == nil)
    }

    @Test("the queue returns its elements in order, without end, in constant memory")
    func queueWrapsAround() throws {
        var queue = SampleQueue(capacity: 3000)
        var generator = SeededGenerator(seed: 5)
        var (written, read) = (0, 0)
        var output = [Float](repeating: 0, count: 0)
        for _ in 0..<2000 {
            let count = Int.random(in: 1...900, using: &generator)
            if queue.space >= count {
                try queue.append(maximum: count) { (output) throws(OpusError) in
                    for index in 0..<count { output[index] = Float(written + index) }
                    return count
                }
                written += count
            }
            output = [Float](repeating: 0, count: min(queue.count, Int.random(in: 1...900, using: &generator)))
            queue.read(into: &output)
            for (index, sample) in output.enumerated() where sample != Float(read + index) {
                Issue.record("sample \(read + index) is \(sample)")
            }
            read += output.count
        }
        #expect(read > 100_000)
        #expect(queue.count == written - read)
    }
}
