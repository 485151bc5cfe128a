package import MediaCore
import PixelTransfer

extension LayerCompositor {
    /// Renders a picture on a device: it scales pictures and blends them. Names, borders and overlays are drawn here,
    /// on sheets that the device is given again only when they change; where it does not blend, onto the canvas that it
    /// gives back. Pictures that it cannot show as they are (turned, dimmed, of another colour, too small) are drawn
    /// here in the size of their tile; so are tiles with round corners above others, onto the canvas.
    ///
    /// - Returns: Nil where the device failed.
    package func render(
        _ request: VideoCompositionRequest, on device: any CompositingDevice
    ) throws(VideoCompositingError) -> PixelBuffer? {
        guard !request.isCancelled else { throw .cancelled }
        begin(request)
        defer {
            drawings.removeAll(keepingCapacity: true)
            deviceWork.end()
        }
        plan(request)
        let overlays = self.overlays.overlays(
            request.instruction.overlays, canvas: request.canvas, wallClock: request.wallClock)
        if !self.overlays.isComplete { request.markIncomplete() }
        let abilities = device.abilities
        for index in drawings.indices { addLayers(of: index, canvas: request.canvas, abilities) }
        let leavesOverlays = !abilities.blendsGraphics || !deviceWork.rest.isEmpty
        addSheet(leavesOverlays ? [] : overlays, canvas: request.canvas, abilities)
        addBackdrop(request)
        if device.keepsCanvases, deviceWork.rest.isEmpty, !leavesOverlays || overlays.isEmpty {
            return device.compose(
                &deviceWork.layers, tick: request.tick, canvas: request.canvas,
                attachments: PixelBufferAttachments(colour: CompositionRenderer.canvasColour))
        }
        let layersOnCanvas = device.compose(&deviceWork.layers, tick: request.tick, into: request.makeDestination())
        guard var canvas = layersOnCanvas else { return nil }
        if leavesOverlays { canvas.withI420Region { finish(overlays, on: $0) } }
        return canvas.freeze()
    }

    // MARK: Layers

    private func addLayers(of index: Int, canvas: VideoDimensions, _ abilities: CompositingAbilities) {
        let drawing = drawings[index]
        guard !drawing.isHidden else {
            counts.hiddenLayers += 1
            return
        }
        guard drawing.isComposed(by: abilities), !deviceWork.leavesAny(of: drawing.rect) else {
            return deviceWork.leave(index, area: drawing.rect)
        }
        if deviceWork.sheetCovers(drawing.rect) { addSheet([], canvas: canvas, abilities) }
        let decoration = LayerDecoration(drawing, in: PixelRect(canvas))
        if let layer = layer(of: drawing, abilities),
            drawing.isOpaque || (decoration.isEmpty && layer.place == drawing.rect)
        {
            addBars(beside: layer.place, of: index)
            deviceWork.layers.append(layer)
            guard !decoration.isEmpty else { return }
            let area = area(of: decoration, canvas: canvas)
            if abilities.blendsGraphics {
                deviceWork.addToSheet(decoration, area: area)
            } else {
                deviceWork.leave(index, isDecoration: true, area: area)
            }
        } else {
            let tile = preparedTile(drawing)
            deviceWork.layers.append(
                PictureLayer(
                    tile, crop: PixelRect(tile.dimensions), place: drawing.rect, opacity: drawing.opacity))
        }
    }

    /// The layer of a picture that the device can show as it is.
    private func layer(of drawing: LayerDrawing, _ abilities: CompositingAbilities) -> PictureLayer? {
        guard case .picture(let picture, let rotation, false) = drawing.appearance.content,
            abilities.rotations.contains(rotation), abilities.take(picture.dimensions),
            ColourConversion(from: picture.attachments.colour, to: CompositionRenderer.canvasColour) == nil
        else { return nil }
        let placement = LayerPlacement(
            picture.dimensions, samples: picture.attachments.pixelAspectRatio.shownSampleShape, rotation: rotation,
            fit: drawing.key.fit, rect: drawing.frame, visible: drawing.rect)
        var crop = placement.crop
        (crop.width, crop.height) = (crop.width & ~1, crop.height & ~1)
        guard abilities.take(crop.dimensions), abilities.take(placement.shown.dimensions) else { return nil }
        return PictureLayer(
            picture, crop: crop, rotation: rotation, place: placement.shown, opacity: drawing.opacity)
    }

    /// Makes the rest of a layer black: with the backdrop where it is next below.
    private func addBars(beside place: PixelRect, of index: Int) {
        let rect = drawings[index].rect
        guard place != rect else { return }
        if drawings[..<index].contains(where: { !$0.isHidden && $0.rect.overlaps(rect) }) {
            let black = deviceWork.blackPicture ?? Self.makeBlackPicture()
            deviceWork.blackPicture = black
            deviceWork.layers.append(PictureLayer(black, crop: PixelRect(black.dimensions), place: rect))
        } else {
            rect.forEachPart(outside: place) { deviceWork.bars.append($0) }
        }
    }

