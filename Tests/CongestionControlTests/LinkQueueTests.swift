import MediaCore
import Testing

@testable import CongestionControl

/// When a link to a receiver is full. It carries 800 kbit/s, which are 100 bytes a millisecond.
@Suite struct LinkQueueTests {
    /// A link that has just got a frame of so many milliseconds.
    private func queue(frame milliseconds: Int = 0) -> LinkQueue {
        var queue = LinkQueue()
        queue.setRate(.kilobits(800), now: .zero)
        if milliseconds > 0 { queue.spend(frame: bytes(milliseconds * 100), now: .zero) }
        return queue
    }

    @Test("a link with up to 250 ms to send takes each frame")
    func room() {
        #expect(queue(frame: 250).hasRoom(now: .zero))
        #expect(!queue(frame: 251).hasRoom(now: .zero))
        #expect(queue(frame: 251).hasRoom(now: at(1)))
    }

    @Test("one with up to a second to send takes ten frames a second, and one with more none")
    func fewFrames() {
        #expect(!queue(frame: 900).hasRoom(now: at(99)))
        #expect(queue(frame: 900).hasRoom(now: at(100)))
        #expect(!queue(frame: 1200).hasRoom(now: at(199)))
        #expect(queue(frame: 1200).hasRoom(now: at(200)))
        // What is no frame keeps no frame waiting beyond its time on the link.
        var queue = queue(frame: 300)
        queue.spend(bytes(20_000), now: at(90))
        #expect(queue.hasRoom(now: at(100)))
    }

    @Test("what was sent at the earlier rate is paid at the earlier rate, and time without work saves nothing")
    func rateChange() {
        var link = queue(frame: 500)
        link.setRate(.kilobits(80), now: at(400))
        #expect(link.backlog(now: at(400)).sent == .milliseconds(1000))
        #expect(link.backlog(now: at(1400)).sent == .zero)
        link.spend(bytes(1000), now: at(5000))
        #expect(link.backlog(now: at(5000)).sent == .milliseconds(100))
    }

    @Test("the backlog is what the link owes or what waits at the sender, and what is predicted stands beside it")
    func backlog() {
        var link = queue(frame: 100)
        link.predicted = .milliseconds(170)
        #expect(link.backlog(now: .zero).sent == .milliseconds(100))
        #expect(link.backlog(adding: bytes(2000), now: .zero).sent == .milliseconds(120))
        #expect(link.backlog(waiting: .milliseconds(150), now: .zero).sent == .milliseconds(150))
        #expect(link.backlog(now: .zero).longest == .milliseconds(170))
        #expect(link.backlog(waiting: .milliseconds(180), now: .zero).longest == .milliseconds(180))
    }

    @Test("packets are sent again with 30 % of the rate, half a second of it at once, while few others wait")
    func retransmissions() {
        func hasRoom(_ link: LinkQueue, waiting: Duration = .zero, at milliseconds: Double = 0) -> Bool {
            link.hasRoomForRetransmission(waiting: waiting, now: at(milliseconds))
        }
        var link = queue()
        link.spend(retransmission: bytes(15_000), now: .zero)
        #expect(hasRoom(link))
        link.spend(retransmission: bytes(300), now: .zero)
        #expect(!hasRoom(link) && !hasRoom(link, at: 9) && hasRoom(link, at: 10))
        #expect(hasRoom(queue(), waiting: .milliseconds(119)) && !hasRoom(queue(), waiting: .milliseconds(120)))
        // Frames owe nothing of that share.
        #expect(hasRoom(queue(frame: 900)))
        // They take the link's time as all else does.
        #expect(link.backlog(now: .zero).sent == .milliseconds(153))
    }
}
