/// One plane's memory: `rows` rows, `stride` bytes apart.
///
/// Sendable without the compiler's check, since the memory is written only before the buffer that holds it is shared.
public struct PixelBufferPlane: @unchecked Sendable {
    public var base: UnsafeMutableRawPointer
    public var stride: Int
    public var rows: Int

    public init(base: UnsafeMutableRawPointer, stride: Int, rows: Int) {
        self.base = base
        self.stride = stride
        self.rows = rows
    }
}

/// The planes of a picture, three at most; a collection that needs no memory of its own.
public struct PixelBufferPlanes: Sendable, RandomAccessCollection, ExpressibleByArrayLiteral {
    private var storage: (PixelBufferPlane?, PixelBufferPlane?, PixelBufferPlane?)

    public init(_ first: PixelBufferPlane, _ second: PixelBufferPlane? = nil, _ third: PixelBufferPlane? = nil) {
        precondition(second != nil || third == nil, "planes are filled in order")
        storage = (first, second, third)
    }

    public init(arrayLiteral planes: PixelBufferPlane...) {
        precondition((1...3).contains(planes.count), "a picture has one to three planes")
        self.init(planes[0], planes.count > 1 ? planes[1] : nil, planes.count > 2 ? planes[2] : nil)
    }

    /// Makes `count` planes, one to three.
    init(count: Int, _ make: (_ index: Int) -> PixelBufferPlane) {
        self.init(make(0), count > 1 ? make(1) : nil, count > 2 ? make(2) : nil)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { storage.2 != nil ? 3 : storage.1 != nil ? 2 : 1 }

    public subscript(index: Int) -> PixelBufferPlane {
        let plane =
            switch index {
            case 0: storage.0
            case 1: storage.1
            case 2: storage.2
            default: PixelBufferPlane?.none
            }
        guard let plane else { preconditionFailure("the picture has no plane \(index)") }
        return plane
    }
}
