import MediaCore

/// The ladders of a room: one for each canvas and preference, made when it is first asked for.
package struct LadderTable {
    private struct Key: Hashable {
        var canvas: VideoDimensions
        var preference: Ladder.DegradationPreference
        var isOn: Bool
    }

    private let frameRate: Int
    private let isOn: Bool
    private var ladders: [Key: Ladder] = [:]

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
        ladders[key] = ladder
        return ladder
    }
}
