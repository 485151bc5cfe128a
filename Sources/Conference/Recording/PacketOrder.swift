import MediaCore
import PeerConnection

/// Brings the audio packets of a stream that is recorded into order. It waits for a missing packet only as long as the
/// network may deliver it late; one that comes later still is left out.
struct PacketOrder {
    /// The largest number of packets that wait, 20 ms each.
    static let capacity = 25
    /// The longest time that they wait.
    static let patience = Duration.milliseconds(500)
    /// Numbers that differ by more are those of another stream.
    private static let range: Int64 = 3000
    /// Numbers that are behind by more, two seconds of audio, are those of another stream once this one is silent.
    private static let latest: Int64 = 100

    private var waiting: [ReceivedAudioPacket] = []
    private var next: Int64?
    /// The arrival of the last packet that was not behind.
    private var lastArrival = MonotonicInstant.zero

    /// Takes a packet, and hands on those whose turn it is.
    mutating func insert(_ packet: ReceivedAudioPacket, deliver: (ReceivedAudioPacket) -> Void) {
        if let next, isOfAnotherStream(packet, next: next) {
            flush(deliver: deliver)
            self.next = nil
        }
        guard packet.sequence >= next ?? packet.sequence else { return }
        lastArrival = packet.arrival
        if packet.sequence == next ?? packet.sequence, waiting.isEmpty {
            next = packet.sequence + 1
            deliver(packet)
            return
        }
        let index = waiting.firstIndex { $0.sequence >= packet.sequence } ?? waiting.endIndex
        guard index == waiting.endIndex || waiting[index].sequence != packet.sequence else { return }
        waiting.insert(packet, at: index)
        while let first = waiting.first,
            first.sequence == next || waiting.count > Self.capacity || packet.arrival - first.arrival > Self.patience
        {
            waiting.removeFirst()
            next = first.sequence + 1
            deliver(first)
        }
    }

    /// Returns true if the sender has begun anew. One that went on at a number a little behind would not be heard until
    /// it had passed the former numbers, up to a minute.
    private func isOfAnotherStream(_ packet: ReceivedAudioPacket, next: Int64) -> Bool {
        let behind = next - packet.sequence
        return abs(behind) > Self.range
            || (behind > Self.latest && packet.arrival - lastArrival > Self.patience)
    }

    /// Hands on all that waits: the stream has ended.
    mutating func flush(deliver: (ReceivedAudioPacket) -> Void) {
        for packet in waiting { deliver(packet) }
        next = waiting.last.map { $0.sequence + 1 } ?? next
        waiting.removeAll(keepingCapacity: true)
    }
}
