import Dispatch
import MediaCore
import NIOCore
import Synchronization

@testable import RelayServer
@testable import RoomMedia

/// A disk in memory that stalls and fills up as a test wants it.
final class FakeDisk: RecordingFileSystem {
    struct State {
        var files: [String: ByteBuffer] = [:]
        var capacity = Int.max
        var free = DataSize(bytes: Int.max)
        var isStalled = false
    }

    let state = Mutex(State())
    private let resumed = DispatchSemaphore(value: 0)

    func stall() { state.withLock { $0.isStalled = true } }

    func resume() {
        state.withLock { $0.isStalled = false }
        resumed.signal()
    }

    func makeFolder(_ path: String) {}

    func create(_ path: String) -> any RecordingFile {
        state.withLock { $0.files[path] = ByteBuffer() }
        return FakeFile(path: path, disk: self)
    }

    func replace(_ path: String, with bytes: ByteBuffer) {
        state.withLock { $0.files[path] = bytes }
    }

    func hasFile(_ path: String) -> Bool { state.withLock { $0.files[path] != nil } }

    func freeSpace(at path: String) -> DataSize? { state.withLock { $0.free } }

    func text(_ suffix: String) -> String {
        state.withLock { state in
            state.files.first { $0.key.hasSuffix(suffix) }.map { String(buffer: $0.value) } ?? ""
        }
    }

    fileprivate func append(_ bytes: ByteBuffer, to path: String) -> RecordingFileError? {
        if state.withLock({ $0.isStalled }) {
            resumed.wait()
            resumed.signal()
        }
        return state.withLock { state in
            let used = state.files.values.reduce(0) { $0 + $1.readableBytes }
            guard used + bytes.readableBytes <= state.capacity else {
                return RecordingFileError(path: path, isDiskFull: true, reason: "the disk is full")
            }
            state.files[path]?.writeImmutableBuffer(bytes)
            return nil
        }
    }

    fileprivate func truncate(_ path: String, to size: Int) {
        state.withLock { $0.files[path]?.moveWriterIndex(to: size) }
    }
}

private final class FakeFile: RecordingFile {
    let path: String
    let disk: FakeDisk
    private(set) var size = 0
    private(set) var failure: RecordingFileError?
    private var isClosed = false

    init(path: String, disk: FakeDisk) {
        self.path = path
        self.disk = disk
    }

    func append(_ bytes: ByteBuffer) throws {
        guard !isClosed else { throw RecordingFileError(path: path, isDiskFull: false, reason: "it is closed") }
        if let error = disk.append(bytes, to: path) {
            failure = error
            throw error
        }
        size += bytes.readableBytes
    }

    func synchronize() {}
    func close() { isClosed = true }

    func truncate(to size: Int) {
        guard !isClosed else { return }
        disk.truncate(path, to: size)
        self.size = size
    }
}
