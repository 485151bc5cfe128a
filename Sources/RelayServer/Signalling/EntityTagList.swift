/// The value of `If-Match` and `If-None-Match`: `*`, or a list of entity tags (RFC 9110, sections 13.1.1 and 13.1.2).
enum EntityTagList: Equatable {
    /// Any state of the resource is accepted.
    case any
    /// Tags in their quotes, weak ones with `W/` in front.
    case tags([String])

    /// A number of tags that no client exceeds. Each is looked up.
    private static let maximumTags = 16

    /// Reads a field's value; nil if the field is missing. A value that is no tag matches none, nor does one too many.
    init?(_ field: String?) {
        guard let field else { return nil }
        let elements = field.split(separator: ",").prefix(Self.maximumTags).map { element in
            element.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
        }
        .map { String($0) }
        self = elements == ["*"] ? .any : .tags(elements)
    }

    /// Compares weakly, for `If-None-Match`.
    func weaklyContains(_ tag: String) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { Self.opaque($0) == Self.opaque(tag) }
        }
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : Substring(tag)
    }
}
