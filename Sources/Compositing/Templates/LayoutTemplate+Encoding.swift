extension LayoutTemplate: Encodable {
    /// Writes the template in the form that decoding reads.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyCodingKey.self)
        if !name.isEmpty { try container.encode(name, forKey: "name") }
        switch background {
        case .standard: break
        case .colour(let colour): try container.encode(colour.text, forKey: "background")
        case .image(let name): try container.encode(["image": name], forKey: "background")
        }
        if arrangements.count == 1, let only = arrangements.first, only.participants == .any, only.screens == .any {
            try container.encode(only.slots, forKey: "slots")
        } else {
            try container.encode(arrangements, forKey: "arrangements")
        }
        if !overlays.isEmpty { try container.encode(overlays, forKey: "overlays") }
    }
}

extension LayoutTemplate.Arrangement: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyCodingKey.self)
        if participants != .any { try container.encode(participants.text, forKey: "participants") }
        if screens != .any { try container.encode(screens.text, forKey: "screens") }
        try container.encode(slots, forKey: "slots")
    }
}

extension LayoutTemplate.Slot: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyCodingKey.self)
        try container.encode(name, forKey: "name")
        try container.encode(area.x, forKey: "x")
        try container.encode(area.y, forKey: "y")
        try container.encode(area.width, forKey: "width")
        try container.encode(area.height, forKey: "height")
        try container.encode(show.map(\.text), forKey: "show")
        if tiling != .single {
            try container.encode(tiling, forKey: "tiles")
            try container.encode(mostTiles, forKey: "most")
            if gap != 0 { try container.encode(gap, forKey: "gap") }
        }
        try container.encodeIfPresent(fit, forKey: "fit")
        if focus != .centre { try container.encode(["x": focus.x, "y": focus.y], forKey: "focus") }
        if cornerRadius != 0 { try container.encode(cornerRadius, forKey: "cornerRadius") }
        if let border {
            var nested = container.nestedContainer(keyedBy: AnyCodingKey.self, forKey: "border")
            try nested.encode(border.width, forKey: "width")
            try nested.encode(border.colour.text, forKey: "colour")
        }
        if opacity != 1 { try container.encode(opacity, forKey: "opacity") }
        if zOrder != 0 { try container.encode(zOrder, forKey: "z") }
        if !isLabelled { try container.encode(false, forKey: "label") }
        if case .enlarge(let name) = whenEmpty { try container.encode(["enlarge": name], forKey: "whenEmpty") }
    }
}

extension LayoutTemplate.Overlay: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyCodingKey.self)
        switch content {
        case .text(let text): try container.encode(text, forKey: "text")
        case .image(let name): try container.encode(name, forKey: "image")
        case .clock(let utcOffset): try container.encode(Self.text(utcOffset: utcOffset), forKey: "clock")
        }
        try container.encode(anchor, forKey: "anchor")
        try container.encode(height, forKey: "height")
        if opacity != 1 { try container.encode(opacity, forKey: "opacity") }
    }
}

extension AnyCodingKey: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self.init(stringValue: value) }
}
