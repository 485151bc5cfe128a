import CLibYUV
public import MediaCore

/// A rectangle of an I420 picture's three planes, to read or write. Valid only while the picture's planes are.
public struct I420Region {
    let y: UnsafeMutablePointer<UInt8>
    let u: UnsafeMutablePointer<UInt8>
    let v: UnsafeMutablePointer<UInt8>
    let lumaStride: Int
    let chromaStrides: (u: Int, v: Int)
    let width: Int
    let height: Int

    /// A rectangle of the region, in which it lies; its position is even.
    public func part(_ rect: PixelRect) -> I420Region {
        I420Region(
            y: y + rect.y * lumaStride + rect.x, u: u + rect.y / 2 * chromaStrides.u + rect.x / 2,
            v: v + rect.y / 2 * chromaStrides.v + rect.x / 2, lumaStride: lumaStride, chromaStrides: chromaStrides,
            width: rect.width, height: rect.height)
    }

    /// The size in luma samples.
    public var dimensions: VideoDimensions { VideoDimensions(width: width, height: height) }

    /// Makes all of it one grey.
    public func fill(luma: UInt8) {
        forEachRow { row, count, isLuma in row.update(repeating: isLuma ? luma : 128, count: count) }
    }

    /// Takes the samples of a region of the same size.
    ///
    /// Tiles begin anywhere in a row and are narrow. For such rows the C library's moves are faster than libyuv's
    /// string instructions: by a sixth for a third of 1280 samples, many times for the few samples beside a grid.
    public func copy(_ source: I420Region) {
        precondition(source.width == width && source.height == height, "a region takes one of its own size")
        Self.copyRows(from: source.y, source.lumaStride, to: y, lumaStride, width, height)
        let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
        Self.copyRows(from: source.u, source.chromaStrides.u, to: u, chromaStrides.u, chromaWidth, chromaHeight)
        Self.copyRows(from: source.v, source.chromaStrides.v, to: v, chromaStrides.v, chromaWidth, chromaHeight)
    }

    private func forEachRow(
        _ body: (_ row: UnsafeMutablePointer<UInt8>, _ count: Int, _ isLuma: Bool) -> Void
    ) {
        for row in 0..<height { body(y + row * lumaStride, width, true) }
        let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
        for row in 0..<chromaHeight {
            body(u + row * chromaStrides.u, chromaWidth, false)
            body(v + row * chromaStrides.v, chromaWidth, false)
        }
    }

    private static func copyRows(
        from source: UnsafeMutablePointer<UInt8>, _ sourceStride: Int,
        to destination: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int
    ) {
        for row in 0..<height { (destination + row * stride).update(from: source + row * sourceStride, count: width) }
    }

    /// Takes `source` scaled to this region's size: averaged when it becomes smaller, interpolated when larger.
    public func scale(_ source: I420Region) {
        let isSmaller = width <= source.width && height <= source.height
        if isSmaller, source.width * source.height > PictureView.mostAveraged * width * height {
            return average(source)
        }
        if interpolate(source) { return }
        let code = I420Scale(
            source.y, Int32(source.lumaStride), source.u, Int32(source.chromaStrides.u),
            source.v, Int32(source.chromaStrides.v), Int32(source.width), Int32(source.height),
            y, Int32(lumaStride), u, Int32(chromaStrides.u), v, Int32(chromaStrides.v), Int32(width), Int32(height),
            isSmaller ? kFilterBox : kFilterBilinear)
        // It fails if a scratch row cannot be allocated; a black tile is better than the memory's old content.
        if code != 0 { fill(luma: 16) }
    }

