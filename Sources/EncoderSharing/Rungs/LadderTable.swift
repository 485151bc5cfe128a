import MediaCore

/// The ladders of a room: one for each canvas and preference, made when it is first asked for.
package struct LadderTable {
    struct Key: Hashable {
        var canvas: VideoDimensions
        var preference: Ladder.DegradationPreference
        var isOn: Bool
    }

    /// Members' offers and composites may ask for ever new sizes: beyond this number all ladders are made anew.
    static let mostLadders = 64

    private let frameRate: Int
    private let isOn: Bool
    private(set) var ladders: [Key: Ladder] = [:]

    /// - Parameters:
    ///   - frameRate: The frame rate of the room.
    ///   - isOn: True if there is more than one rung.
    package init(frameRate: Int, isOn: Bool) {
        self.frameRate = frameRate
        self.isOn = isOn
    }

    /// The ladder of an encoder's pictures. Those that are stored have one rung.
    package mutating func ladder(_ format: EncodeFormat, _ preference: Ladder.DegradationPreference) -> Ladder {
        let key = Key(canvas: format.dimensions, preference: preference, isOn: isOn && !format.isStored)
        if let known = ladders[key] { return known }
        let ladder = Ladder(canvas: key.canvas, frameRate: frameRate, preference: preference, isOn: key.isOn)
        if ladders.count == Self.mostLadders { ladders.removeAll() }
        ladders[key] = ladder
        return ladder
    }
}
