import Compositing
import Conference
import MediaCore
import VideoCoding

/// The comparisons of composing with bare scaling, and of much composing with little.
struct ComposeMeasurement {
    private let reel = SourceReel(count: 25)
    /// Composes, too; nil: none.
    private let device: VAAPIDevice?

    init(device: VAAPIDevice? = nil) { self.device = device }

    private static let canvases = [
        VideoDimensions(width: 1280, height: 720), VideoDimensions(width: 1920, height: 1080),
    ]
    private static let counts = [4, 9, 16, 25]

    /// Makes one comparison after the other.
    var comparisons: [() -> SessionComparison] {
        var list: [() -> SessionComparison] = []
        for canvas in Self.canvases {
            for count in Self.counts { list.append { scaling(count, canvas, fit: .contain) } }
        }
        let canvas = Workload.canvas
        list.append { scaling(9, canvas, fit: .cover) }
        list.append { personal(canvas, fit: .contain) }
        list.append { personal(canvas, fit: .cover) }
        list.append { moving(canvas) }
        return list
    }

    /// The sources in a grid: by bare calls, composed, with labels, covering their tiles with crops of fast ratios, and
    /// when nothing has changed.
    private func scaling(_ count: Int, _ canvas: VideoDimensions, fit: LayerFit) -> SessionComparison {
        let request = grid(0..<count, canvas, fit: fit)
        let crop = fit == .cover ? Self.fastCrop : reel.dimensions
        let bare = BareScaler(request.instruction.layers.map(\.rect), crop: crop, canvas: canvas)
        let pictures = reel.pictures
        var contenders = [
            SessionContender(
                name: "libyuv", frame: { bare.scale(pictures[$0 % pictures.count]) }, product: { 0 }),
            contender("composed", [request], reel.inputs),
        ]
        if fit == .contain {
            contenders +=
                [
                    contender("with labels", [request], reel.labelledInputs),
                    contender("covering", [grid(0..<count, canvas, fit: .cover)], reel.inputs),
                    contender("unchanged", [request], [reel.labelledInputs[0]]),
                ] + onDevice([request])
        }
        let work = fit == .cover ? "\(count) cropped in \(canvas)" : "\(count) in \(canvas)"
        return SessionComparison(work: work, isExact: false, contenders: contenders)
    }

    /// A canvas that shows nine, and one for each of the nine, who see the others and not themselves.
    private func personal(_ canvas: VideoDimensions, fit: LayerFit) -> SessionComparison {
        let requests = (0..<9).map { own in grid((0..<9).filter { $0 != own }, canvas, fit: fit) }
        return SessionComparison(
            work: "9 personal in \(canvas), \(fit.mode.rawValue)", isExact: false,
            contenders: [
                contender("one canvas", [grid(0..<9, canvas, fit: fit)], reel.labelledInputs),
                contender("nine canvases", requests, reel.labelledInputs),
            ])
    }

    /// Nine in a grid at rest, and while they move and fade.
    private func moving(_ canvas: VideoDimensions) -> SessionComparison {
        let still = grid(0..<9, canvas, fit: .contain)
        let whole = MediaTimeRange(start: .zero, duration: MediaTime(value: 10, timescale: 30))
        var gliding = still
        for index in gliding.instruction.layers.indices {
            let rect = gliding.instruction.layers[index].rect
            let target = PixelRect(x: rect.x, y: rect.y, width: rect.width / 2 & ~1, height: rect.height / 2 & ~1)
            gliding.instruction.layers[index].rectRamps = [Ramp(timeRange: whole, from: rect, to: target)]
        }
        var fading = still
        for index in fading.instruction.layers.indices {
            fading.instruction.layers[index].opacityRamps = [Ramp(timeRange: whole, from: 0.1, to: 0.9)]
        }
        return SessionComparison(
            work: "9 moving in \(canvas)", isExact: false,
            contenders: [
                contender("at rest", [still], reel.labelledInputs),
                contender("gliding", [gliding], reel.labelledInputs),
                contender("fading", [fading], reel.labelledInputs),
            ])
    }

    /// The same with labels on a device, in the processor time of all threads: libva's calls are made on another one.
    private func onDevice(_ requests: [CompositionRequest]) -> [SessionContender] {
        #if VAAPI
            return device.map { device in
                var contender = contender(
                    "VA-API", requests, reel.labelledInputs, compositor: DeviceCompositor(device))
                contender.processorTime = AllThreadsClock.now
                return [contender]
            } ?? []
        #else
            return []
        #endif
    }

    private func contender(
        _ name: String, _ requests: [CompositionRequest], _ inputs: [CompositionInputs],
        compositor: any VideoCompositing = LayerCompositor()
    ) -> SessionContender {
        let renderer = CompositionRenderer(compositor: compositor)
        var results: [ComposedPicture] = []
        return SessionContender(
            name: name,
            frame: { number in
                renderer.render(
                    requests, inputs: inputs[number % inputs.count],
                    at: MediaTime(value: Int64(number % 10), timescale: 30), into: &results)
            }, product: { 0 })
    }

    private func grid(_ sources: some Sequence<Int>, _ canvas: VideoDimensions, fit: LayerFit) -> CompositionRequest {
        var request = CompositionRequest(grid: sources.map { reel.ids[$0] }, canvas: canvas)
        for index in request.instruction.layers.indices { request.instruction.layers[index].fit = fit }
        return request
    }

    /// The part of 640x360 that is seen in a tile of 426x240, scaled by 3/4.
    private static let fastCrop = VideoDimensions(width: 568, height: 320)
}

/// Pictures of sources that all change from one frame to the next.
struct SourceReel {
    let ids: [SourceID]
    /// By frame, then by source.
    let pictures: [[PixelBuffer]]
    let inputs: [CompositionInputs]
    /// With names and, now and then, speech.
    let labelledInputs: [CompositionInputs]
    let dimensions = Workload.sourceDimensions

    /// More than the processor's caches hold.
    private static let frameCount = 4

    init(count: Int) {
        let ids = (1...count).map { SourceID.camera(ParticipantID(rawValue: UInt64($0))) }
        self.ids = ids
        let noise = Noise(seed: 7)
        let dimensions = Workload.sourceDimensions
        let pictures = (0..<Self.frameCount).map { frame in
            (0..<count).map { Self.picture(noise, dimensions, shift: 16 * $0 + 5 * frame) }
        }
        self.pictures = pictures
        inputs = pictures.map { Self.inputs(ids, $0, areDecorated: false) }
        labelledInputs = pictures.map { Self.inputs(ids, $0, areDecorated: true) }
    }

    private static func inputs(
        _ ids: [SourceID], _ pictures: [PixelBuffer], areDecorated: Bool
    ) -> CompositionInputs {
        var sources: [SourceID: CompositionSource] = [:]
        for (id, picture) in zip(ids, pictures) {
            let number = id.participant.rawValue
            sources[id] = CompositionSource(
                id: id, name: "Participant \(number)", content: .picture(picture, isStale: false),
                decoration: areDecorated ? TileDecoration(isSpeaking: number == 2) : nil)
        }
        return CompositionInputs(sources: sources)
    }

    private static func picture(_ noise: Noise, _ dimensions: VideoDimensions, shift: Int) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, stride in
                for index in bytes.indices {
                    let (x, y) = (index % stride, index / stride)
                    bytes[index] = UInt8(truncatingIfNeeded: noise.value(x: x + shift, y: y, grain: 16))
                }
            }
        }
        return picture.freeze()
    }
}
