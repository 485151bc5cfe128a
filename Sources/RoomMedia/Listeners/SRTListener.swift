import CLibSRT
import Foundation
import Glibc
package import Logging
import MediaCore
import MediaFiles
package import NIOCore
import SecureTransport
import Synchronization

/// Takes streams that are pushed by SRT, as MPEG-TS: `srt://relay:PORT?streamid=ROOM/KEY`.
package final class SRTListener: Sendable {
    /// Connections at the same time.
    private static let mostConnections = 32
    /// Seconds.
    private static let pauseAfterError = 0.1
    /// Connections that wait to be accepted.
    private static let backlog: Int32 = 8

    package let port: Int
    private let socket: SRTSOCKET
    private let admission: any StreamAdmitting
    private let logger: Logger
    private let share = Mutex(FairShare<ClientNetwork>(capacity: mostConnections))

    /// The reason for which it cannot listen.
    package struct BindError: Error {
        /// The system's error number; 0: the reason is the library's own.
        package let code: CInt
        package let reason: String
    }

    /// Listens, on a thread of its own.
    package init(_ address: SocketAddress, admission: any StreamAdmitting, logger: Logger) throws(BindError) {
        srt_startup()
        srt_setloglevel(LOG_CRIT)
        let socket = srt_create_socket()
        guard socket != SRT_INVALID_SOCK else { throw Self.failure() }
        // At `::` it takes IPv4 too. Without a choice, newer versions of libsrt do not listen there.
        var isIPv6Only: Int32 = 0
        srt_setsockflag(socket, SRTO_IPV6ONLY, &isIPv6Only, Int32(MemoryLayout<Int32>.size))
        let status = address.withSockAddr { address, size in srt_bind(socket, address, Int32(clamping: size)) }
        guard status != SRT_ERROR, srt_listen(socket, Self.backlog) != SRT_ERROR else {
            let failure = Self.failure()
            srt_close(socket)
            throw failure
        }
        self.socket = socket
        self.admission = admission
        self.logger = logger
        port = Self.port(of: socket) ?? address.port ?? 0
        Thread.detach(named: "srt-listener") { [self] in accept() }
    }

    private static func failure() -> BindError {
        var system: Int32 = 0
        srt_getlasterror(&system)
        return BindError(code: system, reason: String(cString: srt_getlasterror_str()))
    }

    private static func port(of socket: SRTSOCKET) -> Int? {
        var storage = sockaddr_storage()
        var size = Int32(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutableBytes(of: &storage) { bytes -> TransportAddress? in
            guard let base = bytes.baseAddress,
                srt_getsockname(socket, base.assumingMemoryBound(to: sockaddr.self), &size) != SRT_ERROR
            else { return nil }
            return TransportAddress(systemAddress: UnsafeRawBufferPointer(rebasing: bytes[..<Int(size)]))
        }
        return address.map { Int($0.port) }
    }

    /// Listens no longer. Streams that have come go on.
    package func close() { srt_close(socket) }

    private func accept() {
        while true {
            var storage = sockaddr_storage()
            var size = Int32(MemoryLayout<sockaddr_storage>.size)
            let (accepted, address) = withUnsafeMutableBytes(of: &storage) { bytes -> (SRTSOCKET, TransportAddress?) in
                let base = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                let accepted = srt_accept(socket, base, &size)
                let used = min(max(0, Int(size)), bytes.count)
                return (accepted, TransportAddress(systemAddress: UnsafeRawBufferPointer(rebasing: bytes[..<used])))
            }
            guard accepted != SRT_INVALID_SOCK else {
                // Closed; a single connection that fails is not accepted at all.
                guard srt_getsockstate(socket) == SRTS_LISTENING else { return }
                // An error that lasts, such as a lack of memory, is not asked for again and again.
                Thread.sleep(forTimeInterval: Self.pauseAfterError)
                continue
            }
            guard let address, share.withLock({ $0.take(for: ClientNetwork(address)) }) else {
                srt_close(accepted)
                continue
            }
            let connection = SRTConnection(accepted) { [self] in
                share.withLock { $0.giveBack(ClientNetwork(address)) }
            }
            admit(connection, from: address)
        }
    }

    private func admit(_ connection: SRTConnection, from address: TransportAddress) {
        let id = SRTStreamID(parsing: connection.streamID)
        let stream = PushedStream(url: "pushed.ts", shown: "srt from \(address.host)", connection: connection)
        Task {
            do throws(StreamRefusal) {
                try await admission.admit(stream, room: id.room, key: id.key, from: address)
            } catch {
                logger.info("SRT stream refused: \(error.reason)", metadata: ["address": "\(address.host)"])
                connection.close()
            }
        }
    }
}

/// The stream that a publisher names in SRT's stream id.
struct SRTStreamID: Hashable {
    var room = ""
    var key = ""

    /// Reads `ROOM/KEY`, or `#!::r=ROOM,u=KEY` (SRT Access Control, 3).
    init(parsing text: String) {
        let prefix = "#!::"
        guard text.hasPrefix(prefix) else {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            room = parts[0]
            key = parts.count > 1 ? parts[1] : ""
            return
        }
        for field in text.dropFirst(prefix.count).split(separator: ",") {
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard pair.count == 2 else { continue }
            switch pair[0] {
            case "r": room = pair[1]
            case "u": key = pair[1]
            default: continue
            }
        }
    }
}

/// One connection of a publisher.
private final class SRTConnection: PushedStream.Connection {
    /// The largest message of SRT's live mode.
    private static let messageSize = 1456
    /// Milliseconds.
    private static let patience: Int32 = 10_000
    private static let longestID = 512

    private let socket: SRTSOCKET
    private let rest = Mutex<ArraySlice<UInt8>>([])
    private let onClose: Mutex<(@Sendable () -> Void)?>

    init(_ socket: SRTSOCKET, onClose: @escaping @Sendable () -> Void) {
        self.socket = socket
        self.onClose = Mutex(onClose)
        var patience = Self.patience
        srt_setsockflag(socket, SRTO_RCVTIMEO, &patience, Int32(MemoryLayout<Int32>.size))
    }

    deinit {
        close()
    }

    var streamID: String {
        // libsrt writes a zero behind it.
        var size = Int32(Self.longestID + 1)
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.longestID + 1) { buffer, count in
            let status = srt_getsockflag(socket, SRTO_STREAMID, buffer.baseAddress, &size)
            count = status == SRT_ERROR ? 0 : min(max(0, Int(size)), Self.longestID)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(StreamFailure) -> Int {
        let waiting = rest.withLock { rest in
            let part = rest.prefix(buffer.count)
            buffer.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        }
        guard waiting == 0 else { return waiting }
        guard buffer.count < Self.messageSize else { return try receive(into: buffer) }
        // A message does not come in parts.
        var message = [UInt8](repeating: 0, count: Self.messageSize)
        var failure: StreamFailure?
        let count = message.withUnsafeMutableBytes { bytes in
            do throws(StreamFailure) {
                return try receive(into: bytes)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        let taken = min(count, buffer.count)
        buffer.copyBytes(from: message[..<taken])
        rest.withLock { $0 = message[taken..<count] }
        return taken
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer) throws(StreamFailure) -> Int {
        let count = srt_recvmsg(
            socket, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: buffer.count))
        guard count == SRT_ERROR else { return Int(count) }
        let error = srt_getlasterror(nil)
        if error == SRT_ETIMEOUT.rawValue || error == SRT_EASYNCRCV.rawValue { throw .timedOut }
        // The publisher has ended the connection, or we have.
        return 0
    }

    func close() {
        let action = onClose.withLock { onClose in
            defer { onClose = nil }
            return onClose
        }
        guard let action else { return }
        srt_close(socket)
        action()
    }
}
