import MediaCore
import Testing

@testable import LinkEmulation

@Suite("Descriptions of links")
struct LinkProfileTests {
    private func parse(_ text: String, trace: String = "10\n20\n") throws(LinkProfileError) -> LinkProfile {
        try LinkProfile(parsing: text) { path throws(LinkProfileError) in
            guard path == "FILE" else { throw .unreadableTrace(path: path, reason: "no such file") }
            return trace
        }
    }

    @Test("a link is described by its keys, in any order")
    func keys() throws {
        let profile = try parse("loss=1%, rate=500k,delay=40ms,jitter=5ms,queue=300ms,reorder=yes")
        #expect(
            profile
                == LinkProfile(
                    rate: .fixed(.kilobits(500)), delay: .milliseconds(40), jitter: .milliseconds(5), reorders: true,
                    loss: 0.01, queue: .duration(.milliseconds(300))))
        #expect(try parse("") == LinkProfile())
    }

    @Test("rates, times, parts and queues have units")
    func units() throws {
        #expect(try parse("rate=2.5M").rate == .fixed(.megabits(2.5)))
        #expect(try parse("rate=64000").rate == .fixed(.kilobits(64)))
        #expect(try parse("rate=800kbit/s").rate == .fixed(.kilobits(800)))
        #expect(try parse("rate=unlimited").rate == .unlimited)
        #expect(try parse("delay=1.5s").delay == .milliseconds(1500))
        #expect(try parse("delay=0").delay == .zero)
        #expect(try parse("loss=0.25").loss == 0.25)
        #expect(try parse("queue=64kB").queue == .size(DataSize(bytes: 64_000)))
        #expect(try parse("queue=1000p").queue == .packets(1000))
    }

    @Test("a rate may change in steps")
    func steps() throws {
        #expect(
            try parse("rate=2.5M/500k@20s/2M@40s").rate
                == .steps([
                    .init(at: .zero, rate: .megabits(2.5)), .init(at: .seconds(20), rate: .kilobits(500)),
                    .init(at: .seconds(40), rate: .megabits(2)),
                ]))
    }

    @Test("a trace comes from the caller")
    func trace() throws {
        let profile = try parse("trace=FILE,delay=20ms")
        guard case .trace(let trace) = profile.rate else {
            Issue.record("there is no trace")
            return
        }
        #expect(trace.period == .milliseconds(20))
        #expect(trace.meanRate == .kilobits(1200))
    }

    @Test(
        "mistakes are named, with the expected form",
        arguments: [
            ("speed=5", "no 'speed'"), ("rate=fast", "'rate=fast'"), ("rate=0", "expected a rate"),
            ("rate=1000001M", "expected a rate"), ("queue=1e13B", "a size such as 64kB"),
            ("rate=1M/2M", "'rate=1M/2M'"), ("rate=1M@5s/2M@3s", "expected a rate"), ("delay=40", "expected a time"),
            ("delay=-3ms", "expected a time"), ("loss=150%", "at most 100%"), ("queue=full", "a size such as 64kB"),
            ("rate=1M,rate=2M", "given twice"), ("rate=1M,trace=FILE", "exclude each other"),
            ("trace=", "the path of a file"), ("trace=other", "cannot read the trace 'other'"), ("delay", "'delay='"),
            ("jitter=nanms", "expected a time"), ("reorder=maybe", "yes or no"),
        ])
    func errors(text: String, message: String) {
        let error = #expect(throws: LinkProfileError.self) { try parse(text) }
        #expect(error?.description.contains(message) == true)
    }

    @Test(
        "a trace that is none is refused with its line",
        arguments: [("10\nx\n", 2), ("10\n5\n", 2), ("", 1), ("0\n0\n", 3), ("1\n2 3\n", 2), ("99999999999\n", 1)])
    func brokenTraces(text: String, line: Int) {
        let error = #expect(throws: LinkProfileError.self) { try DeliveryTrace(parsing: text) }
        guard case .invalidTrace(let number, _)? = error else {
            Issue.record("not an error of the trace")
            return
        }
        #expect(number == line)
    }

    @Test("comments, empty lines and line ends of other systems are skipped")
    func comments() throws {
        #expect(try DeliveryTrace(parsing: "# made up\r\n\r\n10\r\n20\r\n").times == [10, 20])
    }

    @Test("hostile descriptions and traces never trap")
    func hostile() {
        var generator = SeededGenerator(seed: 1)
        let alphabet = Array("rate=trace,delay jitter%lossqueue0123456789.kMsm/@p-+eB#\n\u{e9}inf")
        let valid = Array("rate=2.5M/500k@20s,delay=40ms,jitter=5ms,loss=1%,queue=300ms")
        for _ in 0..<20_000 {
            var text = valid
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let place = Int.random(in: 0..<text.count, using: &generator)
                text[place] = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            if let profile = try? parse(String(text)) {
                var link = LinkModel<Int>(profile: profile, seed: 1, start: .zero)
                link.send(0, size: DataSize(bytes: 1200), now: .zero)
                _ = link.deliver(now: .zero)
            }
            let lines = (0..<5).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
            _ = try? DeliveryTrace(parsing: String(lines))
        }
    }
}
