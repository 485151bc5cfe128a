import CongestionControl
import MediaCore

/// A sender and its receiver at the two ends of a path.
protocol SimulatedFlow {
    /// The simulation begins: schedule what is to happen first.
    mutating func begin(_ network: SimulatedNetwork)

    /// A time came that was scheduled with this tag.
    mutating func timer(_ tag: Int, _ network: SimulatedNetwork)

    /// The time came that was asked for with `wake`, or an earlier one.
    mutating func wake(_ network: SimulatedNetwork)

    /// A packet came to the end of its path: to the receiver, or back to the sender.
    mutating func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork)

    /// Takes note of what happened since the last sample.
    mutating func sample(_ network: SimulatedNetwork)
}

/// A flow's place in a network: flows are values, and the network calls one of them at a time, never from within
/// another call of the same one.
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
