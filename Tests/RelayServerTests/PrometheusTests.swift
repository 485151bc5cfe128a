import LoadControl
import MediaCore
import PeerConnection
import RoomAPI
import SecureTransport
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Metrics as Prometheus text")
struct PrometheusTests {
    @Test("a family has its help, its type and its samples")
    func families() {
        var text = PrometheusText()
        text.begin("a_total", .counter, help: "Things.")
        text.sample(3)
        text.sample(2.5, [("x", "1"), ("y", "2")])
        #expect(
            text.text == """
                # HELP a_total Things.
                # TYPE a_total counter
                a_total 3
                a_total{x="1",y="2"} 2.5

                """)
    }

    @Test("label values and help texts are escaped")
    func escaping() {
        var text = PrometheusText()
        text.begin("a", .gauge, help: "back\\slash \"and\nline")
        text.sample(1, [("name", "back\\slash \"and\nline")])
        #expect(
            text.text == #"""
                # HELP a back\\slash "and\nline
                # TYPE a gauge
                a{name="back\\slash \"and\nline"} 1

                """#)
    }

    @Test("a histogram's buckets are cumulative")
    func histograms() {
        var text = PrometheusText()
        text.begin("h", .histogram, help: "H.")
        text.histogram(bounds: [0.001, 0.5], counts: [2, 3, 4], sum: 7.25, [("s", "x")])
        #expect(
            text.text.split(separator: "\n").dropFirst(2).joined(separator: "\n") == """
                h_bucket{s="x",le="0.001"} 2
                h_bucket{s="x",le="0.5"} 5
                h_bucket{s="x",le="+Inf"} 9
                h_sum{s="x"} 7.25
                h_count{s="x"} 9
                """)
    }

    @Test("numbers that are none are written as Prometheus does")
    func specialNumbers() {
        var text = PrometheusText()
        text.begin("a", .gauge, help: "A.")
        for value in [Double.nan, .infinity, -.infinity, 1e300, -4] { text.sample(value) }
        let values = text.text.split(separator: "\n").dropFirst(2)
        #expect(values == ["a NaN", "a +Inf", "a -Inf", "a 1e+300", "a -4"])
    }

    private var report: ServerReport {
        var participant = ParticipantSnapshot(id: "p1", name: "Ada \"A\"", role: "sendAndReceive")
        participant.roundTripTime = 40
        participant.uplink.framesDecoded = 17
        participant.downlink.targetBitRate = 480_000
        var histogram = LatencyHistogram()
        histogram.observe(.milliseconds(3))
        participant.uplinkLatency = [StageSnapshot(stage: "decode", histogram: histogram)]
        var overload = OverloadSnapshot()
        overload.level = .sharedView
        overload.seatsLeft = 7
        overload.transitions = 3
        overload.slack.observe(-0.05)
        overload.slack.observe(0.6)
        let relay = RelaySnapshot(
            rooms: [RoomSnapshot(id: "demo", participants: [participant])], overload: overload)
        return ServerReport(
            relay: relay, socket: MediaSocketCounters(), kernelDrops: 5, workers: WorkerPoolStatistics(),
            workerCount: 2, isServing: true)
    }

    @Test("recordings are told with the reasons of their ends, where there may be some")
    func recordings() {
        var report = report
        #expect(!report.prometheusText().contains("confrelay_recordings"))
        report.recordings = RecordingCounters(active: 3, ended: [.diskFull: 2])
        let lines = Set(report.prometheusText().split(separator: "\n").map(String.init))
        for line in [
            "confrelay_recordings 3", #"confrelay_recordings_ended_total{reason="disk_full"} 2"#,
            #"confrelay_recordings_ended_total{reason="failed"} 0"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test("rooms, participants and stages have their samples")
    func samples() {
        let lines = Set(report.prometheusText().split(separator: "\n").map(String.init))
        for line in [
            "confrelay_rooms 1", "confrelay_seats_left 7", "confrelay_overload_level 4",
            "confrelay_overload_transitions_total 3", #"confrelay_tick_slack_ratio_bucket{le="-0.1"} 0"#,
            #"confrelay_tick_slack_ratio_bucket{le="0"} 1"#, #"confrelay_tick_slack_ratio_bucket{le="0.75"} 2"#,
            #"confrelay_tick_slack_ratio_bucket{le="+Inf"} 2"#,
            #"confrelay_room_participants{room="demo"} 1"#,
            #"confrelay_participant_info{room="demo",participant="p1",name="Ada \"A\"",role="sendAndReceive"} 1"#,
            #"confrelay_uplink_frames_decoded_total{room="demo",participant="p1"} 17"#,
            #"confrelay_downlink_target_bits_per_second{room="demo",participant="p1"} 480000"#,
            #"confrelay_round_trip_time_seconds{room="demo",participant="p1"} 0.04"#,
            #"confrelay_uplink_stage_latency_seconds_bucket{room="demo",participant="p1",stage="decode",le="0.004"} 1"#,
            #"confrelay_uplink_stage_latency_seconds_bucket{room="demo",participant="p1",stage="decode",le="0.002"} 0"#,
            "confrelay_socket_receive_drops_total 5",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test("each family appears once, with help and type before its samples")
    func wellFormed() throws {
        var families: Set<Substring> = []
        var current: Substring = ""
        for line in report.prometheusText().split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                current = words[2]
                #expect(families.insert(current).inserted, "\(current) appears twice")
                #expect(current.hasPrefix("confrelay_"))
            } else if line.hasPrefix("# TYPE ") {
                #expect(words[2] == current)
            } else {
                let name = line.prefix { $0 != "{" && $0 != " " }
                let suffixes = ["", "_bucket", "_sum", "_count"].map { current + $0 }
                #expect(suffixes.contains(name), "\(line)")
                #expect(Double(try #require(words.last)) != nil)
            }
        }
        #expect(families.count > 50)
    }

    @Test("the kernel's drops are those of the port's sockets")
    func kernelDrops() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
             1: 0100007F:1B58 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 12
             2: 0100007F:1B59 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 99
            nonsense
             3: 00000000:1B58 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 3
            """
        #expect(KernelDropCounter.drops(port: 7000, tables: [table]) == 15)
        #expect(KernelDropCounter.drops(port: 7002, tables: [table]) == 0)
    }

    @Test("this machine's tables can be read")
    func kernelTables() throws {
        let peer = try UDPPeer()
        #expect(KernelDropCounter(port: peer.address.port).read() == 0)
    }
}
