public import MediaCore
internal import Synchronization

/// Takes a recording's bytes from the thread that makes them to the one that writes them, without a lock, a system call
/// or an allocation: a ring with one producer and one consumer.
///
/// When the consumer falls behind by the ring's capacity nothing more is taken: a recording with a gap would be none.
///
/// `@unchecked Sendable` holds because the producer writes only to storage between `written` and `taken`, the consumer
/// reads only what is between `taken` and `written`, and each of the two publishes its end by a releasing store that
/// the other reads by an acquiring load.
public final class FlightRing: FlightSink, @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer
    /// Bytes ever written and ever taken.
    private let written = Atomic<Int>(0)
    private let taken = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)
    private let hasEnd = Atomic<Bool>(false)
    private let isAbandoned = Atomic<Bool>(false)

    /// Half a minute of a busy downlink.
    public static let defaultCapacity = DataSize(bytes: 256 * 1024)

    /// Creates a ring that holds at most `capacity`.
    public init(capacity: DataSize = FlightRing.defaultCapacity) {
        storage = .allocate(byteCount: max(capacity.bytes, 1), alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    // MARK: Producer

    public func append(_ record: [UInt8]) -> Bool {
        let end = written.load(ordering: .relaxed)
        let used = end - taken.load(ordering: .acquiring)
        guard record.count <= storage.count - used, !isAbandoned.load(ordering: .relaxed) else { return false }
        let offset = end % storage.count
        let first = min(record.count, storage.count - offset)
        record.withUnsafeBytes { bytes in
            storage[offset..<offset + first].copyBytes(from: bytes[..<first])
            if first < bytes.count { storage[..<(bytes.count - first)].copyBytes(from: bytes[first...]) }
        }
        written.store(end + record.count, ordering: .releasing)
        return true
    }

    public func recordLost() {
        lost.wrappingAdd(1, ordering: .releasing)
    }

    public func close() {
        hasEnd.store(true, ordering: .releasing)
    }

    // MARK: Consumer

    /// What there is to know of a ring after `drain`.
    public enum State: Hashable, Sendable {
        case open
        /// All is drained, and nothing more comes.
        case closed
        /// All that was taken is drained, and so many records were not taken.
        case overrun(lostRecords: Int)
    }

    /// Hands out all that waits, in one piece or two, whole records in all.
    public func drain(_ body: (UnsafeRawBufferPointer) -> Void) -> State {
        // Read first: what came before the end is in the ring then.
        let lostRecords = lost.load(ordering: .acquiring)
        let isClosed = hasEnd.load(ordering: .acquiring)
        let begin = taken.load(ordering: .relaxed)
        let end = written.load(ordering: .acquiring)
        if end > begin {
            let offset = begin % storage.count
            let first = min(end - begin, storage.count - offset)
            body(UnsafeRawBufferPointer(rebasing: storage[offset..<offset + first]))
            if first < end - begin { body(UnsafeRawBufferPointer(rebasing: storage[..<(end - begin - first)])) }
            taken.store(end, ordering: .releasing)
        }
        if lostRecords > 0 { return .overrun(lostRecords: lostRecords) }
        return isClosed ? .closed : .open
    }

    /// Nobody drains from now on: the producer is told at its next record.
    public func abandon() {
        isAbandoned.store(true, ordering: .relaxed)
    }
}
