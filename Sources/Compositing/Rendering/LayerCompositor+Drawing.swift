import MediaCore
import PixelTransfer

extension LayerCompositor {
    /// Returns the drawing of a layer; nil if nothing of it is visible.
    func drawing(of layer: CompositionLayer, _ request: VideoCompositionRequest) -> LayerDrawing? {
        let opacity = Opacity(layer.opacityRamps.value(at: request.time) ?? layer.opacity)
        guard opacity != .transparent, let source = request.source(layer.source) else { return nil }
        let frame = (layer.rectRamps.value(at: request.time) ?? layer.rect).evened
        let rect = frame.trimmed(to: request.canvas)
        guard !rect.isEmpty else { return nil }
        var restingSize = restingSize(of: layer, frame: frame, at: request.time)
        // Of a layer that is far larger than the canvas, which any plan may have, nothing that large is drawn.
        restingSize.width = min(restingSize.width, 2 * request.canvas.width)
        restingSize.height = min(restingSize.height, 2 * request.canvas.height)
        var appearance = LayerAppearance(content: .placeholder(name: "", avatar: nil, size: restingSize))
        switch source.content {
        case .placeholder(let avatar):
            appearance.content = .placeholder(name: source.name, avatar: avatar, size: restingSize)
        case .picture(let picture, let rotation, let isStale):
            guard picture.dimensions.width > 0, picture.dimensions.height > 0 else { return nil }
            appearance.content = .picture(picture, rotation: layer.rotation ?? rotation, isStale: isStale)
        }
        if layer.isDecorated, let decoration = source.decoration {
            appearance.isSpeaking = decoration.isSpeaking
            let radius = cornerRadius(of: layer, size: restingSize)
            switch decorator.label(source.name, decoration, size: restingSize, cornerRadius: radius) {
            case .nothing: break
            case .drawn(let label): appearance.label = label
            case .later: request.markIncomplete()
            }
        }
        let radius = cornerRadius(of: layer, size: frame.dimensions)
        let shape = radius > 0 ? shapes.shape(.rectangle, radius: radius) : nil
        return LayerDrawing(
            key: TileKey(
                source: layer.source, size: frame.dimensions, fit: layer.fit, border: layer.border,
                cornerRadius: shape?.radius ?? 0),
            appearance: appearance, frame: frame, rect: rect, zOrder: layer.zOrder, opacity: opacity, shape: shape)
    }

    /// The radius of a layer's corners in a size. If it is too small for them, they are as large as possible.
    private func cornerRadius(of layer: CompositionLayer, size: VideoDimensions) -> Int {
        min(max(layer.cornerRadius, 0), min(size.width, size.height) / 2 & ~1, RoundedShape.maximumRadius)
    }

    /// The size for which a layer's label and placeholder are laid out: the layer's own; during a change of size the
    /// nearer of its start and its end, so that nothing is laid out for the sizes between.
    private func restingSize(of layer: CompositionLayer, frame: PixelRect, at time: MediaTime) -> VideoDimensions {
        guard let ramp = layer.rectRamps.current(at: time) else { return frame.dimensions }
        let (from, to) = (ramp.from.evened.dimensions, ramp.to.evened.dimensions)
        let isNearerToStart =
            abs(frame.width - from.width) + abs(frame.height - from.height)
            <= abs(frame.width - to.width) + abs(frame.height - to.height)
        let size = isNearerToStart ? from : to
        return size.width > 0 && size.height > 0 ? size : frame.dimensions
    }

    /// Paints a layer from the cheapest there is: a tile on this canvas, on another, or the picture itself.
    func paint(_ drawing: LayerDrawing, on canvas: I420Region) {
        guard !drawing.isBlended else { return blend(drawing, on: canvas) }
        let tile = canvas.part(drawing.rect)
        if drawing.isWhole, copyModel(of: drawing, to: tile, on: canvas) { return }
        draw(drawing, into: tile)
    }

    private func copyModel(of drawing: LayerDrawing, to tile: I420Region, on canvas: I420Region) -> Bool {
        if let rect = tiles.paintedTile(drawing) {
            tile.copy(canvas.part(rect))
        } else {
            switch tiles.tile(drawing) {
            case nil: return false
            case .canvas(let picture, let rect): picture.withPlanes { tile.copy(I420Region(planes: $0, rect: rect)) }
            case .scratch(let page, let rect): page.picture.withI420Region { tile.copy($0.part(rect)) }
            }
        }
        counts.copies += 1
        return true
    }

    /// Draws a layer by itself, if that is not done yet, and blends it over the canvas.
    private func blend(_ drawing: LayerDrawing, on canvas: I420Region) {
        counts.blends += 1
        func show(_ tile: I420Region) {
            let (x, y) = (drawing.rect.x, drawing.rect.y)
            if let shape = drawing.shape {
                canvas.blend(tile, x: x, y: y, shape: shape, of: drawing.frame, opacity: drawing.opacity)
            } else {
                canvas.blend(tile, x: x, y: y, opacity: drawing.opacity)
            }
        }
        if drawing.isWhole {
            if let rect = tiles.paintedTile(drawing) { return show(canvas.part(rect)) }
            switch tiles.tile(drawing) {
            case nil: break
            case .canvas(let picture, let rect):
                return picture.withPlanes { show(I420Region(planes: $0, rect: rect)) }
            case .scratch(let page, let rect):
                return page.picture.withI420Region { show($0.part(rect)) }
            }
        }
        let (page, place) = scratch.place(drawing.rect.dimensions, page: canvas.dimensions)
        page.picture.withI420Region { page in
            let tile = page.part(place)
            draw(drawing, into: tile)
            show(tile)
        }
        if drawing.isWhole { tiles.add(drawing, on: page, place) }
    }

