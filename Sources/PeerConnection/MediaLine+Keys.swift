import MediaCore
import SecureTransport

extension MediaLine {
    /// The two directions of one pair of keys.
    struct Keys {
        let inbound: SRTPContext
        let outbound: SRTPContext
        let outboundTrailerSize: DataSize
        /// The keys themselves; nil if packets go as they are.
        let pair: SRTPKeyPair?

        /// - Parameters:
        ///   - inbound: The context that the remote side's key has already: one key has one replay window.
        ///   - outbound: The context that our key has already: no index is used twice under one key.
        init(
            _ pair: SRTPKeyPair, inbound: SRTPContext? = nil, outbound: SRTPContext? = nil, maximumSourceCount: Int
        ) throws(SRTPError) {
            self.pair = pair
            if let inbound {
                self.inbound = inbound
            } else {
                self.inbound = try SRTPContext(
                    keys: pair.inbound, direction: .inbound, maximumSourceCount: maximumSourceCount)
            }
            if let outbound {
                self.outbound = outbound
            } else {
                self.outbound = try SRTPContext(
                    keys: pair.outbound, direction: .outbound, maximumSourceCount: maximumSourceCount)
            }
            outboundTrailerSize = DataSize(bytes: pair.outbound.profile.rtpTrailerLength)
        }

        /// No keys: packets go as they are, with the size that `profile` would give them.
        init(unprotectedAs profile: SRTPProfile) {
            pair = nil
            inbound = SRTPContext(unprotected: .inbound, profile: profile)
            outbound = SRTPContext(unprotected: .outbound, profile: profile)
            outboundTrailerSize = DataSize(bytes: profile.rtpTrailerLength)
        }
    }
}
