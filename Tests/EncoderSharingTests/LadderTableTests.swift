import MediaCore
import Testing
import VideoCoding

@testable import EncoderSharing

@Suite("A room's ladders") struct LadderTableTests {
    @Test("are kept for a number of sizes only, and are the same when they are made anew")
    func bounded() {
        var table = LadderTable(frameRate: 30, isOn: true)
        func ladder(_ width: Int) -> Ladder {
            let dimensions = VideoDimensions(width: width, height: 360)
            return table.ladder(EncodeFormat(dimensions: dimensions, properties: CompressionProperties()), .motion)
        }
        let first = ladder(640)
        for step in 1...1000 { #expect(ladder(640 + 2 * step).top.dimensions.width == 640 + 2 * step) }
        #expect(table.ladders.count <= LadderTable.mostLadders)
        #expect(ladder(640).rungs == first.rungs)
    }
}
