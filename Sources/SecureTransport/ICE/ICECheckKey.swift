/// The properties that identify the checks of one direction (RFC 8445, section 7.2.2): the USERNAME and the password of
/// the MESSAGE-INTEGRITY.
struct ICECheckKey: Sendable {
    var username: [UInt8]
    var password: HMACSHA1Key

    /// The key of checks from `sender` to `receiver`, and of their answers.
    init(receiver: ICECredentials, sender: ICECredentials) {
        username = Array("\(receiver.usernameFragment):\(sender.usernameFragment)".utf8)
        password = HMACSHA1Key(Array(receiver.password.utf8))
    }
}
