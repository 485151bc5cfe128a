import MediaCore
import PeerConnection

/// The sizes in which a receiver's picture is composed: that of its own group, and until it follows that one also the
/// size of the group that it follows.
struct ReceiverCanvases: Hashable, Sendable {
    var own: VideoDimensions
    var followed: VideoDimensions?
}

extension RoomEncoding {
    /// The sizes in which a receiver's picture is to be composed; nil of one who is sent none.
    func canvases(of receiver: Participant) -> ReceiverCanvases? {
        guard let downlink = receiver.downlink else { return nil }
        let own = group(downlink.group)?.rung.dimensions ?? ladder(for: receiver, downlink.format).top.dimensions
        let followed = downlink.awaitsKeyframe ? group(downlink.source)?.rung.dimensions : nil
        return ReceiverCanvases(own: own, followed: followed == own ? nil : followed)
    }

    /// Lets each group go to the rung that its pictures ask for.
    func chooseRungs(for participants: [Participant], now: MonotonicInstant) {
        for group in groups {
            let members = participants.lazy.filter { $0.downlink?.group == group.id }
            guard let viewer = members.first else { continue }
            let slowest = members.compactMap { $0.downlink?.bitRate.sustained }.min() ?? group.bitRate.sustained
            group.chooseRung(in: ladder(for: viewer, group.format), slowest: slowest, now: now)
        }
    }

    /// Where a new group begins: as high as is known to be good. What the content costs is known from who shows the
    /// same.
    func firstRung(
        of planned: EncodeGroupPlanner.Group, rate: BitRate, among participants: [Participant]
    ) -> RungSelector {
        let viewer = participants.first { $0.id == planned.members.first }
        let format = format(planned.format)
        let others = participants.filter { $0.viewNumber == viewer?.viewNumber }
        let cost =
            group(viewer?.downlink?.source)?.contentCost
            ?? others.lazy.compactMap { self.group($0.downlink?.source)?.contentCost }.first
        return RungSelector(ladder: ladder(for: viewer, format), rate: rate, cost: cost)
    }

    private func ladder(for viewer: Participant?, _ format: EncodeFormat) -> Ladder {
        let key = LadderKey(canvas: format.dimensions, preference: viewer?.preference ?? .motion)
        if let known = ladders[key] { return known }
        let ladder = Ladder(
            canvas: key.canvas, frameRate: configuration.frameRate, preference: key.preference,
            isOn: configuration.hasLadder)
        ladders[key] = ladder
        return ladder
    }

    /// What a ladder follows from.
    struct LadderKey: Hashable {
        var canvas: VideoDimensions
        var preference: Ladder.DegradationPreference
    }
}
