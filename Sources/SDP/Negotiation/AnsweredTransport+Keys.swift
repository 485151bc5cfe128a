import SecureTransport

extension AnsweredTransport {
    /// Returns the transports of streams whose keys the descriptions carry: one for the bundled streams, and one for
    /// each other stream. Streams without acceptable keys get none.
    static func all(
        ofKeyed streams: [OfferedStream], bundle: BundleGroup?, policy: AnswerPolicy,
        rejections: inout [OfferAnswer.Rejection], using generator: inout some RandomNumberGenerator
    ) throws(SDPError) -> [AnsweredTransport] {
        var transports: [AnsweredTransport] = []
        // Bundled RTP has to be multiplexed with its RTCP (RFC 8843, 9.3).
        let bundled = (bundle?.mids ?? []).compactMap { mid in
            streams.first { $0.description.mid == mid && $0.description.rtcpMux }
        }
        let single = streams.filter { stream in !bundled.contains { $0.index == stream.index } }
        for (members, isBundle) in [(bundled, true)] + single.map({ ([$0], false) }) where !members.isEmpty {
            // The keys of the group's first stream with acceptable keys apply to all. Other streams may have no keys of
            // their own.
            var reasons: [OfferAnswer.Rejection] = []
            var chosen: (stream: OfferedStream, tag: UInt32, keys: SRTPKeyMaterial)?
            for stream in members where chosen == nil {
                switch try acceptableKeys(of: stream.description, policy: policy) {
                case .usable(let tag, let keys): chosen = (stream, tag, keys)
                case .none(let rejection): reasons.append(rejection)
                }
            }
            guard let chosen else {
                rejections += reasons
                continue
            }
            let others = members.filter { $0.index != chosen.stream.index }
            // If the remote side keeps its keys, we keep ours: there is no reason for new ones.
            let before = members.lazy.compactMap(\.previous?.keys).first { $0.inbound == chosen.keys }
            let keys =
                before
                ?? SRTPKeyPair(
                    inbound: chosen.keys, outbound: SRTPKeyMaterial(profile: chosen.keys.profile, using: &generator))
            transports.append(
                AnsweredTransport(
                    indices: [chosen.stream.index] + others.map(\.index), isBundle: isBundle,
                    security: .sessionDescription(tag: chosen.tag, keys: keys)))
        }
        return transports
    }

    private enum KeyChoice {
        case usable(tag: UInt32, keys: SRTPKeyMaterial)
        case none(OfferAnswer.Rejection)
    }

    /// Chooses the `a=crypto` to accept: the first in the offer's order of the profile that the policy prefers.
    private static func acceptableKeys(
        of description: MediaDescription, policy: AnswerPolicy
    ) throws(SDPError) -> KeyChoice {
        var usable: [(tag: UInt32, keys: SRTPKeyMaterial)] = []
        var rejection = OfferAnswer.Rejection(
            line: description.line, reason: "\(description.transport) needs an a=crypto with the key")
        for crypto in try description.cryptoAttributes() {
            switch try crypto.usability() {
            case .usable(let keys): usable.append((crypto.tag, keys))
            case .unusable(let reason):
                rejection = OfferAnswer.Rejection(line: crypto.line, reason: "a=crypto:\(crypto.tag) \(reason)")
            }
        }
        for profile in policy.srtpProfiles {
            if let best = usable.first(where: { $0.keys.profile == profile }) {
                return .usable(tag: best.tag, keys: best.keys)
            }
        }
        return .none(rejection)
    }
}
