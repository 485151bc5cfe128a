import Synchronization

/// A frozen picture: immutable, shared by reference, never copied.
///
/// A picture is written through a `MutablePixelBuffer`, which has one owner, and becomes a `PixelBuffer` when that
/// owner freezes it; or it wraps memory that a decoder owns. When its last reference is released, the memory returns to
/// its origin: a pool, the decoder, or the heap.
///
/// A picture may lie in a device's memory (`surface`). The first access to its planes copies them, once.
public struct PixelBuffer: Sendable {
    let storage: PixelBufferStorage

    /// Wraps planes that belong to another owner, such as a decoder's frame.
    ///
    /// - Parameters:
    ///   - planes: One per plane of `format`, each at least as large as the format demands.
    ///   - release: Called once, on any thread, after the last reference was released.
    public init(
        wrapping planes: PixelBufferPlanes, format: PixelFormat, dimensions: VideoDimensions,
        attachments: PixelBufferAttachments = PixelBufferAttachments(), release: @escaping @Sendable () -> Void
    ) {
        Self.check(planes, format: format, dimensions: dimensions)
        storage = PixelBufferStorage(
            format: format, dimensions: dimensions, planes: planes, attachments: attachments, release: release)
    }

    init(storage: PixelBufferStorage) {
        self.storage = storage
    }

    /// The device's memory that holds the samples; nil of a picture in memory.
    public var surface: (any PictureSurface)? { storage.surface }

    static func check(_ planes: PixelBufferPlanes, format: PixelFormat, dimensions: VideoDimensions) {
        precondition(planes.count == format.planeCount, "a plane for each of the format's planes")
        for index in planes.indices {
            let (rowBytes, rows) = format.planeSize(index, of: dimensions)
            precondition(
                planes[index].stride >= rowBytes && planes[index].rows >= rows, "planes as large as the format asks for"
            )
        }
    }

    public var format: PixelFormat { storage.format }
    /// The picture's size in luma samples.
    public var dimensions: VideoDimensions { storage.dimensions }
    /// The properties of the picture besides its samples: colour, clean aperture, the shape of a sample.
    public var attachments: PixelBufferAttachments { storage.attachments }
    public var planeCount: Int { storage.format.planeCount }

    /// Calls `body` with the bytes of plane `index` (`rows × stride`) and its stride in bytes.
    @inlinable
    public func withPlane<Result, Failure: Error>(
        _ index: Int, _ body: (_ bytes: UnsafeRawBufferPointer, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let plane = plane(index)
        defer { extendLifetime(self) }
        return try body(
            UnsafeRawBufferPointer(start: plane.base, count: plane.stride * plane.rows), plane.stride)
    }

    @usableFromInline
    func plane(_ index: Int) -> PixelBufferPlane { storage.planes[index] }

    /// Returns true if both are the same picture in the same memory.
    public static func === (left: PixelBuffer, right: PixelBuffer) -> Bool { left.storage === right.storage }
}

/// A picture that its one owner writes, and then freezes.
public struct MutablePixelBuffer: ~Copyable, Sendable {
    let storage: PixelBufferStorage

    /// Allocates a picture on the heap. Rows are aligned to 64 bytes; contents are undefined.
    public init(format: PixelFormat, dimensions: VideoDimensions) {
        storage = PixelBufferStorage(allocating: PixelBufferBacking(format: format, dimensions: dimensions))
    }

    init(storage: PixelBufferStorage) {
        self.storage = storage
    }

    public var format: PixelFormat { storage.format }
    /// The picture's size in luma samples.
    public var dimensions: VideoDimensions { storage.dimensions }
    /// The properties of the picture besides its samples: colour, clean aperture, the shape of a sample.
    public var attachments: PixelBufferAttachments {
        get { storage.attachments }
        set { storage.attachments = newValue }
    }

