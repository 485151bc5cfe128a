import NIOCore
import Synchronization
import Testing

@testable import MediaFiles
@testable import RoomMedia

/// The way from a publisher's connection to the thread that reads.
@Suite struct StreamPipeTests {
    private func read(_ pipe: StreamPipe, _ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = try bytes.withUnsafeMutableBytes { try pipe.read(into: $0) }
        return Array(bytes[..<read])
    }

    @Test("bytes come in their order, and then the end")
    func order() throws {
        let pipe = StreamPipe()
        #expect(pipe.append(ByteBuffer(bytes: [1, 2, 3])) && pipe.append(ByteBuffer(bytes: [4])))
        pipe.end()
        #expect(try read(pipe, 2) == [1, 2])
        #expect(try read(pipe, 9) == [3])
        #expect(try read(pipe, 9) == [4])
        #expect(try read(pipe, 9) == [])
        #expect(!pipe.append(ByteBuffer(bytes: [5])))
    }

    @Test("a stream that nobody reads is given up at a bound")
    func bound() {
        let pipe = StreamPipe()
        var count = 0
        while pipe.append(ByteBuffer(repeating: 0, count: 1 << 20)) { count += 1 }
        #expect(count == 16)
    }

    @Test("a reader that goes closes the connection, once")
    func close() throws {
        let pipe = StreamPipe()
        let closed = Mutex(0)
        pipe.setOnClose { closed.withLock { $0 += 1 } }
        let stream = PushedStream(url: "pushed.flv", shown: "rtmp", connection: pipe)
        stream.close()
        stream.close()
        #expect(closed.withLock { $0 } == 1)
        #expect(try read(pipe, 9) == [])
    }

    @Test(
        "SRT's stream id names room and key in either form",
        arguments: [
            ("demo/ab.cd.ef", "demo", "ab.cd.ef"), ("demo", "demo", ""), ("", "", ""), ("demo/a/b", "demo", "a/b"),
            ("#!::r=demo,u=Studio,m=publish", "demo", "Studio"), ("#!::u=a=b,r=demo", "demo", "a=b"), ("#!::", "", ""),
        ])
    func streamID(text: String, room: String, key: String) {
        let id = SRTStreamID(parsing: text)
        #expect(id.room == room && id.key == key)
    }
}
