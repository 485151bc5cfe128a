/// How long silence lasts before it means something.
enum ICETiming {
    /// After that long without a sign of the other side it is reported as disconnected. Checks of consent come at
    /// least every six seconds (RFC 7675, section 5.1), media and its feedback much more often.
    static let silenceLimit = Duration.seconds(5)
    /// After that long without an authentic check or its answer the consent to send is gone (RFC 7675, section 5.1).
    static let consentLifetime = Duration.seconds(30)
}
