import Conference
import Foundation
import HTTPTypes
import Logging
import MediaCore
import NIOCore
import RoomAPI
import RoomMedia

/// The servers that the relay's rooms are sent to.
extension RelayDriver {
    /// Lets rooms be sent to servers; to be called before the relay serves.
    func setOutputs(logger: Logger, connector: @escaping OutputHub.Connector) {
        outputs = OutputHub(logger: logger, connector: connector) { [weak self, eventLoop] room, id, news in
            eventLoop.execute { [weak self] in
                self?.assumeIsolated { driver in
                    let command: RoomCommand =
                        news.state == .ended
                        ? .endOutput(id: id, reason: news.reason ?? .failed)
                        : .setOutput(id: id, news.state, reason: news.reason)
                    // The output may have ended meanwhile.
                    try? driver.perform(command, room: room)
                }
            }
        }
    }

    /// Begins to send a room to a server.
    ///
    /// - Throws: `Problem`: the room does not exist, has too many outputs, or there is no time for it.
    func startOutput(
        room: String, name: String?, _ target: StreamServer, _ settings: CompositeSettings
    ) throws(Problem) -> OutputDescription {
        guard outputs?.hasRoom() ?? false else {
            throw Problem(
                .serviceUnavailable,
                "the relay has \(OutputHub.maximumOutputs) outputs, which is the most; try again when others have "
                    + "ended", headers: [.retryAfter: "30"])
        }
        let id = Self.makeID("output")
        do {
            try act { relay, now throws(RoomControlError) in
                try relay.perform(.startOutput(id: id, name: name, settings), room: room, now: now)
                outputs?.begin(id, room: room, name: name, target: target)
            }
        } catch {
            throw Problem(error)
        }
        return outputs?.description(of: id, room: room)
            ?? OutputDescription(OutputStatus(id: id, name: name, state: .connecting), url: target.shown)
    }

    /// The outputs of a room; nil: there is no such room.
    func outputs(ofRoom room: String) -> [OutputDescription]? {
        guard ask({ $0.access(ofRoom: room, participant: nil) }) != nil else { return nil }
        return outputs?.descriptions(ofRoom: room) ?? []
    }

    /// An output of a room; nil: there is no such output.
    func output(_ id: String, ofRoom room: String) -> OutputDescription? { outputs?.description(of: id, room: room) }
}
