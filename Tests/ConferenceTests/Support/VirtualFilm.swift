import Conference
import MediaCore
import MediaFixtures
import RoomAPI
import VideoCoding

/// The pictures of a film of one colour, shown to a relay and encoded where it wants that.
final class VirtualFilm {
    static let dimensions = VideoDimensions(width: 160, height: 90)

    private let player: String
    private let colour: Colour
    private let outputs = EncodeOutputQueue()
    private let session: CompressionSession
    private var count = 0
    /// The relay's demands, picture by picture.
    private(set) var demands: [PlayerPictureDemand?] = []

    init(_ colour: Colour, player: String = "player-1") throws {
        self.colour = colour
        self.player = player
        session = try CompressionSession(
            dimensions: Self.dimensions, properties: CompressionProperties(averageBitRate: .kilobits(300))
        ) { [outputs] output in outputs.append(output) }
    }

    /// Shows the next picture.
    func show(in call: VirtualCall) throws {
        let picture = PixelBuffer.pattern(colour, dimensions: Self.dimensions, phase: count)
        count += 1
        let demand = call.act { relay, now in
            relay.show(picture, rotation: .none, ofPlayer: player, room: "demo", now: now)
        }
        demands.append(demand)
        guard let demand else { return }
        try session.encode(
            picture, presentationTime: MediaTime(call.now - .zero, timescale: 90_000),
            options: EncodeOptions(forceKeyframe: demand.needsKeyframe))
        while let output = outputs.next() {
            guard let sample = output.frame?.sample else { continue }
            call.act { relay, now in
                relay.receive(
                    sample, rotation: .none, shownAt: now, ofPlayer: player, room: "demo", now: now)
            }
        }
    }
}
