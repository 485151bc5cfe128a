/// The times of checks, and the limits of silence.
enum ICETiming {
    /// After that long without a sign of the other side it is reported as disconnected. Checks of consent come at
    /// least every six seconds (RFC 7675, section 5.1), media and its feedback much more often.
    static let silenceLimit = Duration.seconds(5)
    /// After that long without an authentic check or its answer the consent to send is gone (RFC 7675, section 5.1). It
    /// is several times as long as checks may be apart: some of them get lost.
    static let consentLifetime = Duration.seconds(30)

    /// Between the first checks of two pairs: Ta of RFC 8445, section 14.2.
    static let pacing = Duration.milliseconds(50)
    /// The least time before a check is sent again for the first time (RFC 8445, section 14.3).
    static let minimumRetransmissionTimeout = Duration.milliseconds(500)
    /// The number of transmissions of a check: Rc of RFC 8489, section 6.2.1.
    static let transmissionLimit = 7
    /// After the last time, a check fails in that many of the first timeouts: Rm of the same section.
    static let finalTimeouts = 16
    /// The time for which a working pair waits for one of higher priority before it is nominated.
    static let nominationPatience = Duration.milliseconds(200)
    /// Between two checks of consent; each time between 0.8 and 1.2 of it (RFC 7675, section 5.1).
    static let consentInterval = Duration.seconds(5)
    /// The time between checks of consent that are not answered.
    static let recoveryInterval = Duration.seconds(1)
    /// After media that came more often than this, a pause of this length is a reason to check the path: a NAT may have
    /// given us another address.
    static let mediaPause = Duration.seconds(1)
}
