import MediaFiles

/// A stream that is pushed to the relay, which is opened once.
package final class PushedStream: MediaOpener {
    /// The bytes of a connection, and its end.
    protocol Connection: AnyObject, Sendable {
        /// Reads bytes, for which it waits. Returns zero at the end.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(StreamFailure) -> Int
        /// Nobody reads any more.
        func close()
    }

    /// The name of a file of the stream's form, and the publisher as everybody may see it.
    let url: String
    let shown: String
    private let connection: any Connection

    init(url: String, shown: String, connection: any Connection) {
        self.url = url
        self.shown = shown
        self.connection = connection
    }

    func open(_ url: String) throws(StreamFailure) -> any MediaBytes {
        guard url == self.url else { throw .refused }
        return Bytes(connection)
    }

    func close() { connection.close() }

    /// The bytes in the order in which they come.
    private final class Bytes: MediaBytes {
        private let connection: any Connection
        private var offset: Int64 = 0

        init(_ connection: any Connection) {
            self.connection = connection
        }

        var count: Int64? { nil }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StreamFailure) -> Int {
            guard offset == self.offset else { throw .failed("a stream cannot be read from another place") }
            let count = try connection.read(into: buffer)
            self.offset += Int64(count)
            return count
        }
    }
}

extension StreamPipe: PushedStream.Connection {}
