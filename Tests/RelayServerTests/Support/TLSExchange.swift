import NIOCore
import NIOPosix
import OpenSSLClient

/// A request over TLS and its answer, on a connection of its own.
enum TLSExchange {
    /// The whole answer to a request, the server's certificate not checked.
    /// - Throws: `BareCertificate.LibraryFailure` if there was no handshake, or no `close_notify` after the answer.
    static func answer(
        to request: String, port: Int, version: Int32 = BareTLSClient.Version.tls13
    ) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            let client = try BareTLSClient(.init(version: version))
            client.advance()
            try await outbound.write(client.takeOutgoing())
            var answer: [UInt8] = []
            var hasAsked = false
            for try await bytes in inbound {
                answer += client.receive(bytes)
                if client.isEstablished, !hasAsked {
                    client.write(Array(request.utf8))
                    hasAsked = true
                }
                let bytes = client.takeOutgoing()
                if bytes.readableBytes > 0 { try await outbound.write(bytes) }
            }
            return try BareCertificate.require(
                client.hasSeenClose ? String(decoding: answer, as: UTF8.self) : nil, "close_notify")
        }
    }
}
