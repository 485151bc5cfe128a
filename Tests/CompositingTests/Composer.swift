import MediaCore

@testable import Compositing

/// The built-in compositor with its renderer, as tests use them.
struct Composer {
    let compositor = LayerCompositor()
    let renderer: CompositionRenderer

    struct Statistics {
        var renderer: CompositionRenderer.Statistics
        var compositor: LayerCompositor.Statistics

        var renders: Int { renderer.renders }
        var reuses: Int { renderer.reuses }
        var scales: Int { compositor.scales }
        var rotations: Int { compositor.rotations }
        var copies: Int { compositor.copies }
        var blends: Int { compositor.blends }
        var placeholdersRendered: Int { compositor.placeholdersRendered }
        var labelsRendered: Int { compositor.labelsRendered }
        var pictureAllocations: Int { renderer.pictureAllocations + compositor.pictureAllocations }
    }

    init() {
        renderer = CompositionRenderer(compositor: compositor)
    }

    var statistics: Statistics { Statistics(renderer: renderer.statistics, compositor: compositor.statistics) }

    func compose(
        _ requests: [CompositionRequest], sources: [SourceID: CompositionSource], at time: MediaTime = .zero
    ) -> [PixelBuffer] {
        renderer.render(requests, inputs: CompositionInputs(sources: sources), at: time).map(\.picture)
    }
}
