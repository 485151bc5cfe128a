extension LayoutTemplate: Decodable {
    /// Reads a template, strictly.
    ///
    /// - Throws: A `LayoutTemplateError` that lists all mistakes, with paths that begin with the decoder's own.
    public init(from decoder: any Decoder) throws {
        let path = decoder.codingPath.jsonPath
        var reader = TemplateReader()
        let template = reader.template(try TemplateValue(from: decoder), at: path)
        if let error = LayoutTemplateError(reader.issues) { throw error }
        guard let template else { throw LayoutTemplateError(path: path, reason: "give an object") }
        self = template
    }
}

extension TemplateReader {
    fileprivate mutating func template(_ value: TemplateValue, at path: String) -> LayoutTemplate? {
        let keys = ["name", "background", "slots", "arrangements", "overlays"]
        guard let fields = object(value, at: path, keys: keys) else { return nil }
        var template = LayoutTemplate(arrangements: [])
        template.name = name(fields, "name") ?? ""
        if let value = fields.values["background"], let background = background(value, at: fields.path("background")) {
            template.background = background
        }
        template.arrangements = arrangements(fields)
        if let value = fields.values["overlays"] { template.overlays = overlays(value, at: fields.path("overlays")) }
        return template
    }

    mutating func name(_ fields: Fields, _ key: String) -> String? {
        text(fields, key, allowed: "a name of 1 to \(LayoutTemplate.maximumNameLength) characters") {
            !DisplayText($0).isEmpty && $0.unicodeScalars.count <= LayoutTemplate.maximumNameLength ? $0 : nil
        }
    }

    private mutating func background(_ value: TemplateValue, at path: String) -> LayoutTemplate.Background? {
        if case .object = value {
            guard let fields = object(value, at: path, keys: ["image"]) else { return nil }
            guard fields.values["image"] != nil else {
                record(path, "this names no image; give {\"image\": NAME} or a colour such as \"#202830\"")
                return nil
            }
            return name(fields, "image").map { .image($0) }
        }
        return text(value, at: path, allowed: "a colour such as \"#202830\" or {\"image\": NAME}") {
            LayoutTemplate.RGBColour($0).map { .colour($0) }
        }
    }

    private mutating func arrangements(_ fields: Fields) -> [LayoutTemplate.Arrangement] {
        switch (fields.values["slots"], fields.values["arrangements"]) {
        case (nil, nil):
            record(fields.path("slots"), "this is missing; give a list of slots, or \"arrangements\" that have them")
            return []
        case (.some, .some):
            record(fields.path("slots"), "there are \"arrangements\" as well, which have slots; give one of the two")
            return []
        case (.some, nil):
            return [LayoutTemplate.Arrangement(slots: slots(fields))]
        case (nil, .some):
            let values = list(fields, "arrangements", most: LayoutTemplate.maximumArrangementCount)
            if values?.isEmpty == true { record(fields.path("arrangements"), "the list is empty; give at least one") }
            return (values ?? []).enumerated().compactMap { index, value in
                arrangement(value, at: fields.path("arrangements[\(index)]"))
            }
        }
    }

    private mutating func arrangement(_ value: TemplateValue, at path: String) -> LayoutTemplate.Arrangement? {
        guard let fields = object(value, at: path, keys: ["participants", "screens", "slots"]) else { return nil }
        func range(_ key: String, _ reader: inout TemplateReader) -> LayoutTemplate.CountRange {
            reader.text(fields, key, allowed: LayoutTemplate.CountRange.allowed) { LayoutTemplate.CountRange($0) }
                ?? .any
        }
        if fields.values["slots"] == nil { record(fields.path("slots"), "this is missing; give a list of slots") }
        return LayoutTemplate.Arrangement(
            participants: range("participants", &self), screens: range("screens", &self), slots: slots(fields))
    }

    private mutating func slots(_ fields: Fields) -> [LayoutTemplate.Slot] {
        guard let values = list(fields, "slots", most: LayoutTemplate.maximumSlotCount) else { return [] }
        if values.isEmpty { record(fields.path("slots"), "the list is empty; give at least one slot") }
        let slots = values.enumerated().map { index, value in
            slot(value, at: fields.path("slots[\(index)]"), number: index + 1)
        }
        var indices: [String: Int] = [:]
        for (index, slot) in slots.enumerated() {
            guard let slot else { continue }
            guard let other = indices.updateValue(index, forKey: slot.name) else { continue }
            record(fields.path("slots[\(index)].name"), "slots[\(other)] has the same name; give each one of its own")
        }
        for (index, slot) in slots.enumerated() {
            guard case .enlarge(let name)? = slot?.whenEmpty else { continue }
            let path = fields.path("slots[\(index)].whenEmpty.enlarge")
            if indices[name] == nil {
                record(
                    path, "there is no slot of this name; use one of \(indices.keys.sorted().joined(separator: ", "))")
            } else if name == slot?.name {
                record(path, "this is the slot itself; name another")
            }
        }
        return slots.compactMap(\.self)
    }

    mutating func overlays(_ value: TemplateValue, at path: String) -> [LayoutTemplate.Overlay] {
        (list(value, at: path, most: OverlayRenderer.maximumCount) ?? []).enumerated().compactMap { index, value in
            overlay(value, at: "\(path)[\(index)]")
        }
    }

    private mutating func overlay(_ value: TemplateValue, at path: String) -> LayoutTemplate.Overlay? {
        let contents = ["text", "image", "clock"]
        guard let fields = object(value, at: path, keys: contents + ["anchor", "height", "opacity"]) else { return nil }
        let anchor: CompositionOverlay.Anchor? = choice(fields, "anchor")
        let height = number(fields, "height", in: 0.01...1, default: 0.06)
        let opacity = number(fields, "opacity", in: 0...1, default: 1)
        guard contents.count(where: { fields.values[$0] != nil }) == 1 else {
            record(path, "give one of \"text\", \"image\" and \"clock\"")
            return nil
        }
        let limit = LayoutTemplate.maximumTextLength
        let content: LayoutTemplate.Overlay.Content? =
            if fields.values["image"] != nil {
                name(fields, "image").map { .image($0) }
            } else if fields.values["clock"] != nil {
                text(fields, "clock", allowed: LayoutTemplate.Overlay.clockFormat) {
                    LayoutTemplate.Overlay.utcOffset($0).map { .clock(utcOffset: $0) }
                }
            } else {
                text(fields, "text", allowed: "a line of 1 to \(limit) characters") {
                    !DisplayText($0).isEmpty && $0.unicodeScalars.count <= limit ? .text($0) : nil
                }
            }
        return content.map { .init($0, anchor: anchor ?? .topRight, height: height, opacity: opacity) }
    }
}
