import Testing

@testable import Conference

/// Senders of pictures and streams that the relay meets rarely.
@Suite struct OddSenderTests {
    @Test("a camera of a picture every two seconds is not dimmed between two, and is when it stops")
    func slowCamera() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .yellow)
        try call.join("Ben", video: .receiveOnly)
        ada.frameRate = 1
        var darkest = UInt8.max
        call.onComposed = { tick in
            for picture in tick.pictures { darkest = min(darkest, picture.colour(x: 160, y: 60).y) }
        }
        func send(_ count: Int) {
            for _ in 0..<count {
                ada.isSendingVideo = true
                call.run(for: .seconds(1))
                ada.isSendingVideo = false
                call.run(for: .seconds(1))
            }
        }
        send(3)
        darkest = .max
        send(5)
        #expect(darkest > 180)
        call.run(for: .seconds(4))
        #expect(darkest < 150)
    }
}
