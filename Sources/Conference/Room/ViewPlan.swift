import Compositing
import MediaCore

/// Who is sent which picture. It is worked out anew when someone comes, goes, presents or speaks or a layout is chosen;
/// ticks only read it.
struct ViewPlan {
    /// The pictures to compose, each once however many are sent it.
    private(set) var requests: [CompositionRequest] = []
    /// Index into `requests`, by receiver.
    private(set) var requestIndex: [ParticipantID: Int] = [:]
    /// The sources that are seen, and the largest tile of each.
    private(set) var tiles: [SourceID: VideoDimensions] = [:]

    mutating func add(_ request: CompositionRequest, for receiver: ParticipantID) {
        if let known = requests.firstIndex(of: request) {
            requestIndex[receiver] = known
            return
        }
        requestIndex[receiver] = requests.count
        requests.append(request)
        for tile in request.instruction.layers {
            let size = tile.rect.dimensions
            if size.area > tiles[tile.source]?.area ?? 0 { tiles[tile.source] = size }
        }
    }
}
