import CLibAVCodec
import MediaCore

/// The frames that a decoder uses again and again while pictures are read, so that a picture costs no allocation.
struct FrameFreeList {
    private struct Place {
        let frame: LibAVFrame
        var wrapper: PixelBufferWrapper
        /// Of memory that stays on a device, which outlives the frame.
        var surfaceWrapper = PixelBufferWrapper(release: {})
        var isTaken = false

        /// True if nobody holds a picture of the frame.
        var isFree: Bool {
            mutating get { wrapper.isFree && surfaceWrapper.isFree }
        }

        init?() {
            guard let frame = LibAVFrame() else { return nil }
            self.frame = frame
            wrapper = PixelBufferWrapper(release: { extendLifetime(frame) })
        }
    }

    private var places: [Place] = []
    private var next = 0

    /// The limit of frames, more than any sensible use holds. Beyond it new frames are allocated.
    private static let maximumCount = 32

    /// Gives the memory of pictures that nobody holds any more back to libavcodec.
    mutating func reclaim() {
        for index in places.indices where places[index].isTaken && places[index].isFree {
            places[index].frame.clear()
            places[index].isTaken = false
        }
    }

    /// Takes the next frame out of a decoder and hands it to `body`, with its picture unless it is not 8-bit 4:2:0.
    ///
    /// - Parameter surface: The memory of a frame that stays on a device; nil for frames that are read at once.
    /// - Returns: True if there was a frame.
    mutating func receive(
        from context: UnsafeMutablePointer<AVCodecContext>, attachments: PixelBufferAttachments,
        surface: (LibAVFrame) -> (any PictureSurface)?, _ body: (_ frame: LibAVFrame, _ picture: PixelBuffer?) -> Void
    ) -> Bool {
        guard let index = freePlace() else { return false }
        let frame = places[index].frame
        guard frame.receive(from: context) else { return false }
        places[index].isTaken = true
        if let surface = surface(frame),
            let picture = places[index].surfaceWrapper.wrap(
                surface, format: .nv12, dimensions: frame.dimensions, attachments: attachments)
        {
            body(frame, picture)
            return true
        }
        let picture = frame.readPlanes().flatMap { format, planes in
            places[index].wrapper.wrap(
                planes, format: format, dimensions: frame.dimensions, attachments: attachments)
        }
        body(frame, picture)
        return true
    }

    /// Pictures that stay on a device, and that somebody holds.
    var surfacesInUse: Int {
        mutating get { places.indices.count { !places[$0].surfaceWrapper.isFree } }
    }

    /// A place that nobody looks at; nil when there is no memory.
    private mutating func freePlace() -> Int? {
        for index in places.indices where !places[index].isTaken { return index }
        guard let place = Place() else { return nil }
        guard places.count == Self.maximumCount else {
            places.append(place)
            return places.count - 1
        }
        // The frame at this place stays alive with its picture.
        next = (next + 1) % Self.maximumCount
        places[next] = place
        return next
    }
}
