import Compositing
import MediaCore

/// The last pictures of sources that are no more and still fade out somewhere.
struct ExitingSources {
    private var sources: [SourceID: CompositionSource] = [:]

    subscript(id: SourceID) -> CompositionSource? { sources[id] }

    /// The number of kept sources.
    var count: Int { sources.count }

    mutating func insert(_ source: CompositionSource) {
        var source = source
        source.decoration?.isSpeaking = false
        sources[source.id] = source
    }

    mutating func remove(_ id: SourceID) {
        guard !sources.isEmpty else { return }
        sources[id] = nil
    }

    /// Removes the sources that no picture needs any more.
    mutating func keep(_ required: Set<SourceID>) {
        guard !sources.isEmpty else { return }
        sources = sources.filter { required.contains($0.key) }
    }
}
