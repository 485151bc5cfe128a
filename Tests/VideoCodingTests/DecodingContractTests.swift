import Dispatch
import Foundation
import H264Fixtures
import MediaCore
import Synchronization
import Testing

@testable import VideoCoding

/// A decoder that anyone can call from within its output handler.
private final class SessionBox: Sendable {
    private let stored = Mutex<DecompressionSession?>(nil)
    var session: DecompressionSession? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

@Suite("Every frame that is pushed")
struct DecodingContractTests {
    /// A stream with reordering: a keyframe, then groups of two frames of which the second is shown first.
    private func reordered(groups: Int, stream: inout RawPictureStream) -> [SampleBuffer] {
        var samples = [stream.frame(16, order: 0, isIDR: true)]
        for group in 0..<UInt32(groups) {
            samples.append(stream.frame(UInt8(18 + group * 2), order: group * 4 + 4))
            samples.append(stream.frame(UInt8(17 + group * 2), order: group * 4 + 2, isReference: false))
        }
        return samples
    }

    private func reordered(groups: Int) throws -> [SampleBuffer] {
        var stream = try RawPictureStream()
        return reordered(groups: groups, stream: &stream)
    }

    private func summary(_ outputs: [DecodeOutput]) -> [String] {
        outputs.map { output in
            let shown = output.picture.map { "\($0.pixelBuffer.luma(x: 5, y: 5))" } ?? "\(output.result)"
            return "\(output.token.rawValue) \(output.presentationTime.seconds) \(shown)"
        }
    }

    @Test("is answered with its own time and token")
    func tokens() throws {
        let samples = try reordered(groups: 10)
        let decoder = try TestDecoder(format: samples[0].format)
        var outputs: [DecodeOutput] = []
        for (number, sample) in samples.enumerated() {
            outputs += decoder.decode(sample, token: FrameToken(UInt64(number) + 100))
        }
        outputs += decoder.finishDelayedFrames()
        #expect(outputs.count == samples.count)
        for output in outputs {
            let sample = samples[Int(output.token.rawValue) - 100]
            #expect(output.presentationTime == sample.presentationTime)
            #expect(output.picture?.presentationTime == sample.presentationTime)
        }
        #expect(decoder.session.statistics.pictures == samples.count)
    }

    @Test("comes to the same asynchronously as synchronously")
    func modes() async throws {
        var samples = try reordered(groups: 20)
        samples[9].data = BlockBuffer()
        samples[12].data = samples[12].data.slice(0..<20) ?? BlockBuffer()
        let decoder = try TestDecoder(format: samples[0].format)
        var expected: [DecodeOutput] = []
        for (number, sample) in samples.enumerated() {
            expected += decoder.decode(sample, token: FrameToken(UInt64(number)))
        }
        expected += decoder.finishDelayedFrames()

        let outputs = OutputCollector()
        let session = try DecompressionSession(format: samples[0].format, pipelineDepth: 2) { outputs.append($0) }
        for (number, sample) in samples.enumerated() {
            if number % 2 == 0 {
                await session.decodeAsynchronously(sample, token: FrameToken(UInt64(number)))
            } else {
                session.decode(sample, token: FrameToken(UInt64(number)), mode: .asynchronous)
            }
        }
        await session.waitForAsynchronousFrames()
        session.finishDelayedFrames()
        #expect(summary(outputs.all) == summary(expected))
        #expect(session.statistics == decoder.session.statistics)
    }

    @Test("is decoded in the order of the pushes where modes are mixed")
    func mixedModes() throws {
        let samples = try reordered(groups: 20)
        let outputs = OutputCollector()
        let session = try DecompressionSession(format: samples[0].format) { outputs.append($0) }
        for (number, sample) in samples.enumerated() {
            session.decode(
                sample, token: FrameToken(UInt64(number)), mode: number % 3 == 2 ? .synchronous : .asynchronous)
        }
        session.finishDelayedFrames()
        #expect(outputs.all.compactMap { $0.picture?.pixelBuffer.luma(x: 0, y: 0) } == (16...56).map { UInt8($0) })
    }

