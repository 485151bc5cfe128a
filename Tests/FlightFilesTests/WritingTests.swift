import FlightFiles
import Foundation
import Glibc
import Testing

@Suite("Writing all bytes to a file")
struct WritingTests {
    private let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }

    @Test("goes on after a signal and after a short write")
    func interruptions() {
        var written: [UInt8] = []
        var calls = 0
        let result = bytes.withUnsafeBytes { bytes in
            bytes.writeAll(to: 5) { descriptor, rest in
                calls += 1
                if calls.isMultiple(of: 2) {
                    errno = EINTR
                    return -1
                }
                let part = rest.prefix(descriptor == 5 ? 70_000 : 0)
                written += part
                return part.count
            }
        }
        #expect(result.failure == 0)
        #expect(result.count == bytes.count)
        #expect(written == bytes)
        #expect(calls == 5)
    }

    @Test("tells how much a full pipe took")
    func fullPipe() throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        try #require(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        let result = bytes.withUnsafeBytes { $0.writeAll(to: descriptor) }
        #expect(result.failure == EAGAIN)
        #expect(result.count > 0 && result.count < bytes.count)
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data(bytes.prefix(result.count)))
    }

    @Test("tells the error, and that a write of nothing is one")
    func failures() {
        let closed = bytes.withUnsafeBytes { $0.writeAll(to: -1) }
        #expect(closed.failure == EBADF)
        #expect(closed.count == 0)
        let stuck = bytes.withUnsafeBytes { $0.writeAll(to: 5) { _, _ in 0 } }
        #expect(stuck.failure == EIO)
        #expect(stuck.count == 0)
        let empty = UnsafeRawBufferPointer(start: nil, count: 0).writeAll(to: -1)
        #expect(empty.failure == 0)
        #expect(empty.count == 0)
    }
}
