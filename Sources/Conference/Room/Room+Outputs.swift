import MediaCore
import RoomAPI

/// The servers that a room's picture and sound are sent to, as the room's members are told. The driver sends.
extension Room {
    /// The most outputs of a room at the same time: each has a thread and a connection.
    static let maximumOutputs = 8

    /// Has a picture of the room made for an output of this id. Everybody is told.
    func startOutput(
        _ id: String, name: String?, _ settings: CompositeSettings, log: RecordingLog, now: MonotonicInstant
    ) throws(RoomControlError) {
        guard outputs.count < Self.maximumOutputs else { throw .tooManyOutputs(limit: Self.maximumOutputs) }
        try startComposite(id, settings, log: log, now: now)
        let status = OutputStatus(id: id, name: name, state: .connecting)
        outputs.append(status)
        emit(.outputChanged(status))
    }

    /// Takes the news of an output that goes on.
    func setOutput(
        _ id: String, _ state: OutputStatus.State, because reason: OutputStatus.Reason?
    ) throws(RoomControlError) {
        guard let index = outputs.firstIndex(where: { $0.id == id }) else { throw .noSuchOutput(id) }
        (outputs[index].state, outputs[index].reason) = (state, reason)
        emit(.outputChanged(outputs[index]))
    }

    func endOutput(_ id: String, because reason: OutputStatus.Reason) throws(RoomControlError) {
        guard let index = outputs.firstIndex(where: { $0.id == id }) else { throw .noSuchOutput(id) }
        var status = outputs.remove(at: index)
        endComposite(id)
        (status.state, status.reason) = (.ended, reason)
        emit(.outputChanged(status))
    }

    func endOutputs(because reason: OutputStatus.Reason) {
        // Each is in the list.
        for output in outputs { try? endOutput(output.id, because: reason) }
    }
}
