import MediaCore

extension I420Region {
    enum Plane {
        case luma
        case u
        case v
    }

    /// Calls `body` for each plane with the alpha there, its position in the mask's plane, and its destination.
    func forEachPlane(
        under mask: AlphaMask, x: Int, y: Int, clip: PixelRect?, opacity: Opacity,
        _ body: (
            _ plane: Plane, _ alpha: PlaneBlender.Samples, _ offset: (x: Int, y: Int), _ target: PlaneBlender.Target
        ) -> Void
    ) {
        guard opacity != .transparent,
            let columns = VisibleSpan(at: x, length: mask.luma.width, limit: width, clip: clip.map { ($0.x, $0.maxX) }),
            let rows = VisibleSpan(at: y, length: mask.luma.height, limit: height, clip: clip.map { ($0.y, $0.maxY) })
        else { return }
        mask.luma.bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            let offset = (x: columns.range.lowerBound - x, y: rows.range.lowerBound - y)
            let alpha = PlaneBlender.Samples(
                base: base + offset.y * mask.luma.width + offset.x, stride: mask.luma.width)
            body(.luma, alpha, offset, target(.luma, columns.range, rows.range))
        }
        let chroma = mask.chroma.plane(x: x, y: y)
        chroma.bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            let offset = (x: columns.chroma.lowerBound - (x >> 1), y: rows.chroma.lowerBound - (y >> 1))
            let alpha = PlaneBlender.Samples(base: base + offset.y * chroma.width + offset.x, stride: chroma.width)
            body(.u, alpha, offset, target(.u, columns.chroma, rows.chroma))
            body(.v, alpha, offset, target(.v, columns.chroma, rows.chroma))
        }
    }

    /// Calls `body` for each plane, and for the chroma samples that a rectangle covers in part by themselves.
    func forEachPlane(
        of rect: PixelRect, clip: PixelRect?, opacity: Opacity,
        _ body: (
            _ plane: Plane, _ origin: (x: Int, y: Int), _ target: PlaneBlender.Target, _ opacity: Opacity
        ) -> Void
    ) {
        guard opacity != .transparent,
            let columns = VisibleSpan(at: rect.x, length: rect.width, limit: width, clip: clip.map { ($0.x, $0.maxX) }),
            let rows = VisibleSpan(at: rect.y, length: rect.height, limit: height, clip: clip.map { ($0.y, $0.maxY) })
        else { return }
        body(
            .luma, (columns.range.lowerBound, rows.range.lowerBound), target(.luma, columns.range, rows.range), opacity)
        VisibleSpan.Part.visitAll { rowPart in
            let (chromaRows, rowsAreHalf) = rows.chroma(rowPart)
            guard !chromaRows.isEmpty else { return }
            VisibleSpan.Part.visitAll { columnPart in
                let (chromaColumns, columnsAreHalf) = columns.chroma(columnPart)
                guard !chromaColumns.isEmpty else { return }
                var opacity = opacity
                if rowsAreHalf { opacity = opacity.halved }
                if columnsAreHalf { opacity = opacity.halved }
                let origin = (chromaColumns.lowerBound, chromaRows.lowerBound)
                body(.u, origin, target(.u, chromaColumns, chromaRows), opacity)
                body(.v, origin, target(.v, chromaColumns, chromaRows), opacity)
            }
        }
    }

    func target(_ plane: Plane, _ columns: Range<Int>, _ rows: Range<Int>) -> PlaneBlender.Target {
        let (base, stride) =
            switch plane {
            case .luma: (y, lumaStride)
            case .u: (u, chromaStrides.u)
            case .v: (v, chromaStrides.v)
            }
        return PlaneBlender.Target(
            base: base + rows.lowerBound * stride + columns.lowerBound, stride: stride, width: columns.count,
            height: rows.count)
    }

    /// This region's samples as another picture shows them at `position`, from that picture's sample `origin` of the
    /// plane on.
    func source(
        _ plane: Plane, from origin: (x: Int, y: Int), placedAt position: (x: Int, y: Int)
    ) -> PlaneBlender.Source {
        guard plane != .luma else {
            let base = y + (origin.y - position.y) * lumaStride + origin.x - position.x
            return .samples(PlaneBlender.Samples(base: base, stride: lumaStride))
        }
        let (base, stride) = plane == .u ? (u, chromaStrides.u) : (v, chromaStrides.v)
        let (column, row) = (origin.x - (position.x >> 1), origin.y - (position.y >> 1))
        guard position.x & 1 != 0 || position.y & 1 != 0 else {
            return .samples(PlaneBlender.Samples(base: base + row * stride + column, stride: stride))
        }
        return .shifted(
            ShiftedChroma(
                base: base, stride: stride, width: (width + 1) / 2, height: (height + 1) / 2,
                isShiftedLeft: position.x & 1 != 0, isShiftedUp: position.y & 1 != 0, firstColumn: column, firstRow: row
            ))
    }

    /// Returns the visible part of a layer; nil if there is none.
    func bounds(of layer: I420Region, x: Int, y: Int, _ clip: PixelRect?) -> PixelRect? {
        guard let columns = VisibleSpan(at: x, length: layer.width, limit: width, clip: clip.map { ($0.x, $0.maxX) }),
            let rows = VisibleSpan(at: y, length: layer.height, limit: height, clip: clip.map { ($0.y, $0.maxY) })
        else { return nil }
        return PixelRect(
            x: columns.range.lowerBound, y: rows.range.lowerBound, width: columns.range.count,
            height: rows.range.count)
    }
}

extension YCbCrColour {
    subscript(plane: I420Region.Plane) -> UInt8 {
        switch plane {
        case .luma: y
        case .u: u
        case .v: v
        }
    }
}
