public import MediaCore

/// The events since the last tick, collected on the room's loop and moved into the tick's job.
///
/// The loop owns the network and the job owns the `AudioMixingSession`. The loop fills a value, takes it with `take()`
/// and gives it to the job, so that neither waits for the other.
public struct AudioMixingInput: Sendable {
    /// A change of the room's members or of a receiver's settings.
    public enum Change: Sendable {
        case addSource(ParticipantID)
        case removeSource(ParticipantID)
        case addReceiver(ParticipantID, AudioEncoderSettings)
        case removeReceiver(ParticipantID)
        case setBitRate(BitRate, ParticipantID)
        case setExpectedPacketLoss(Double, ParticipantID)
    }

    /// The limit of packets of one source for a tick. A room that cannot keep up drops further packets.
    public static let maximumPacketsPerSource = 128

    /// The changes in the order in which they happened. They apply before the packets. While nothing is mixed they
    /// wait, so each takes the place of earlier ones that have no effect any more.
    public private(set) var changes: [Change] = []
    /// The packets of each source, in order of arrival.
    public private(set) var packets: [ParticipantID: [AudioPacket]] = [:]
    /// The number of packets dropped because their source had `maximumPacketsPerSource` already.
    public private(set) var droppedPackets = 0

    public init() {}

    public var isEmpty: Bool { changes.isEmpty && packets.isEmpty }

    public mutating func apply(_ change: Change) {
        if case .removeSource(let id) = change { packets[id] = nil }
        changes.removeAll { change.replaces($0) }
        changes.append(change)
    }

    public mutating func insert(_ packet: AudioPacket, from source: ParticipantID) {
        guard packets[source, default: []].count < Self.maximumPacketsPerSource else {
            droppedPackets += 1
            return
        }
        packets[source, default: []].append(packet)
    }

    /// Returns everything collected and starts with an empty value.
    public mutating func take() -> AudioMixingInput {
        defer { self = AudioMixingInput() }
        return self
    }
}

extension AudioMixingInput.Change {
    /// Returns true if an earlier change has no effect once this one follows.
    fileprivate func replaces(_ earlier: Self) -> Bool {
        switch (self, earlier) {
        case (.addSource(let id), .addSource(let other)),
            (.removeSource(let id), .addSource(let other)),
            (.removeSource(let id), .removeSource(let other)),
            (.addReceiver(let id, _), .addReceiver(let other, _)),
            (.addReceiver(let id, _), .setBitRate(_, let other)),
            (.addReceiver(let id, _), .setExpectedPacketLoss(_, let other)),
            (.removeReceiver(let id), .addReceiver(let other, _)),
            (.removeReceiver(let id), .setBitRate(_, let other)),
            (.removeReceiver(let id), .setExpectedPacketLoss(_, let other)),
            (.removeReceiver(let id), .removeReceiver(let other)),
            (.setBitRate(_, let id), .setBitRate(_, let other)),
            (.setExpectedPacketLoss(_, let id), .setExpectedPacketLoss(_, let other)):
            id == other
        default: false
        }
    }
}
