import MediaCore
import RTP
import SDP
import Testing

@testable import PeerConnection

/// Goodbyes of sources, in a session whose keys the descriptions carry.
@Suite struct GoodbyeTests {
    /// Says goodbye for a source. Returns true if the participant counts as gone.
    private func sayGoodbye(for ssrc: UInt32, of remote: KeyedRemote) throws -> Bool {
        let audio = try #require(remote.session.audio)
        try remote.say([.receiverReport(ReceiverReport(ssrc: audio.localSSRC)), .bye(Goodbye(ssrcs: [ssrc]))])
        var hasLeft = false
        while let event = remote.peer.pollEvent() {
            if case .goodbye = event { hasLeft = true }
        }
        return hasLeft
    }

    @Test("the goodbye of a source that another has replaced ends nothing, and that of the other one does")
    func replacedSource() throws {
        let remote = try KeyedRemote()
        let first = try #require(remote.session.video).localSSRC
        try remote.sendVideo(from: first)
        try remote.sendVideo(from: first &+ 1)
        #expect(try !sayGoodbye(for: first, of: remote))
        #expect(try sayGoodbye(for: first &+ 1, of: remote))
    }

    @Test("a goodbye counts once, however often a datagram repeats it")
    func repeated() throws {
        let remote = try KeyedRemote()
        let source = try #require(remote.session.video).localSSRC
        try remote.sendVideo(from: source)
        while remote.peer.pollEvent() != nil {}
        let goodbyes = Array(repeating: RTCPPacket.bye(Goodbye(ssrcs: [source])), count: 170)
        try remote.say([.receiverReport(ReceiverReport(ssrc: source))] + goodbyes)
        var count = 0
        while let event = remote.peer.pollEvent() {
            if case .goodbye = event { count += 1 }
        }
        #expect(count == 1)
    }

    @Test("the goodbye of a source that has sent no media counts")
    func silentSource() throws {
        let remote = try KeyedRemote()
        let audio = try #require(remote.session.audio)
        #expect(try sayGoodbye(for: audio.localSSRC, of: remote))
    }

    @Test("the goodbye of a camera that a further offer has turned off ends nothing")
    func endedByOffer() throws {
        let remote = try KeyedRemote()
        let source = try #require(remote.session.video).localSSRC
        try remote.sendVideo(from: source)
        var session = remote.peer.session
        let index = try #require(session.media.firstIndex(where: { $0.kind == .video }))
        session.media[index].direction = .sendOnly
        try remote.peer.update(session: session, now: remote.now)
        #expect(try !sayGoodbye(for: source, of: remote))
        let audio = try #require(remote.session.audio).localSSRC
        #expect(try sayGoodbye(for: audio, of: remote))
    }

    @Test("an endpoint that sends nothing any more leaves with the goodbye of a camera that it turned off before")
    func watcherLeaves() throws {
        var remote = try KeyedRemote()
        let source = try #require(remote.session.video).localSSRC
        try remote.sendVideo(from: source)
        var session = remote.peer.session
        for index in session.media.indices { session.media[index].direction = .sendOnly }
        try remote.peer.update(session: session, now: remote.now)
        #expect(try !sayGoodbye(for: source, of: remote))
        remote.now += .seconds(30)
        #expect(try !sayGoodbye(for: source &+ 1, of: remote))
        #expect(try sayGoodbye(for: source, of: remote))
    }
}
