import Compositing
import MediaCore

/// The picture of each receiver, until an instruction ends. Ticks only read it.
struct ViewPlan {
    /// The pictures to compose, each once however many are sent it.
    private(set) var requests: [CompositionRequest] = []
    /// The index into `requests` of each receiver.
    private(set) var requestIndex: [ParticipantID: Int] = [:]
    /// The same for receivers that follow pictures of another size until their own come.
    private(set) var followedRequestIndex: [ParticipantID: Int] = [:]
    /// The sources whose pictures are needed; no other need be decoded.
    private(set) var requiredSources: Set<SourceID> = []
    /// The sources that fill the whole picture of a receiver, by receiver.
    private(set) var soleSources: [ParticipantID: SourceID] = [:]
    /// The end of the first instruction that ends.
    private(set) var end = MediaTime.positiveInfinity
    /// True if the time of day is visible anywhere.
    private(set) var showsClock = false

    /// Records the instruction of a receiver that gets no picture.
    mutating func record(_ instruction: CompositionInstruction, for receiver: ParticipantID) {
        end = min(end, instruction.timeRange.end)
        soleSources[receiver] = instruction.passthroughSource
    }

    /// Gives a receiver an instruction's picture.
    ///
    /// - Parameter isFollowed: True for the picture that the receiver follows until pictures of its own size come.
    mutating func add(
        _ instruction: CompositionInstruction, canvas: VideoDimensions, for receiver: ParticipantID, isFollowed: Bool
    ) {
        let index = index(of: instruction, canvas: canvas)
        if isFollowed {
            followedRequestIndex[receiver] = index
        } else {
            requestIndex[receiver] = index
            soleSources[receiver] = instruction.passthroughSource
        }
    }

    /// Receivers of one instruction share a picture.
    private mutating func index(of instruction: CompositionInstruction, canvas: VideoDimensions) -> Int {
        end = min(end, instruction.timeRange.end)
        var request = CompositionRequest(canvas: canvas, instruction: instruction)
        // The start of a static instruction does not affect the picture.
        if !instruction.containsTweening { request.instruction.timeRange = .all }
        if let known = requests.firstIndex(of: request) { return known }
        requests.append(request)
        requiredSources.formUnion(instruction.requiredSources)
        showsClock = showsClock || instruction.overlays.contains(where: \.isClock)
        return requests.count - 1
    }
}

extension CompositionOverlay {
    fileprivate var isClock: Bool {
        if case .clock = content { true } else { false }
    }
}
