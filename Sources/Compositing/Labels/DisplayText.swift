/// A name in a form that is safe to draw: one line of limited length, without invisible or disturbing characters.
///
/// Names come from anybody. Control characters, direction marks and overrides (UAX #9), other invisible characters, and
/// private or unassigned characters are removed. Any white space becomes one space. A character keeps a few combining
/// marks, enough for any language; joiners stand alone. The rest is cut to the maximum length. Direction comes from the
/// letters alone.
package struct DisplayText: Hashable, Sendable {
    /// The shown length of a text.
    package enum Length: Hashable, Sendable {
        /// The length that a name needs.
        case name
        /// The length that fits on a line across a canvas.
        case line

        var characterCount: Int {
            switch self {
            case .name: 64
            case .line: 256
            }
        }

        /// A character may consist of many code points, as emoji do that are joined.
        var scalarCount: Int { 3 * characterCount }
        /// The number of code points of a text that are examined.
        fileprivate var examinedScalarCount: Int { 16 * characterCount }
    }

    let string: String

    static let maximumMarkCount = 4

    package init(_ text: String, length: Length = .name) {
        var cleaner = Cleaner()
        var scalarCount = 0
        for scalar in text.unicodeScalars.prefix(length.examinedScalarCount) {
            guard scalarCount < length.scalarCount else { break }
            scalarCount += cleaner.take(scalar)
        }
        var kept = Substring(String(cleaner.result)).prefix(length.characterCount).unicodeScalars
        while let last = kept.last, last == " " || Role(last) == .joiner { kept.removeLast() }
        string = String(kept)
    }

    package var isEmpty: Bool { string.isEmpty }

    private struct Cleaner {
        var result = String.UnicodeScalarView()
        private var marksInRow = 0
        private var endsInJoiner = false
        private var owesSpace = false

        /// Returns how many code points were added.
        mutating func take(_ scalar: Unicode.Scalar) -> Int {
            switch Role(scalar) {
            case .nothing:
                return 0
            case .space:
                owesSpace = !result.isEmpty
                return 0
            case .mark:
                guard !result.isEmpty, !owesSpace, marksInRow < DisplayText.maximumMarkCount else { return 0 }
                result.append(scalar)
                marksInRow += 1
                endsInJoiner = false
                return 1
            case .joiner:
                guard !result.isEmpty, !owesSpace, !endsInJoiner else { return 0 }
                result.append(scalar)
                endsInJoiner = true
                return 1
            case .base:
                let count = owesSpace ? 2 : 1
                if owesSpace { result.append(" ") }
                result.append(scalar)
                (marksInRow, endsInJoiner, owesSpace) = (0, false, false)
                return count
            }
        }
    }

    /// The purpose of a code point.
    private enum Role {
        case base
        case mark
        /// The zero-width joiner and non-joiner, which Arabic, Indic scripts and emoji need.
        case joiner
        case space
        case nothing

        init(_ scalar: Unicode.Scalar) {
            let properties = scalar.properties
            self =
                switch properties.generalCategory {
                case _ where scalar.value == 0x200C || scalar.value == 0x200D: .joiner
                case _ where properties.isWhitespace: .space
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                    .nothing
                case _ where properties.isVariationSelector: .mark
                case _ where properties.isDefaultIgnorableCodePoint: .nothing
                case .nonspacingMark, .enclosingMark, .spacingMark: .mark
                default: .base
                }
        }
    }
}

extension DisplayText {
    /// The first character, in upper case; "?" if there is none.
    var initial: String {
        // Upper case may be longer, and characters that are joined may be without end.
        let first = string.first.map { String($0).uppercased().unicodeScalars.prefix(Self.maximumInitialScalarCount) }
        return first.map { String(String.UnicodeScalarView($0)) } ?? "?"
    }

    private static let maximumInitialScalarCount = 16
}
