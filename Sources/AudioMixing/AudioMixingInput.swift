public import MediaCore

/// What has happened since the last tick, gathered on the room's loop and moved into the tick's job.
///
/// This is the hand-over between the loop, which owns the network, and the job, which owns the `AudioMixingSession`:
/// the loop fills a value, takes it with `take()` and gives it to the job, so that neither waits for the other.
public struct AudioMixingInput: Sendable {
    /// A change of who is in the room or how a receiver's mix is encoded.
    public enum Change: Sendable {
        case addSource(ParticipantID)
        case removeSource(ParticipantID)
        case addReceiver(ParticipantID, AudioEncoderSettings)
        case removeReceiver(ParticipantID)
        case setBitRate(BitRate, ParticipantID)
        case setExpectedPacketLoss(Double, ParticipantID)
    }

    /// How many packets of one source are kept for a tick; a room that cannot keep up drops what comes after.
    public static let maximumPacketsPerSource = 128

    /// In the order in which they happened; they come before the packets.
    public private(set) var changes: [Change] = []
    /// In the order in which they came.
    public private(set) var packets: [ParticipantID: [AudioPacket]] = [:]
    /// Packets not taken because a source had `maximumPacketsPerSource` already.
    public private(set) var droppedPackets = 0

    public init() {}

    public var isEmpty: Bool { changes.isEmpty && packets.isEmpty }

    public mutating func apply(_ change: Change) {
        if case .removeSource(let id) = change { packets[id] = nil }
        changes.append(change)
    }

    public mutating func insert(_ packet: AudioPacket, from source: ParticipantID) {
        guard packets[source, default: []].count < Self.maximumPacketsPerSource else {
            droppedPackets += 1
            return
        }
        packets[source, default: []].append(packet)
    }

    /// Hands out all that was gathered and starts afresh.
    public mutating func take() -> AudioMixingInput {
        defer { self = AudioMixingInput() }
        return self
    }
}
