/// Shapes that were made already. Few are in use at a time.
struct ShapeCache {
    private struct Key: Hashable {
        var kind: RoundedShape.Kind
        var radius: Int
    }

    private static let capacity = 64

    private var shapes: [Key: RoundedShape] = [:]

    mutating func shape(_ kind: RoundedShape.Kind, radius: Int) -> RoundedShape {
        let key = Key(kind: kind, radius: radius)
        if let known = shapes[key] { return known }
        if shapes.count == Self.capacity { shapes.removeAll() }
        let shape = RoundedShape(kind, radius: radius)
        shapes[key] = shape
        return shape
    }
}
