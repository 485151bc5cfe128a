import Compositing
import MediaCore
import PeerConnection

/// The rate at which the best receiver of each source shows it. Receivers' rates change all the time, so that they are
/// looked at a few times a second, and at once where somebody sees something else.
struct ShownRates {
    private static let interval = Duration.milliseconds(500)

    private var rates: [SourceID: BitRate] = [:]
    private var next = MonotonicInstant.zero

    /// Zero for a source that nobody sees.
    subscript(source: SourceID) -> BitRate { rates[source] ?? .zero }

    /// Somebody is to see something else.
    mutating func expire() { next = .zero }

    /// Looks at the receivers again where that is due. Returns whether it was.
    ///
    /// - Parameter soleSources: The source whose packets a receiver may be sent in place of a composed picture.
    mutating func update(
        for receivers: [Participant], encodedBy encoding: RoomEncoding, soleSources: [ParticipantID: SourceID],
        now: MonotonicInstant
    ) -> Bool {
        guard now >= next else { return false }
        next = now + Self.interval
        rates.removeAll(keepingCapacity: true)
        for receiver in receivers where receiver.peer.canSendVideo {
            guard let downlink = receiver.downlink else { continue }
            let group = encoding.group(downlink.group)
            let sole = soleSources[receiver.id]
            for (source, share) in receiver.shares {
                let shown = UplinkPrice.shownRate(
                    UplinkPrice.View(
                        share: share, rate: group?.bitRate.sustained ?? downlink.bitRate.sustained,
                        qp: group?.qp, mayForward: sole == source))
                if shown > self[source] { rates[source] = shown }
            }
        }
        return true
    }
}

extension CompositionView {
    /// The part of the picture's samples that each source takes.
    var shares: [(source: SourceID, share: Double)] {
        let whole = layers.reduce(0) { $0 + $1.rect.dimensions.area }
        return layers.map { ($0.source, Double($0.rect.dimensions.area) / Double(max(whole, 1))) }
    }
}
