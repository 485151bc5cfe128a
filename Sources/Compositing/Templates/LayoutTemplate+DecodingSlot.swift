extension TemplateReader {
    private static let slotKeys = [
        "name", "x", "y", "width", "height", "show", "tiles", "most", "gap", "fit", "focus", "cornerRadius", "border",
        "opacity", "z", "label", "whenEmpty",
    ]

    /// Returns nil if the value is no slot at all.
    mutating func slot(_ value: TemplateValue, at path: String, number: Int) -> LayoutTemplate.Slot? {
        guard let fields = object(value, at: path, keys: Self.slotKeys) else { return nil }
        let name = name(fields, "name") ?? "slot \(number)"
        var slot = LayoutTemplate.Slot(name: name, area: area(fields), show: rules(fields))
        let tiling: LayoutTemplate.Tiling? = choice(fields, "tiles")
        slot.tiling = tiling ?? .single
        slot.mostTiles = integer(fields, "most", in: 1...49, default: slot.mostTiles)
        slot.gap = self.number(fields, "gap", in: 0...0.2, default: 0)
        if fields.values["tiles"] == nil || tiling == .single {
            for key in ["most", "gap"] where fields.values[key] != nil {
                record(
                    fields.path(key), "a slot of one tile has no use for it; give \"tiles\" as well, or leave it out")
            }
        }
        slot.fit = choice(fields, "fit")
        slot.focus = focus(fields)
        slot.cornerRadius = self.number(fields, "cornerRadius", in: 0...0.5, default: 0)
        slot.border = border(fields)
        slot.opacity = self.number(fields, "opacity", in: 0...1, default: 1)
        slot.zOrder = integer(fields, "z", in: -100...100, default: 0)
        slot.isLabelled = flag(fields, "label") ?? true
        slot.whenEmpty = emptySlot(fields)
        return slot
    }

    private mutating func area(_ fields: Fields) -> LayoutTemplate.Area {
        let count = issues.count
        var area = LayoutTemplate.Area.fullscreen
        area.x = number(fields, "x", in: 0...0.99, default: 0)
        area.y = number(fields, "y", in: 0...0.99, default: 0)
        // A missing size extends to the canvas's edge.
        area.width = number(fields, "width", in: 0.01...1, default: 1 - area.x)
        area.height = number(fields, "height", in: 0.01...1, default: 1 - area.y)
        guard issues.count == count else { return area }
        // 0.7 and 0.3 are a little more than 1, as numbers go.
        let tolerance = 1e-6
        if area.x + area.width > 1 + tolerance {
            record(fields.path("width"), "the slot goes beyond the canvas; x and width may be 1 together at most")
        }
        if area.y + area.height > 1 + tolerance {
            record(fields.path("height"), "the slot goes beyond the canvas; y and height may be 1 together at most")
        }
        return area
    }

    private mutating func rules(_ fields: Fields) -> [LayoutTemplate.Rule] {
        guard fields.values["show"] != nil else {
            record(fields.path("show"), "this is missing; give a list of \(LayoutTemplate.Rule.allowed)")
            return []
        }
        let values = list(fields, "show", most: 16)
        if values?.isEmpty == true {
            record(fields.path("show"), "the list is empty; give some of \(LayoutTemplate.Rule.allowed)")
        }
        return (values ?? []).enumerated().compactMap { index, value in
            text(value, at: fields.path("show[\(index)]"), allowed: LayoutTemplate.Rule.allowed) {
                LayoutTemplate.Rule($0)
            }
        }
    }

    private mutating func focus(_ fields: Fields) -> FocusPoint {
        guard let value = fields.values["focus"],
            let focus = object(value, at: fields.path("focus"), keys: ["x", "y"])
        else { return .centre }
        return FocusPoint(
            x: number(focus, "x", in: 0...1, default: 0.5), y: number(focus, "y", in: 0...1, default: 0.5))
    }

    private mutating func border(_ fields: Fields) -> LayoutTemplate.Border? {
        guard let value = fields.values["border"],
            let border = object(value, at: fields.path("border"), keys: ["width", "colour"])
        else { return nil }
        let colour = text(border, "colour", allowed: "a colour such as \"#ffffff\"") { LayoutTemplate.RGBColour($0) }
        return LayoutTemplate.Border(
            width: number(border, "width", in: 0.001...0.1, default: 0.006),
            colour: colour ?? LayoutTemplate.RGBColour(red: 255, green: 255, blue: 255))
    }

    private mutating func emptySlot(_ fields: Fields) -> LayoutTemplate.EmptySlot {
        guard let value = fields.values["whenEmpty"] else { return .background }
        let path = fields.path("whenEmpty")
        let allowed = "\"background\" or {\"enlarge\": NAME}, the name of another slot"
        guard case .object = value else {
            return text(value, at: path, allowed: allowed) { $0 == "background" ? .background : nil } ?? .background
        }
        guard let empty = object(value, at: path, keys: ["enlarge"]) else { return .background }
        guard empty.values["enlarge"] != nil else {
            record(path, "this names no slot; give \(allowed)")
            return .background
        }
        return text(empty, "enlarge", allowed: "the name of another slot") { .enlarge($0) } ?? .background
    }
}