    @Test("has to wait while the pipeline is full")
    func backPressure() throws {
        let samples = try reordered(groups: 30)
        let depth = 3
        let returned = Atomic(0)
        let answered = Atomic(0)
        let excess = Atomic(0)
        let overfull = DispatchSemaphore(value: 0)
        let session = try DecompressionSession(format: samples[0].format, pipelineDepth: depth) { _ in
            // The first frame keeps its place until one is being pushed that has none.
            if answered.add(1, ordering: .relaxed).newValue == 1 { overfull.wait() }
            for _ in 0..<200 { sched_yield() }
            let ahead = returned.load(ordering: .relaxed) - answered.load(ordering: .relaxed)
            excess.max(ahead, ordering: .relaxed)
        }
        for (number, sample) in samples.enumerated() {
            if number == depth { overfull.signal() }
            session.decode(sample, mode: .asynchronous)
            returned.add(1, ordering: .relaxed)
        }
        session.finishDelayedFrames()
        #expect(answered.load(ordering: .relaxed) == samples.count)
        // One is held back by the stream's reordering, and one may have left whose output is the one that looks.
        #expect(excess.load(ordering: .relaxed) <= depth + 2)
    }

    @Test("is answered when the session is let go of")
    func deinitialisation() throws {
        let samples = try reordered(groups: 10)
        let outputs = OutputCollector()
        var session: DecompressionSession? = try DecompressionSession(format: samples[0].format, pipelineDepth: 50) {
            outputs.append($0)
        }
        for (number, sample) in samples.enumerated() {
            session?.decode(sample, token: FrameToken(UInt64(number)), mode: number < 4 ? .synchronous : .asynchronous)
        }
        session = nil
        #expect(outputs.all.map(\.token.rawValue).sorted() == Array(0..<UInt64(samples.count)))
        guard case .dropped(.sessionInvalidated) = outputs.all.last?.result else {
            Issue.record("the frame that was held back was lost")
            return
        }
    }

    @Test("is answered when the handler invalidates the session, and when it is pushed after that")
    func invalidation() async throws {
        let samples = try reordered(groups: 10)
        let outputs = OutputCollector()
        let box = SessionBox()
        let session = try DecompressionSession(format: samples[0].format, pipelineDepth: 50) { output in
            outputs.append(output)
            if output.token.rawValue == 2 { box.session?.invalidate() }
        }
        box.session = session
        for (number, sample) in samples.enumerated() {
            await session.decodeAsynchronously(sample, token: FrameToken(UInt64(number)))
        }
        await session.waitForAsynchronousFrames()
        box.session = nil
        let seen = outputs.all
        #expect(seen.map(\.token.rawValue).sorted() == Array(0..<UInt64(samples.count)))
        #expect(seen.compactMap { $0.picture?.pixelBuffer.luma(x: 0, y: 0) } == [16, 17])
        session.decode(samples[0], token: FrameToken(99))
        session.finishDelayedFrames()
        #expect(outputs.all.last?.token.rawValue == 99)
        #expect(outputs.all.count == samples.count + 1)
    }

    @Test("is answered when the handler lets go of the session")
    func handlerOwnsSession() async throws {
        let samples = try reordered(groups: 5)
        let outputs = OutputCollector()
        let box = SessionBox()
        let (done, finish) = AsyncStream<Void>.makeStream()
        let begin = DispatchSemaphore(value: 0)
        do {
            let session = try DecompressionSession(format: samples[0].format, pipelineDepth: 50) { output in
                if output.token.rawValue == 0 {
                    begin.wait()
                    box.session = nil
                }
                outputs.append(output)
                if outputs.all.count == samples.count { finish.finish() }
            }
            box.session = session
            for (number, sample) in samples.enumerated() {
                session.decode(sample, token: FrameToken(UInt64(number)), mode: .asynchronous)
            }
        }
        begin.signal()
        for await _ in done {}
        #expect(outputs.all.map(\.token.rawValue).sorted() == Array(0..<UInt64(samples.count)))
    }

    @Test("may be pushed by the output handler")
    func handlerPushes() async throws {
        let samples = try reordered(groups: 10)
        let outputs = OutputCollector()
        let box = SessionBox()
        let next = Atomic(1)
        let session = try DecompressionSession(format: samples[0].format, pipelineDepth: 1) { output in
            outputs.append(output)
            // Two for each, so that a frame held back does not end it.
            for mode in [DecodeMode.synchronous, .asynchronous] {
                let number = next.add(1, ordering: .relaxed).oldValue
                guard number < samples.count else { return }
                box.session?.decode(samples[number], token: FrameToken(UInt64(number)), mode: mode)
            }
        }
        box.session = session
        session.decode(samples[0])
        while outputs.all.count < samples.count - 1 { await session.waitForAsynchronousFrames() }
        session.finishDelayedFrames()
        box.session = nil
        #expect(outputs.all.compactMap { $0.picture?.pixelBuffer.luma(x: 0, y: 0) } == (16...36).map { UInt8($0) })
    }

