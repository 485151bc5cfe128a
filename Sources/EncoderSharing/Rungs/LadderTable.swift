package import MediaCore

/// The ladders of a room: one for each canvas and preference, made when it is first asked for.
package struct LadderTable {
    private struct Key: Hashable {
        package var canvas: VideoDimensions
        package var preference: Ladder.DegradationPreference
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

    package mutating func ladder(_ canvas: VideoDimensions, _ preference: Ladder.DegradationPreference) -> Ladder {
        let key = Key(canvas: canvas, preference: preference)
        if let known = ladders[key] { return known }
        let ladder = Ladder(canvas: canvas, frameRate: frameRate, preference: preference, isOn: isOn)
        ladders[key] = ladder
        return ladder
    }
}
