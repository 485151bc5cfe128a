extension [any CodingKey] {
    /// A place in a JSON document, such as `template.slots[2].width`; empty for the whole document.
    public var jsonPath: String {
        reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}
