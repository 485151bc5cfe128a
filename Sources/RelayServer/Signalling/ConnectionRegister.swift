import NIOCore
import RoomMedia
import SecureTransport
import Synchronization

/// The open connections of the signalling server, for all of its threads.
final class ConnectionRegister: Sendable {
    private let admission: Mutex<ConnectionAdmission>

    init(_ admission: ConnectionAdmission) {
        self.admission = Mutex(admission)
    }

    /// Takes a place for a connection until it is closed.
    func open(_ channel: any Channel) -> ConnectionAdmission.Decision {
        guard let address = channel.remoteAddress.flatMap({ TransportAddress($0) }) else { return .refused }
        let decision = admission.withLock { $0.open(from: address) }
        channel.closeFuture.whenComplete { _ in self.admission.withLock { $0.close(from: address, as: decision) } }
        return decision
    }

    /// Connections that were not served in full since the start.
    var refusedCount: UInt64 { admission.withLock { $0.refusedCount } }
}
