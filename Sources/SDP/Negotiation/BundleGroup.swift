/// `a=group:BUNDLE` (RFC 8843, section 5): the media that may share one transport.
struct BundleGroup {
    /// The identification tags in the group's order; the transport of the first one is shared.
    var mids: [String]

    /// Reads the first BUNDLE group of a session description; nil if there is none.
    init?(_ description: SessionDescription) {
        for attribute in description.attributes where attribute.name == "group" {
            let words = Substring(attribute.value ?? "").words
            guard words.first == "BUNDLE", words.count > 1 else { continue }
            mids = []
            for word in words.dropFirst().prefix(SessionDescription.maximumMediaCount)
            where !mids.contains(String(word)) {
                mids.append(String(word))
            }
            return
        }
        return nil
    }

    init(mids: [String]) {
        self.mids = mids
    }

    var attribute: SDPAttribute { SDPAttribute("group", (["BUNDLE"] + mids).joined(separator: " ")) }

    func contains(_ description: MediaDescription) -> Bool {
        description.mid.map(mids.contains) ?? false
    }
}

extension SessionDescription {
    /// Checks that no two media descriptions have the same identification tag (RFC 5888, section 4).
    func checkMids() throws(SDPError) {
        var seen: Set<String> = []
        for description in media {
            guard let mid = description.mid else { continue }
            guard seen.insert(mid).inserted else {
                throw .malformed(
                    line: description.attribute("mid")?.line ?? description.line,
                    reason: "'a=mid:\(mid.excerpt)' is there twice")
            }
        }
    }
}
