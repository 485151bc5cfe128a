import Compositing
import HTTPTypes
public import RoomAPI

/// The identifier of a room in paths: letters, digits, `-`, `_` and `.`, at most 64 of them.
struct RoomName: Equatable {
    let rawValue: String

    static let maximumLength = 64

    /// Checks a path component.
    init(_ text: String) throws(Problem) {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        // "." and ".." would be taken for path segments by clients.
        guard isAllowed, !text.isEmpty, text.utf8.count <= Self.maximumLength, text != ".", text != ".." else {
            throw Problem(
                .badRequest,
                "the room's name is not acceptable: use 1 to \(Self.maximumLength) letters, digits, '-', '_' and '.'")
        }
        rawValue = text
    }
}

/// The name that others see: at most 64 characters, none of them a control character, and something to see.
struct ParticipantName: Equatable {
    let rawValue: String

    static let maximumLength = 64
    /// A character may be composed of many code points; this bounds the bytes.
    static let maximumBytes = 512
    /// The name of a participant that gives none.
    static let guest = ParticipantName(unchecked: "Guest")

    private init(unchecked text: String) {
        rawValue = text
    }

    /// Checks a query parameter; surrounding white space is cut off. Marks and overrides of direction are left out (UAX
    /// #9): they would turn what stands behind the name.
    init(_ text: String) throws(Problem) {
        guard text.utf8.count <= Self.maximumBytes else { throw Self.refusal }
        let directed = String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.properties.isBidiControl }))
        let name = String(
            directed.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        let isVisible = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
        guard isVisible, name.count <= Self.maximumLength else { throw Self.refusal }
        guard !DisplayText(name).isEmpty else { throw Problem(.badRequest, "the name is empty: \(Self.advice)") }
        rawValue = name
    }

    private static let advice = "use 1 to \(maximumLength) visible characters"

    private static var refusal: Problem { Problem(.badRequest, "the name is not acceptable: \(advice)") }
}

extension AccessClaims {
    /// True if a relay lets the bearer in by the token's name, or the token has none.
    public var hasAcceptableName: Bool {
        guard let name else { return true }
        return (try? ParticipantName(name)) != nil
    }
}
