/// A sender and its receiver at the two ends of a path.
protocol SimulatedFlow {
    /// Called when the simulation begins. The flow schedules its first events.
    mutating func begin(_ network: SimulatedNetwork)

    /// Called at a time that was scheduled with this tag.
    mutating func timer(_ tag: Int, _ network: SimulatedNetwork)

    /// Called at the time that was requested with `wake`, or at an earlier one.
    mutating func wake(_ network: SimulatedNetwork)

    /// Called when a packet reaches the end of its path: at the receiver, or back at the sender.
    mutating func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork)

    /// Takes a sample of the time since the last sample.
    mutating func sample(_ network: SimulatedNetwork)
}

/// A flow's place in a network. Flows are values. The network calls one of them at a time, and never calls a flow from
/// within a call of the same flow.
class AttachedFlow {
    func begin(_ network: SimulatedNetwork) {}
    func timer(_ tag: Int, _ network: SimulatedNetwork) {}
    func wake(_ network: SimulatedNetwork) {}
    func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork) {}
    func sample(_ network: SimulatedNetwork) {}
}

/// An attached flow of one kind.
final class Attached<Flow: SimulatedFlow>: AttachedFlow {
    private(set) var flow: Flow

    init(_ flow: Flow) {
        self.flow = flow
    }

    override func begin(_ network: SimulatedNetwork) { flow.begin(network) }
    override func timer(_ tag: Int, _ network: SimulatedNetwork) { flow.timer(tag, network) }
    override func wake(_ network: SimulatedNetwork) { flow.wake(network) }
    override func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork) { flow.receive(packet, network) }
    override func sample(_ network: SimulatedNetwork) { flow.sample(network) }
}