    /// Takes `source` if `PlaneScaling` can scale it. Returns false if not.
    private func interpolate(_ source: I420Region) -> Bool {
        func half(_ size: VideoDimensions) -> VideoDimensions {
            VideoDimensions(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        }
        guard let luma = PlaneScaling(from: source.dimensions, to: dimensions),
            let chroma = PlaneScaling(from: half(source.dimensions), to: half(dimensions))
        else { return false }
        luma.scale(source.y, source.lumaStride, to: y, lumaStride)
        chroma.scale(source.u, source.chromaStrides.u, to: u, chromaStrides.u)
        chroma.scale(source.v, source.chromaStrides.v, to: v, chromaStrides.v)
        return true
    }

    /// Takes `source`, which is much larger, each sample the mean of those in its place.
    private func average(_ source: I420Region) {
        PictureView.average(
            source.y, Int32(source.lumaStride), Int32(source.width), Int32(source.height), y, Int32(lumaStride),
            Int32(width), Int32(height))
        let (sourceWidth, sourceHeight) = (Int32(source.width + 1) / 2, Int32(source.height + 1) / 2)
        let (chromaWidth, chromaHeight) = (Int32(width + 1) / 2, Int32(height + 1) / 2)
        PictureView.average(
            source.u, Int32(source.chromaStrides.u), sourceWidth, sourceHeight, u, Int32(chromaStrides.u), chromaWidth,
            chromaHeight)
        PictureView.average(
            source.v, Int32(source.chromaStrides.v), sourceWidth, sourceHeight, v, Int32(chromaStrides.v), chromaWidth,
            chromaHeight)
    }

    /// Takes `source` turned. The region is as large as the source is once it is turned.
    public func rotate(_ source: I420Region, by rotation: VideoRotation) {
        precondition(rotation.upright(source.dimensions) == dimensions, "a region takes one of its own size")
        let mode =
            switch rotation {
            case .none: kRotate0
            case .clockwise90: kRotate90
            case .rotate180: kRotate180
            case .clockwise270: kRotate270
            }
        let code = I420Rotate(
            source.y, Int32(source.lumaStride), source.u, Int32(source.chromaStrides.u),
            source.v, Int32(source.chromaStrides.v), y, Int32(lumaStride), u, Int32(chromaStrides.u),
            v, Int32(chromaStrides.v), Int32(source.width), Int32(source.height), mode)
        if code != 0 { fill(luma: 16) }
    }

    /// Takes the samples of a bi-planar picture of the same size.
    public func convert(nv12 planes: PixelBufferPlanes) {
        NV12ToI420(
            planes[0].base.assumingMemoryBound(to: UInt8.self), Int32(planes[0].stride),
            planes[1].base.assumingMemoryBound(to: UInt8.self), Int32(planes[1].stride),
            y, Int32(lumaStride), u, Int32(chromaStrides.u), v, Int32(chromaStrides.v), Int32(width), Int32(height))
    }

    /// Takes the colours (BT.601, limited range) of a BGRA picture of the same size.
    public func convert(bgra bytes: UnsafePointer<UInt8>, stride: Int) {
        ARGBToI420(
            bytes, Int32(stride), y, Int32(lumaStride), u, Int32(chromaStrides.u), v, Int32(chromaStrides.v),
            Int32(width), Int32(height))
    }
}

extension I420Region {
    /// The rectangle's position is even and the rectangle lies within the picture that `planes` are of.
    public init(planes: PixelBufferPlanes, rect: PixelRect) {
        func start(_ index: Int, x: Int, y: Int) -> UnsafeMutablePointer<UInt8> {
            (planes[index].base + y * planes[index].stride + x).assumingMemoryBound(to: UInt8.self)
        }
        self.init(
            y: start(0, x: rect.x, y: rect.y), u: start(1, x: rect.x / 2, y: rect.y / 2),
            v: start(2, x: rect.x / 2, y: rect.y / 2), lumaStride: planes[0].stride,
            chromaStrides: (planes[1].stride, planes[2].stride), width: rect.width, height: rect.height)
    }

    /// The whole picture.
    public init(planes: PixelBufferPlanes, dimensions: VideoDimensions) {
        self.init(planes: planes, rect: PixelRect(x: 0, y: 0, width: dimensions.width, height: dimensions.height))
    }
}