    @Test("is answered once, whichever threads push")
    func threads() throws {
        let samples = try reordered(groups: 10)
        let outputs = OutputCollector()
        let session = try DecompressionSession(format: samples[0].format, pipelineDepth: 2) { outputs.append($0) }
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            for (number, sample) in samples.enumerated() {
                session.decode(
                    sample, token: FrameToken(UInt64(thread * 100 + number)),
                    mode: thread % 2 == 0 ? .synchronous : .asynchronous)
                if number == 15, thread == 3 { session.finishDelayedFrames() }
            }
        }
        session.finishDelayedFrames()
        let expected = (0..<6).flatMap { thread in samples.indices.map { UInt64(thread * 100 + $0) } }
        #expect(outputs.all.map(\.token.rawValue).sorted() == expected)
    }

    @Test("can be read from a sequence, which ends with the session and makes callers of push wait")
    func sequence() async throws {
        let samples = try reordered(groups: 20)
        let depth = 2
        let pushed = Atomic(0)
        let (session, outputs) = try DecompressionSession.withOutputs(format: samples[0].format, pipelineDepth: depth)
        async let pushing: Void = {
            for (number, sample) in samples.enumerated() {
                await session.decodeAsynchronously(sample, token: FrameToken(UInt64(number)))
                pushed.add(1, ordering: .relaxed)
            }
            await session.waitForAsynchronousFrames()
            session.finishDelayedFrames()
            session.invalidate()
        }()
        var lumas: [UInt8] = []
        for await output in outputs {
            let ahead = pushed.load(ordering: .relaxed) - lumas.count
            #expect(ahead <= depth + 2)
            lumas.append(try #require(output.picture).pixelBuffer.luma(x: 0, y: 0))
        }
        await pushing
        #expect(lumas == (16...56).map { UInt8($0) })
    }

    @Test("does not wait for a reader that has gone")
    func readerGone() async throws {
        let samples = try reordered(groups: 10)
        let session: DecompressionSession
        do {
            let made = try DecompressionSession.withOutputs(format: samples[0].format, pipelineDepth: 2)
            session = made.session
            // The one who reads is cancelled, as tasks are.
            let reading = Task { for await _ in made.outputs {} }
            reading.cancel()
            await reading.value
        }
        for sample in samples { await session.decodeAsynchronously(sample) }
        await session.waitForAsynchronousFrames()
        session.finishDelayedFrames()
        #expect(session.statistics.pictures == samples.count)
    }

    @Test("does not wait for a reader that has read enough, though the sequence is still there")
    func readerStops() async throws {
        let samples = try reordered(groups: 10)
        let (session, outputs) = try DecompressionSession.withOutputs(format: samples[0].format, pipelineDepth: 2)
        async let first: DecodeOutput? = outputs.first { _ in true }
        for sample in samples { await session.decodeAsynchronously(sample) }
        session.finishDelayedFrames()
        #expect(await first?.picture != nil)
        #expect(session.statistics.pictures == samples.count)
        for await _ in outputs {}
    }
}

@Suite("A pipeline gate")
struct PipelineGateTests {
    /// A further frame waits for its turn, which comes when a place is left.
    private func expectTurnWhenPlaceIsLeft(_ gate: PipelineGate) async {
        let entries = Atomic(0)
        async let entered: Void = {
            await gate.enterOrSuspend()
            entries.add(1, ordering: .relaxed)
        }()
        for _ in 0..<50 { await Task.yield() }
        #expect(entries.load(ordering: .relaxed) == 0)
        gate.leave()
        await entered
    }

    @Test("lets in as many as there are places, then one for each that leaves")
    func order() async {
        let gate = PipelineGate(depth: 2)
        gate.enter()
        await gate.enterOrSuspend()
        await expectTurnWhenPlaceIsLeft(gate)
    }

    @Test("a reader that has gone takes its outputs' places along, and frames still wait for places")
    func readerLeft() async {
        let gate = PipelineGate(depth: 1)
        gate.addOutput()
        gate.readerLeft()
        gate.addOutput()
        await gate.enterOrSuspend()
        await expectTurnWhenPlaceIsLeft(gate)
    }

    @Test("lets everyone in once it is open")
    func open() async {
        let gate = PipelineGate(depth: 1)
        gate.enter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { await gate.enterOrSuspend() } }
            gate.open()
        }
        gate.enter()
    }
}
