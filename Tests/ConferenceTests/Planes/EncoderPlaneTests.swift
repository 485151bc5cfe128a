import CongestionControl
import EncoderSharing
import LoadControl
import MediaCore
import MediaFixtures
import OrderedCollections
import Testing
import VideoCoding

@testable import Conference
@testable import PeerConnection

/// A room's encoders by themselves: no connection, no socket, no sleep.
@Suite struct EncoderPlaneTests {
    private static let canvas = VideoDimensions(width: 160, height: 90)
    private static let interval = Duration.nanoseconds(33_333_333)
    private let ada = ParticipantID(rawValue: 1)
    private let ben = ParticipantID(rawValue: 2)
    private let cem = ParticipantID(rawValue: 3)

    /// A plane with these receivers, all of whom see the same.
    private func makePlane(
        encoders: Int?, receivers: [ParticipantID], backEnd: EncoderBackEnd = .openH264
    ) -> EncoderPlane {
        var configuration = RelayConfiguration()
        configuration.encoder = backEnd
        configuration.canvas = Self.canvas
        configuration.maximumEncoders = encoders
        let plane = EncoderPlane(room: "room", configuration: configuration, queues: JobQueueAllocator())
        let format = EncodeFormat(dimensions: Self.canvas, properties: CompressionProperties())
        for id in receivers { plane.setDownlink(DownlinkPipeline(format: format, bitRate: .kilobits(500)), of: id) }
        return plane
    }

    /// - Parameter unreachable: The receivers without a way at present; nil: all have one, and all see the same.
    private func viewers(
        _ ids: [ParticipantID], owing: [ParticipantID: DataSize] = [:], unreachable: Set<ParticipantID>? = nil,
        now: MonotonicInstant
    ) -> EncoderPlane.Viewers {
        var viewers = EncoderPlane.Viewers()
        for id in ids {
            var queue = LinkQueue()
            queue.setRate(.kilobits(500), now: now)
            if let size = owing[id] { queue.spend(size, now: now) }
            let isReachable = unreachable?.contains(id) != true
            viewers[id] = EncoderPlane.Viewer(
                id: id, viewNumber: unreachable == nil ? 0 : Int(id.rawValue),
                link: ReceiverLink(canSendVideo: isReachable, hasRoom: isReachable, queue: queue, at: now))
        }
        return viewers
    }

    private func tick(_ number: Int64, for ids: [ParticipantID]) -> ComposedTick {
        let time = MonotonicInstant.zero + Self.interval * number
        var tick = ComposedTick(
            captureTime: time, composed: [], plan: ViewPlan(), frames: [], sourceCount: 0, handedOut: time)
        tick.pictures = [.pattern(.red, dimensions: Self.canvas, phase: Int(number))]
        tick.sources = [[]]
        tick.pictureIndex = Dictionary(uniqueKeysWithValues: ids.map { ($0, 0) })
        return tick
    }

    /// Encodes a tick. Returns to whom each encoder's frame goes.
    private func encode(
        _ plane: EncoderPlane, tick number: Int64, for ids: [ParticipantID], owing: [ParticipantID: DataSize] = [:],
        unreachable: Set<ParticipantID>? = nil
    ) throws -> [EncoderPlane.Delivery] {
        let tick = tick(number, for: ids)
        let now = tick.captureTime
        let work = plane.takeJobs(
            for: tick, to: viewers(ids, unreachable: unreachable, now: now), interval: Self.interval,
            limits: WorkLimits(), now: now)
        return try work.jobs.compactMap { job in
            let completion = job.run { now }
            guard case .encoded(_, let result) = completion.output else { throw CancellationError() }
            return plane.complete(
                result, of: completion,
                for: viewers(ids, owing: owing, unreachable: unreachable, now: now), now: now)
        }
    }

