import Compositing
import Conference
import MediaCore
import MediaFixtures
import RoomAPI
import SDP
import SecureTransport
import Testing

/// The pictures that participants see, decoded from what they received.
@Suite struct RoomPictureTests {
    @Test("three participants each see exactly the others, each in a cell of its own")
    func threeSeeTheOthers() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        let cy = try call.join("Cy", colour: .blue)
        call.run(for: .seconds(3))
        for (viewer, expected) in [
            (ada, [Colour.green, .blue]), (ben, [Colour.red, .blue]), (cy, [Colour.red, .green]),
        ] {
            let picture = try #require(viewer.picture)
            #expect(picture.dimensions == VideoDimensions(width: 320, height: 180))
            let cells = GridLayout.cells(count: 2, canvas: picture.dimensions)
            for (cell, colour) in zip(cells, expected) {
                let seen = picture.colour(x: cell.x + cell.width / 2, y: cell.y + cell.height / 2)
                #expect(seen.resembles(colour), "\(viewer.name) sees \(seen) in \(cell), not \(colour)")
            }
        }
    }

    @Test("a participant that asked for it also sees itself")
    func selfView() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, selfView: .always)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(3))
        let picture = try #require(ada.picture)
        let cells = GridLayout.cells(count: 2, canvas: picture.dimensions)
        let seen = cells.map { picture.colour(x: $0.x + $0.width / 2, y: $0.y + $0.height / 2) }
        #expect(seen[0].resembles(.red) && seen[1].resembles(.green), "saw \(seen)")
    }

    @Test("portrait video is letterboxed: all of it is there, and bars beside it")
    func portraitIsLetterboxed() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .yellow, dimensions: VideoDimensions(width: 90, height: 160))
        call.run(for: .seconds(3))
        let picture = try #require(ada.picture)
        // A picture of 90x160 that fits a height of 180 is 101 wide.
        #expect(picture.colour(x: 160, y: 90).resembles(.yellow))
        #expect(picture.colour(x: 160, y: 6).resembles(.yellow))
        #expect(picture.colour(x: 160, y: 173).resembles(.yellow))
        #expect(!picture.colour(x: 90, y: 90).resembles(.yellow))
        #expect(!picture.colour(x: 230, y: 90).resembles(.yellow))
    }

    @Test(
        "a camera of full range or BT.709 keeps its contrast and hue, and the stream states the canvas's colour"
    )
    func colour() throws {
        let fullRange = ColourDescription(isFullRange: true)
        for (description, sent, seen) in [
            (ColourDescription.unspecified, Colour(y: 200, u: 128, v: 128), Colour(y: 200, u: 128, v: 128)),
            (fullRange, Colour(y: 224, u: 128, v: 128), Colour(y: 208, u: 128, v: 128)),
            (fullRange, Colour(y: 32, u: 128, v: 128), Colour(y: 43, u: 128, v: 128)),
            (.bt709, Colour(y: 63, u: 102, v: 240), Colour(y: 81, u: 90, v: 240)),
        ] {
            let call = VirtualCall()
            let viewer = try call.join("Viewer", video: .receiveOnly)
            let camera = try call.join("Camera", colour: sent)
            camera.colourDescription = description
            call.run(for: .seconds(3))
            let picture = try #require(viewer.picture)
            #expect(picture.attachments.colour == .bt601)
            let shown = picture.colour(x: 160, y: 60)
            // The pattern's ripple adds six levels to some of the samples.
            #expect(abs(Int(shown.y) - Int(seen.y) - 3) <= 6, "\(shown), not \(seen)")
            #expect(shown.resembles(seen, tolerance: 4), "\(shown), not \(seen)")
        }
    }

    @Test("a source that stops does not slow the others' frames, and becomes a placeholder")
    func stoppedSourceDoesNotSlowOthers() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        let cy = try call.join("Cy", colour: .blue)
        call.run(for: .seconds(3))
        ben.isSendingVideo = false
        let before = ada.arrivals.count
        call.run(for: .seconds(8))
        let frames = ada.arrivals[before...]
        let gaps = zip(frames, frames.dropFirst()).map { $1 - $0 }
        #expect(frames.count >= 116, "\(frames.count) frames in 8 s")
        let longest = gaps.max() ?? .zero
        #expect(longest < Duration.milliseconds(140))
        let picture = try #require(ada.picture)
        let cells = GridLayout.cells(count: 2, canvas: picture.dimensions)
        #expect(!picture.colour(x: cells[0].x + 8, y: cells[0].y + cells[0].height / 2).resembles(.green))
        #expect(
            picture.colour(x: cells[1].x + cells[1].width / 2, y: cells[1].y + cells[1].height / 2).resembles(.blue))
        _ = cy
    }

    @Test("a change of resolution in mid-call loses no frame: the new size begins with its keyframe")
    func resolutionChange() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        let before = try #require(call.relay.snapshot(room: "demo", now: call.now)?.participants.last?.uplink)
        ben.dimensions = VideoDimensions(width: 90, height: 160)
        call.run(for: .seconds(2))
        let after = try #require(call.relay.snapshot(room: "demo", now: call.now)?.participants.last?.uplink)
        #expect(after.width == 90 && after.height == 160)
        #expect(after.framesDropped == before.framesDropped)
        #expect(after.framesDecoded - before.framesDecoded >= 28)
        #expect(try #require(ada.picture).colour(x: 160, y: 90).resembles(.green))
    }

    @Test("someone with audio alone is a placeholder, and someone with video alone is seen")
    func audioOnlyAndVideoOnly() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, audio: nil)
        let ben = try call.join("Ben", video: nil)
        call.run(for: .seconds(2))
        #expect(ada.picture != nil)
        #expect(ada.audioPackets.isEmpty)
        #expect(ben.audioPackets.count > 80)
        #expect(ben.picture == nil)
    }

    @Test("a watcher sees everyone and is not seen; a publisher is seen and gets nothing")
    func watcherAndPublisher() throws {
        let call = VirtualCall()
        let camera = try call.join("Camera", colour: .blue, video: .sendOnly, audio: .sendOnly, role: .publish)
        let viewer = try call.join("Viewer", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        call.run(for: .seconds(2))
        let picture = try #require(viewer.picture)
        #expect(picture.colour(x: 160, y: 90).resembles(.blue))
        #expect(viewer.audioPackets.count > 80)
        #expect(camera.picture == nil && camera.audioPackets.isEmpty)
    }
}
