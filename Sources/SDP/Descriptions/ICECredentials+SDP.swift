public import SecureTransport

extension ICECredentials {
    /// Returns true if this is 4 to 256 `ice-char`s, as `a=ice-ufrag` has them (RFC 8839, section 5.4).
    public static func isUsernameFragment(_ text: some StringProtocol) -> Bool {
        (4...256).contains(text.utf8.count) && text.isICECharacters
    }

    /// Returns true if this is 22 to 256 `ice-char`s, as `a=ice-pwd` has them.
    public static func isPassword(_ text: some StringProtocol) -> Bool {
        (22...256).contains(text.utf8.count) && text.isICECharacters
    }
}

extension StringProtocol {
    /// True if the text has only letters, digits, `+` and `/` (`ice-char` of RFC 8839, section 5.1).
    ///
    /// Some implementations also write `-`, `_`, `=` and the like. These are accepted too: they do no harm.
    var isICECharacters: Bool {
        utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "."), UInt8(ascii: "~"):
                true
            default: false
            }
        }
    }
}