    /// Draws the visible part of a layer into a region of that size.
    func draw(_ drawing: LayerDrawing, into tile: I420Region) {
        switch drawing.appearance.content {
        case .picture(let picture, let rotation, let isStale):
            draw(picture, rotation, isStale: isStale, drawing, into: tile)
        case .placeholder(let name, let avatar, let size):
            drawPlaceholder(placeholders.placeholder(name: name, avatar: avatar, size: size), drawing, into: tile)
        }
        decorate(LayerDecoration(drawing, in: drawing.rect), on: tile)
    }

    /// Draws the decoration of a layer into a region in which `frame` is the whole layer.
    func decorate(_ decoration: LayerDecoration, on tile: I420Region) {
        let (frame, radius) = (decoration.frame, decoration.cornerRadius)
        if let border = decoration.border, border.width > 0 {
            tile.fill(frame, shape: shapes.shape(.border(width: border.width), radius: radius), with: border.colour)
        }
        if decoration.isSpeaking {
            let width = TileDecorator.speakingBorderWidth(frame.dimensions)
            tile.fill(
                frame, shape: shapes.shape(.border(width: width), radius: radius), with: TileDecorator.speakingColour)
        }
        if let label = decoration.label { decorator.draw(label, at: frame, cornerRadius: radius, on: tile) }
        if let colour = decoration.cornerColour {
            tile.fill(frame, shape: shapes.shape(.surroundings, radius: radius), with: colour)
        }
    }

    private func draw(
        _ picture: PixelBuffer, _ rotation: VideoRotation, isStale: Bool, _ drawing: LayerDrawing, into tile: I420Region
    ) {
        let placement = LayerPlacement(
            picture.dimensions, samples: picture.attachments.pixelAspectRatio.shownSampleShape, rotation: rotation,
            fit: drawing.key.fit, rect: drawing.frame, visible: drawing.rect)
        let shown = placement.shown.relative(to: drawing.rect)
        PixelRect(tile.dimensions).forEachPart(outside: shown) { tile.part($0).fill(luma: Self.barLuma) }
        guard !shown.isEmpty else { return }
        let region = tile.part(shown)
        guard let picture = inPlanes(picture, of: drawing.key.source) else { return region.fill(luma: Self.barLuma) }
        let conversion = ColourConversion(from: picture.attachments.colour, to: CompositionRenderer.canvasColour)
        picture.withPlanes { planes in
            let source = I420Region(planes: planes, rect: placement.crop)
            if rotation == .none {
                take(source, into: region, conversion)
            } else {
                turn(source, by: rotation, into: region, conversion)
            }
        }
        if isStale { region.dim() }
    }

    /// The picture in three planes, as all drawing here is; nil if it cannot be had so.
    private func inPlanes(_ picture: PixelBuffer, of source: SourceID) -> PixelBuffer? {
        picture.format == .i420 ? picture : planar.convert(picture, of: source)
    }

    private func drawPlaceholder(
        _ placeholder: PlaceholderRenderer.Placeholder, _ drawing: LayerDrawing, into tile: I420Region
    ) {
        let placement = LayerPlacement(
            placeholder.picture.dimensions, rotation: .none, fit: .contain, rect: drawing.frame, visible: drawing.rect)
        let shown = placement.shown.relative(to: drawing.rect)
        PixelRect(tile.dimensions).forEachPart(outside: shown) { tile.fill($0, with: placeholder.colour) }
        guard !shown.isEmpty else { return }
        placeholder.picture.withPlanes { take(I420Region(planes: $0, rect: placement.crop), into: tile.part(shown)) }
    }

    /// Copies or scales a picture, and converts its colour if it differs from the canvas's: with the copy, or after
    /// scaling, because most tiles are smaller than their pictures.
    private func take(_ source: I420Region, into region: I420Region, _ conversion: ColourConversion? = nil) {
        if source.dimensions != region.dimensions {
            region.scale(source)
            counts.scales += 1
            convert(region, into: region, conversion)
        } else if conversion != nil {
            convert(source, into: region, conversion)
        } else {
            region.copy(source)
            counts.copies += 1
        }
    }

    private func convert(_ source: I420Region, into region: I420Region, _ conversion: ColourConversion?) {
        guard let conversion else { return }
        region.convert(source, by: conversion)
        counts.colourConversions += 1
    }

    /// Scales first: most tiles are smaller than the pictures that they show, and turning costs by the sample.
    private func turn(
        _ source: I420Region, by rotation: VideoRotation, into region: I420Region, _ conversion: ColourConversion?
    ) {
        counts.rotations += 1
        defer { convert(region, into: region, conversion) }
        let lying = rotation.upright(region.dimensions)
        guard source.dimensions != lying else {
            region.rotate(source, by: rotation)
            return
        }
        page(&turningPage, for: lying).picture.withI420Region { page in
            let scaled = page.part(PixelRect(lying))
            scaled.scale(source)
            counts.scales += 1
            region.rotate(scaled, by: rotation)
        }
    }
}
