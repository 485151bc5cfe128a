public import MediaCore
internal import Synchronization

/// Takes a recording's bytes from the thread that records to the thread that writes, without a lock, a system call or
/// an allocation: a ring with one producer and one consumer.
///
/// When the consumer falls behind by the ring's capacity, the recording ends: a recording with a gap would be useless.
///
/// `@unchecked Sendable` holds because the producer writes only to storage between `written` and `taken`, the consumer
/// reads only the storage between `taken` and `written`, and each publishes its end with a releasing store that the
/// other reads with an acquiring load.
public final class FlightRing: FlightSink, @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer
    /// The total bytes written; `taken` has the total bytes read.
    private let written = Atomic<Int>(0)
    private let taken = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)
    private let hasEnd = Atomic<Bool>(false)
    private let isAbandoned = Atomic<Bool>(false)

    /// The default capacity: half a minute of a busy downlink.
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

    /// The state of a ring after `drain`.
    public enum State: Hashable, Sendable {
        case open
        /// All bytes are drained, and no more will come.
        case closed
        /// All accepted bytes are drained, and `lostRecords` were not accepted.
        case overrun(lostRecords: Int)
    }

    /// Hands out all waiting bytes in one piece or two. Together they are whole records.
    public func drain(_ body: (UnsafeRawBufferPointer) -> Void) -> State {
        // These are read first: then everything before the end is already in the ring.
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

    /// Declares that nobody will drain the ring. The producer notices at its next record.
    public func abandon() {
        isAbandoned.store(true, ordering: .relaxed)
    }
}