    private static func makeBlackPicture() -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 64, height: 64))
        picture.withI420Region { $0.fill(luma: barLuma) }
        return picture.freeze()
    }

    private func preparedTile(_ drawing: LayerDrawing) -> PixelBuffer {
        let content = PreparedTile(drawing)
        if let known = deviceWork.tiles.picture(of: content) { return known }
        var tile = deviceWork.pictureMemory.makePicture(drawing.rect.dimensions)
        tile.withI420Region { draw(drawing, into: $0) }
        let picture = tile.freeze()
        deviceWork.tiles.keep(picture, of: content)
        return picture
    }

    private func area(of decoration: LayerDecoration, canvas: VideoDimensions) -> PixelRect {
        guard let label = decoration.label, !decoration.isSpeaking, decoration.border == nil,
            decoration.cornerColour == nil
        else { return decoration.rect }
        let place = decorator.place(of: label, at: decoration.frame, cornerRadius: decoration.cornerRadius)
        return place.intersection(PixelRect(canvas))
    }

    // MARK: Drawn by the processor

    /// Puts the decorations and overlays above the layers so far onto a sheet of their own.
    private func addSheet(_ overlays: [PlacedOverlay], canvas: VideoDimensions, _ abilities: CompositingAbilities) {
        let place = deviceWork.sheetPlace(overlays, canvas: canvas, side: abilities.leastSide)
        guard !place.isEmpty else { return }
        let picture = sheet(at: place, overlays)
        deviceWork.layers.append(PictureLayer(picture, crop: PixelRect(picture.dimensions), place: place))
        deviceWork.clearSheet()
    }

    private func sheet(at place: PixelRect, _ overlays: [PlacedOverlay]) -> PixelBuffer {
        let content = SheetContent(place: place, decorations: deviceWork.sheet, overlays: overlays)
        return deviceWork.sheets.picture(of: content) ?? drawSheet(content)
    }

    private func drawSheet(_ content: SheetContent) -> PixelBuffer {
        let size = content.place.dimensions
        let (black, white) = (page(&deviceWork.black, for: size), page(&deviceWork.white, for: size))
        var sheet = deviceWork.graphicsMemory.makePicture(size)
        black.picture.withI420Region { black in
            white.picture.withI420Region { white in
                let (dark, light) = (black.part(PixelRect(size)), white.part(PixelRect(size)))
                draw(content, on: dark, .black)
                draw(content, on: light, .white)
                sheet.takeGraphics(onBlack: dark, onWhite: light)
            }
        }
        let picture = sheet.freeze()
        deviceWork.sheets.keep(picture, of: content)
        return picture
    }

    private func draw(_ content: SheetContent, on sheet: I420Region, _ ground: YCbCrColour) {
        sheet.fill(PixelRect(sheet.dimensions), with: ground)
        for decoration in content.decorations { decorate(decoration.seen(from: content.place), on: sheet) }
        for overlay in content.overlays {
            sheet.blend(
                overlay.bitmap, x: overlay.x - content.place.x, y: overlay.y - content.place.y,
                opacity: overlay.opacity)
        }
    }

    /// A page of at least this size: the given one, or a new one in its place.
    func page(_ page: inout ScratchPage?, for size: VideoDimensions) -> ScratchPage {
        if let page, page.dimensions.width >= size.width, page.dimensions.height >= size.height { return page }
        let fresh = ScratchPage(
            VideoDimensions(
                width: max(page?.dimensions.width ?? 0, size.width),
                height: max(page?.dimensions.height ?? 0, size.height)))
        counts.pictureAllocations += 1
        page = fresh
        return fresh
    }

    /// Puts the background below all layers, unless the lowest covers it.
    private func addBackdrop(_ request: VideoCompositionRequest) {
        if let first = deviceWork.layers.first, first.place == PixelRect(request.canvas), first.opacity == .opaque,
            first.picture.format != .bgra
        {
            return
        }
        let content = Backdrop(
            dimensions: request.canvas, background: request.instruction.background ?? .standard, bars: deviceWork.bars)
        let picture = deviceWork.backdrops.picture(of: content) ?? drawBackdrop(content)
        let whole = PixelRect(request.canvas)
        deviceWork.layers.insert(PictureLayer(picture, crop: whole, place: whole), at: 0)
    }

    private func drawBackdrop(_ content: Backdrop) -> PixelBuffer {
        var backdrop = deviceWork.pictureMemory.makePicture(content.dimensions)
        backdrop.withI420Region { canvas in
            switch content.background {
            case .colour(let colour): canvas.fill(PixelRect(content.dimensions), with: colour)
            case .image(let image):
                backgrounds.picture(image, size: content.dimensions).withPlanes { planes in
                    canvas.copy(I420Region(planes: planes, dimensions: content.dimensions))
                }
            }
            for bar in content.bars { canvas.part(bar).fill(luma: Self.barLuma) }
        }
        let picture = backdrop.freeze()
        deviceWork.backdrops.keep(picture, of: content)
        return picture
    }

    /// Draws what the device left onto its canvas.
    private func finish(_ overlays: [PlacedOverlay], on canvas: I420Region) {
        tiles.beginCanvas()
        for part in deviceWork.rest {
            let drawing = drawings[part.index]
            if part.isDecoration {
                decorate(LayerDecoration(drawing, in: PixelRect(canvas.dimensions)), on: canvas)
            } else {
                paint(drawing, on: canvas)
            }
        }
        for overlay in overlays { overlay.draw(on: canvas) }
    }
}

extension LayerDrawing {
    /// Returns true if a device can show the layer, drawn by itself where it has to be.
    fileprivate func isComposed(by abilities: CompositingAbilities) -> Bool {
        guard abilities.take(rect.dimensions) else { return false }
        return !isBlended || (shape == nil && abilities.blendsOpacity)
    }
}
