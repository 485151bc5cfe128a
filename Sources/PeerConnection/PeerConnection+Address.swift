package import MediaCore
package import SecureTransport

/// The addresses that belong to the remote side now. A participant can forge the source address of packets that it
/// authenticates with its own keys; an address that belongs to one participant must not become another's by that.
extension PeerConnection {
    /// Without a packet for so long, an address may be another's by now. RTCP comes every five seconds, or up to half
    /// as much later (RFC 3550, section 6.3.1).
    private static let addressLifetime = Duration.milliseconds(7500)
    /// RTP and RTCP of a few streams, before and after a change of network.
    private static let maximumProvedAddresses = 8

    /// Whether packets of the remote side have authenticated from this address lately, and media is sent there.
    package func occupies(_ address: TransportAddress, now: MonotonicInstant) -> Bool {
        if let transport {
            return transport.hasKeys && transport.state == .connected && transport.selectedAddress == address.unmapped
        }
        guard let lastAuthenticated, now - lastAuthenticated < Self.addressLifetime else { return false }
        return provedAddresses.contains(address) && isDestination(address)
    }

    /// Whether RTP or RTCP goes to this address.
    package func isDestination(_ address: TransportAddress) -> Bool {
        lines.contains { $0.rtpDestination == address || $0.rtcpDestination == address }
    }

    /// A packet from this address authenticated.
    func recordProved(_ address: TransportAddress) {
        guard transport == nil, provedAddresses.last != address else { return }
        provedAddresses.removeAll { $0 == address }
        if provedAddresses.count == Self.maximumProvedAddresses { provedAddresses.removeFirst() }
        provedAddresses.append(address)
    }
}
