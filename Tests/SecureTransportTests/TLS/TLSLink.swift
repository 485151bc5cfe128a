import NIOCore
import OpenSSLClient
import SecureTransport

/// A server's connection and its client.
final class TLSLink {
    /// The certificate of all tests.
    private static let context = try? BareCertificate().makeServerContext()

    let server: TLSServerConnection
    let client: BareTLSClient
    /// What the client said.
    private(set) var request = ByteBuffer()
    /// What the server said.
    private(set) var response: [UInt8] = []
    /// The first failure of the server.
    private(set) var failure: TLSError?

    init(_ options: BareTLSClient.Options = BareTLSClient.Options()) throws {
        server = try TLSServerConnection(context: BareCertificate.require(Self.context, "context"))
        client = try BareTLSClient(options)
    }

    /// Hands everything over, both ways, until nothing is left to say.
    func run() {
        if !client.isEstablished { client.advance() }
        for _ in 0..<10 {
            let bytes = client.takeOutgoing()
            if bytes.readableBytes > 0 { deliver(bytes) }
            while let bytes = server.takeOutgoing() { response += client.receive(bytes) }
        }
    }

    /// Hands bytes to the server.
    func deliver(_ bytes: ByteBuffer) {
        do throws(TLSError) {
            try server.receive(bytes, into: &request)
        } catch {
            failure = failure ?? error
        }
    }
}
