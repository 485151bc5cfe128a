/// Wraps one picture after another of memory that belongs to another owner, without an allocation for each.
///
/// The storage of its pictures is reused when the last one was released. A decoder keeps a few of these, each with the
/// frame whose memory it wraps.
public struct PixelBufferWrapper: Sendable {
    private var storage: PixelBufferStorage?
    private let release: @Sendable () -> Void

    /// Creates a wrapper.
    ///
    /// - Parameter release: Called once, on any thread, when neither the wrapper nor a picture of it is held any more.
    public init(release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    /// True if the last picture has no references: its memory may be taken back, and another be wrapped.
    public var isFree: Bool {
        mutating get { storage == nil || isKnownUniquelyReferenced(&storage) }
    }

    /// Wraps planes as a picture; nil while someone holds the last one.
    ///
    /// - Parameter planes: One per plane of `format`, each at least as large as the format asks for.
    public mutating func wrap(
        _ planes: PixelBufferPlanes, format: PixelFormat, dimensions: VideoDimensions,
        attachments: PixelBufferAttachments = PixelBufferAttachments()
    ) -> PixelBuffer? {
        guard isFree else { return nil }
        guard let storage else {
            let buffer = PixelBuffer(
                wrapping: planes, format: format, dimensions: dimensions, attachments: attachments, release: release)
            storage = buffer.storage
            return buffer
        }
        PixelBuffer.check(planes, format: format, dimensions: dimensions)
        storage.format = format
        storage.dimensions = dimensions
        storage.planes = planes
        storage.attachments = attachments
        return PixelBuffer(storage: storage)
    }

    /// Shows a device's memory as a picture; nil while someone holds the last one. The wrapper is for such memory
    /// alone.
    public mutating func wrap(
        _ surface: any PictureSurface, format: PixelFormat, dimensions: VideoDimensions,
        attachments: PixelBufferAttachments = PixelBufferAttachments()
    ) -> PixelBuffer? {
        guard isFree else { return nil }
        guard let storage else {
            let made = PixelBufferStorage(
                format: format, dimensions: dimensions, attachments: attachments, surface: surface, release: release)
            storage = made
            return PixelBuffer(storage: made)
        }
        storage.format = format
        storage.dimensions = dimensions
        storage.attachments = attachments
        storage.show(surface)
        return PixelBuffer(storage: storage)
    }
}
