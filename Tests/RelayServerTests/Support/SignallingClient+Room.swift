import HTTPTypes
import NIOPosix
import Synchronization

@testable import Conference
@testable import RelayServer

/// Requests about parts of the room `demo`, to a driver that goes on from one request to the next.
extension SignallingClient {
    /// A driver of a relay that has the room.
    func makeDriverOfRoom() -> RelayDriver {
        script.state.withLock { state in
            state.snapshot.rooms = [RoomSnapshot(id: "demo")]
            state.access = ["demo": RoomAccess()]
        }
        return RelayDriver(
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1
        ) { [script] in TwinRelay(script) }
    }

    /// Sends a request, with JSON if it has a body.
    ///
    /// - Parameter path: What follows the room's.
    func ask(
        _ driver: RelayDriver, _ method: HTTPRequest.Method, ofRoom path: String, _ body: String
    ) async throws -> Answer {
        try await answer(
            driver, method, "/rooms/demo/\(path)", headers: body.isEmpty ? [:] : [.contentType: "application/json"],
            body: body)
    }
}
