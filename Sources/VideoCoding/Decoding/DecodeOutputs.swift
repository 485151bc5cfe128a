/// The outputs of a decompression session, to be read by one reader in the order in which they happen.
///
/// The sequence ends when the session is invalidated or released, after the outstanding outputs; and when its reader
/// stops: later frames are decoded for nobody, and do not wait for a reader.
public struct DecodeOutputs: AsyncSequence, Sendable {
    public typealias Element = DecodeOutput
    public typealias Failure = Never

    private let stream: AsyncStream<DecodeOutput>
    private let continuation: AsyncStream<DecodeOutput>.Continuation
    /// Unread outputs take places in the pipeline.
    private let gate: PipelineGate

    init(gate: PipelineGate) {
        self.gate = gate
        (stream, continuation) = AsyncStream.makeStream()
        continuation.onTermination = { _ in gate.readerLeft() }
    }

    func yield(_ output: DecodeOutput) {
        gate.addOutput()
        continuation.yield(output)
    }

    func finish() {
        continuation.finish()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(base: stream.makeAsyncIterator(), gate: gate, reader: Reader(continuation))
    }

    /// Ends the sequence with the last copy of an iterator.
    fileprivate final class Reader: Sendable {
        private let continuation: AsyncStream<DecodeOutput>.Continuation

        init(_ continuation: AsyncStream<DecodeOutput>.Continuation) {
            self.continuation = continuation
        }

        deinit {
            continuation.finish()
        }
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<DecodeOutput>.Iterator
        fileprivate let gate: PipelineGate
        fileprivate let reader: Reader

        public mutating func next() async -> DecodeOutput? {
            await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> DecodeOutput? {
            guard let output = await base.next(isolation: actor) else { return nil }
            gate.outputWasRead()
            return output
        }
    }
}
