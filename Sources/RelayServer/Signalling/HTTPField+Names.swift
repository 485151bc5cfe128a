import HTTPTypes

extension HTTPField.Name {
    /// A name that is known to be a token (RFC 9110, section 5.6.2).
    static func known(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name("\(name)") else { preconditionFailure("\(name) is not a field's name") }
        return name
    }
}