    @Test("receivers with the same view share the only encoder, from its keyframe on")
    func sharing() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben])
        let first = try encode(plane, tick: 0, for: [ada, ben])
        #expect(first.map(\.receivers) == [[ada, ben]])
        #expect(first.first?.frame.isKeyframe == true)
        #expect(plane.groups.count == 1 && plane.groups[0].isShared)
        #expect(plane.source(of: ben) === plane.group(of: ben))
    }

    @Test("with enough encoders each receiver has one")
    func dedicated() throws {
        let plane = makePlane(encoders: nil, receivers: [ada, ben])
        let first = try encode(plane, tick: 0, for: [ada, ben])
        #expect(Set(first.map(\.receivers)) == [[ada], [ben]])
        #expect(plane.groups.allSatisfy { !$0.isShared })
    }

    @Test("a receiver with a full link gets nothing until a keyframe, and the other continues")
    func fullLink() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben])
        _ = try encode(plane, tick: 0, for: [ada, ben])
        var deliveries: [[ParticipantID]] = []
        // Two seconds' worth waits on Ben's link, which is more than any frame may find there.
        for number in Int64(60)..<70 {
            deliveries += try encode(
                plane, tick: number, for: [ada, ben], owing: [ben: DataSize(bytes: 125_000)]
            ).map(\.receivers)
        }
        #expect(!deliveries.isEmpty && deliveries.allSatisfy { $0 == [ada] })
        #expect(plane.group(of: ben) != nil && plane.source(of: ben) == nil)
    }

    @Test("a receiver of a source's own packets leaves its group, which ends with its last subscriber")
    func leaves() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben])
        _ = try encode(plane, tick: 0, for: [ada, ben])
        plane.leaveGroups(ben)
        #expect(plane.group(of: ben) == nil)
        _ = try encode(plane, tick: 1, for: [ada])
        #expect(plane.groups.count == 1 && !plane.groups[0].isShared)
        plane.remove(ada)
        _ = try encode(plane, tick: 2, for: [])
        #expect(plane.groups.isEmpty)
    }

    @Test("a receiver that has moved to another encoder is sent the frames of that one alone")
    func moves() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben])
        #expect(try encode(plane, tick: 0, for: [ada, ben]).map(\.receivers) == [[ada, ben]])
        // From now on they see different pictures.
        for number in Int64(1)..<200 { _ = try encode(plane, tick: number, for: [ada, ben], unreachable: []) }
        let receivers = try encode(plane, tick: 200, for: [ada, ben], unreachable: []).flatMap(\.receivers)
        #expect(receivers.count == 2 && Set(receivers) == [ada, ben])
    }

    @Test("the encoder of a receiver that cannot be reached ends, and another receiver has its place")
    func unreachable() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben, cem])
        _ = try encode(plane, tick: 0, for: [ada, ben], unreachable: [])
        #expect(plane.groups.count == 2)
        _ = try encode(plane, tick: 1, for: [ada, ben], unreachable: [ben])
        #expect(plane.groups.map(\.subscribers.members) == [[ada]])
        let third = try encode(plane, tick: 2, for: [ada, ben, cem], unreachable: [ben])
        #expect(third.contains { $0.receivers == [cem] && $0.frame.isKeyframe })
        let back = try encode(plane, tick: 3, for: [ada, ben, cem], unreachable: [])
        #expect(back.contains { $0.receivers == [ben] && $0.frame.isKeyframe })
    }

    /// The temporal layers of the frames of some ticks.
    private func layers(
        _ plane: EncoderPlane, ticks: Range<Int64>, owing: [ParticipantID: DataSize] = [:]
    ) throws -> Set<Int> {
        var layers: Set<Int> = []
        for number in ticks {
            for delivery in try encode(plane, tick: number, for: [ada, ben], owing: owing) {
                layers.insert(delivery.frame.statistics.temporalLayer)
            }
        }
        return layers
    }

    @Test("frames have temporal layers at first and once a receiver is behind, until none was for 20 s")
    func temporalLayers() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben])
        #expect(try layers(plane, ticks: 0..<60) == [0, 1, 2])
        _ = try layers(plane, ticks: 600..<720)
        #expect(try layers(plane, ticks: 720..<780) == [0])
        // 270 ms wait on Ben's link.
        _ = try layers(plane, ticks: 780..<782, owing: [ben: DataSize(bytes: 17_000)])
        _ = try layers(plane, ticks: 782..<900)
        #expect(try layers(plane, ticks: 900..<960) == [0, 1, 2])
        #expect(try layers(plane, ticks: 1300..<1340) == [0, 1, 2])
        _ = try layers(plane, ticks: 1390..<1510)
        #expect(try layers(plane, ticks: 1510..<1570) == [0])
    }

    @Test("an encoder without temporal layers makes no keyframe for them")
    func noLayers() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben], backEnd: .x264)
        _ = try encode(plane, tick: 0, for: [ada, ben])
        var keyframes = 0
        for number in Int64(590)..<900 {
            // 270 ms wait on Ben's link.
            let owing = (780..<782).contains(number) ? [ben: DataSize(bytes: 17_000)] : [:]
            keyframes += try encode(plane, tick: number, for: [ada, ben], owing: owing).count(where: \.frame.isKeyframe)
        }
        #expect(keyframes == 0)
    }

    @Test("frames have temporal layers if the network of one receiver carries a tenth less than the group's rate")
    func slowerReceiver() throws {
        let plane = makePlane(encoders: 1, receivers: [ada, ben])
        _ = try layers(plane, ticks: 0..<30)
        _ = try layers(plane, ticks: 600..<720)
        plane.setBitRate(VideoBitRate(target: .kilobits(400), sustained: .kilobits(400)), of: ben)
        _ = try layers(plane, ticks: 720..<840)
        #expect(try layers(plane, ticks: 840..<900) == [0, 1, 2])
    }
}
