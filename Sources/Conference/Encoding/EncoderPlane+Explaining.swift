import CongestionControl
import EncoderSharing
import MediaCore

extension EncoderPlane {
    /// - Parameter name: The id that a receiver has in URLs.
    func snapshot(name: (ParticipantID) -> String?) -> EncodingSnapshot {
        EncodingSnapshot(
            groups: groups.map { group in
                EncodeGroupSnapshot(
                    id: group.id.rawValue,
                    members: group.subscribers.members.compactMap(name),
                    bitRate: group.bitRate.sustained.bitsPerSecond, width: group.rung.dimensions.width,
                    height: group.rung.dimensions.height, maximumFrameRate: group.rung.frameRate,
                    qp: group.qp.map { ($0 * 10).rounded() / 10 }, rungChanges: group.rungChanges)
            },
            frames: counters.frames, keyframes: counters.keyframes, bytes: counters.bytes,
            keyframeBytes: counters.keyframeBytes, moves: moves, failures: counters.failures)
    }

    /// Explains a receiver's pictures.
    ///
    /// - Parameter repair: The repair of its losses, with the reason.
    func explanation(for id: ParticipantID, repair: String?, now: MonotonicInstant) -> String? {
        guard let downlink = downlink(of: id) else { return nil }
        guard let group = group(of: id), let reason = reason(of: id) else {
            return "No picture is sent: the path to the receiver is not known yet."
        }
        let own = downlink.bitRate.sustained
        let others = group.subscribers.memberCount - 1
        var text: String
        if others == 0 {
            text = "It has an encoder of its own, at the rate of its network (\(own))"
        } else {
            text = "It shares an encoder with \(others) at \(group.bitRate.sustained)"
            text += ", and its network carries \(own)"
        }
        text += "; \(Self.words(reason))."
        if !group.subscribers.isSent(id) {
            text +=
                source(of: id) == nil
                ? " It gets nothing until that encoder's next keyframe."
                : " Until that encoder's next keyframe it gets another's frames."
        }
        switch downlink.layersDropped(now: now) {
        case 0: break
        case 1: text += " Frames of the uppermost temporal layer are dropped for it alone."
        case 2: text += " Frames of the two upper temporal layers are dropped for it alone."
        default: text += " All frames are dropped for it alone until a keyframe."
        }
        text += rungExplanation(group)
        switch group.recoveryMethod {
        case .keyframes: break
        case .longTermReferences:
            text += " After a loss it continues from the last kept picture that it has."
        case .intraRefresh: text += " Each picture renews a part, so that losses need no keyframe."
        }
        if let repair { text += " \(repair)" }
        return text
    }

    /// Explains the size and the frame rate of the pictures; empty if they are the maximum.
    private func rungExplanation(_ group: EncodeGroup) -> String {
        guard group.isRungReduced else { return "" }
        let canvas = EncodeRung(dimensions: group.format.dimensions, frameRate: configuration.frameRate)
        let size = " The picture is \(group.rung) and not \(canvas): "
        guard
            FrameBound.fitsKeyframe(
                of: canvas, rate: group.slowestRate, within: FrameBound.coarsestKeyframe.regained)
        else { return size + "a keyframe of that takes a link of \(group.slowestRate) too long." }
        let qp = group.qp.map { " (it is \(Int(clamping: $0.rounded())) now)" } ?? ""
        return
            size + "at this rate"
            + " that would take a qp beyond \(Int(clamping: RungSelector.ceiling))\(qp)."
    }

    private static func words(_ reason: EncodeGroupPlanner.Reason) -> String {
        switch reason {
        case .dedicated: "there are encoders for everybody"
        case .placed: "this cost least when it came or its view changed"
        case .fell: "its network fell far below its group's rate"
        case .reviewed: "this is the smallest loss for all together"
        case .isolated: "it requests too many keyframes"
        }
    }
}