    /// Calls `body` with the writable bytes of plane `index` (`rows × stride`) and its stride in bytes.
    public mutating func withMutablePlane<Result, Failure: Error>(
        _ index: Int, _ body: (_ bytes: UnsafeMutableRawBufferPointer, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(storage) }
        let plane = storage.planes[index]
        return try body(
            UnsafeMutableRawBufferPointer(start: plane.base, count: plane.stride * plane.rows), plane.stride)
    }

    /// Ends writing: the picture is immutable from here on and may be shared.
    public consuming func freeze() -> PixelBuffer { PixelBuffer(storage: storage) }
}

/// The storage that all references to a picture share.
///
/// Sendable without the compiler's check: it is written only while it has one reference, through a `MutablePixelBuffer`
/// before the picture is shared, or by a `PixelBufferWrapper` that has made sure of it. A copy of a device's memory is
/// made under a lock.
final class PixelBufferStorage: @unchecked Sendable {
    var format: PixelFormat
    var dimensions: VideoDimensions
    var attachments: PixelBufferAttachments
    private(set) var surface: (any PictureSurface)?
    private let release: @Sendable () -> Void
    /// The planes in main memory; nil while the samples lie in a device's.
    private var memory: PixelBufferPlanes?
    /// The samples of a device's memory, once somebody has looked at them.
    private let copy = Mutex<PixelBuffer?>(nil)

    init(
        format: PixelFormat, dimensions: VideoDimensions, planes: PixelBufferPlanes? = nil,
        attachments: PixelBufferAttachments = PixelBufferAttachments(), surface: (any PictureSurface)? = nil,
        release: @escaping @Sendable () -> Void
    ) {
        self.format = format
        self.dimensions = dimensions
        self.attachments = attachments
        self.surface = surface
        self.release = release
        memory = planes
    }

    var planes: PixelBufferPlanes {
        get { memory ?? copiedPlanes }
        set { memory = newValue }
    }

    /// Has it show another content of a device's memory.
    func show(_ surface: any PictureSurface) {
        self.surface = surface
        copy.withLock { $0 = nil }
    }

    private var copiedPlanes: PixelBufferPlanes {
        copy.withLock { copy in
            if let copy { return copy.planes }
            let made =
                surface?.copySamples(format: format, dimensions: dimensions)
                .flatMap { $0.format == format && $0.dimensions == dimensions ? $0 : nil }
                ?? .grey(format, dimensions)
            copy = made
            return made.planes
        }
    }

    convenience init(allocating backing: PixelBufferBacking) {
        self.init(
            format: backing.format, dimensions: backing.dimensions, planes: backing.planes,
            release: { extendLifetime(backing) })
    }

    deinit {
        release()
    }
}

extension PixelBuffer {
    /// The picture in place of samples that a device does not give.
    fileprivate static func grey(_ format: PixelFormat, _ dimensions: VideoDimensions) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: format, dimensions: dimensions)
        for plane in 0..<format.planeCount {
            picture.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices { bytes[index] = 128 }
            }
        }
        return picture.freeze()
    }
}

/// Heap memory for one picture.
final class PixelBufferBacking: Sendable {
    /// Alignment of each plane and row where none is asked for, in bytes: a cache line, and enough for every SIMD load.
    static let defaultAlignment = 64

    let format: PixelFormat
    let dimensions: VideoDimensions
    let planes: PixelBufferPlanes

    /// - Parameter alignment: A power of two.
    init(format: PixelFormat, dimensions: VideoDimensions, alignment: Int = defaultAlignment) {
        precondition(dimensions.width > 0 && dimensions.height > 0, "a picture has at least one sample")
        precondition(alignment > 0 && alignment & (alignment - 1) == 0, "an alignment is a power of two")
        self.format = format
        self.dimensions = dimensions
        planes = PixelBufferPlanes(count: format.planeCount) { index in
            let (rowBytes, rows) = format.planeSize(index, of: dimensions)
            let stride = (rowBytes + alignment - 1) / alignment * alignment
            return PixelBufferPlane(
                base: .allocate(byteCount: stride * rows, alignment: alignment), stride: stride, rows: rows)
        }
    }

    deinit {
        for plane in planes { plane.base.deallocate() }
    }
}
