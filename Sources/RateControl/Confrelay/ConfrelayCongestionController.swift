public import MediaCore
internal import NIOCore

public struct ConfrelayCongestionController: CongestionController {
    struct InFlight { var sequence: Int64; var size: Double; var sendTime: Double }

    var limits: RateLimits
    let p: ConfrelayParameters
    let util, drain, tau, hold, pace, fb, tick, dwin, slowtau, slowgain, margin: Double

    // All times in seconds.
    var inFlight = CircularBuffer<InFlight>()
    var inFlightBytes = 0.0
    var baseForward: WindowedMinimum<Double>
    var baseReverse: WindowedMinimum<Double>
    var lastArrival: Double?
    var lastSend = 0.0
    var bytes = 0.0, busy = 0.0
    var sbytes = 0.0, sbusy = 0.0
    var delays = CircularBuffer<(time: Double, delay: Double)>()
    var target: BitRate
    var capacityNow: Double
    var d = 0.0, dmin = 0.0
    var rtt: Duration?
    var lost = 0.0
    var lastQueue = 0.0
    var probeCount = 0
    var queued = 0.0
    public mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) { queued = Double(size.bytes) }

    public init(limits: RateLimits, parameters: ConfrelayParameters = .init(), now: MonotonicInstant) {
        self.limits = limits
        p = parameters
        util = p["util"]; drain = p["drain"]; tau = p["tau"]; hold = p["hold"]; pace = p["pace"]; fb = p["fb"]
        tick = p["tick"]; dwin = p["dwin"]; slowtau = p["slowtau"]; slowgain = p["slowgain"]; margin = p["margin"]
        baseForward = WindowedMinimum(window: .milliseconds(Int64(p["basewin"] * 1000)))
        baseReverse = WindowedMinimum(window: .milliseconds(Int64(p["basewin"] * 1000)))
        target = limits.start
        capacityNow = Double(limits.start.bitsPerSecond) / 8 / util
        bytes = capacityNow * tau
        busy = tau
        sbytes = capacityNow * slowtau
        sbusy = slowtau
    }

    func seconds(_ t: MonotonicInstant) -> Double { Double(t.nanoseconds) / 1e9 }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        inFlight.append(
            InFlight(sequence: packet.transportSequence, size: Double(packet.size.bytes), sendTime: seconds(now)))
        inFlightBytes += Double(packet.size.bytes)
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        let t = seconds(now)
        lastHeard = t
        keepAlive = 0
        var newest = -Double.infinity
        for r in report.results {
            if let a = r.receiveTime { newest = max(newest, seconds(a)) }
        }
        var results = report.results
        results.sort { ($0.receiveTime ?? .zero, $0.sent.transportSequence) < ($1.receiveTime ?? .zero, $1.sent.transportSequence) }
        if newest > -.infinity { lastFeedback = newest }
        if newest > -.infinity { baseReverse.add(t - newest, now: now) }
        let newestSequence = report.results.reduce(-1) { max($0, $1.sent.transportSequence) }
        while let f = inFlight.first, f.sequence <= newestSequence {
            inFlight.removeFirst()
            inFlightBytes -= f.size
        }
        for r in results {
            guard let ra = r.receiveTime else { continue }
            let a = seconds(ra), s = seconds(r.sent.sendTime), size = Double(r.sent.size.bytes)
            baseForward.add(a - s, now: now)
            let base = baseForward.value ?? a - s
            rtt = .milliseconds(Int64((base + (baseReverse.value ?? 0)) * 1000))
            lastQueue = a - s - base
            if let last = lastArrival, a >= last {
                let delta = a - last
                let queued = s + base + margin < last
                let train = s - lastSend <= p["train"] * size / capacityNow
                if !queued {
                    let wait = a - s - base
                    jitter += p["jeta"] * (wait > jitter ? p["jq"] : p["jq"] - 1) * 0.01
                    jitter = min(max(jitter, 0), 0.05)
                    let late = wait - jitter * p["jgain"] - size / capacityNow * p["idle"]
                    if late > 0, late < delta { add(0, late, at: a); lastArrival = a; lastSend = s; continue }
                }
                if queued || train { add(size, delta, at: a); learn(size, delta, at: a) }
            }
            lastArrival = max(lastArrival ?? a, a)
            lastSend = s
        }
        update(t)
    }

    var lastAdd = 0.0
    var lastHeard = 0.0, lastKeepAlive = 0.0, keepAlive = 0.0
    var lastFeedback = 0.0
    var lastGrow = 0.0
    var window = CircularBuffer<(time: Double, size: Double, delta: Double)>()
    var predictions = CircularBuffer<(time: Double, capacity: Double)>()
    var wbytes = 0.0, wbusy = 0.0
    var dev = 0.3
    var jitter = 0.0
    var lastCaution = 0.0
    mutating func learn(_ size: Double, _ delta: Double, at a: Double) {
        let h = p["vh"]
        window.append((a, size, delta)); wbytes += size; wbusy += delta
        while let f = window.first, f.time < a - h { wbytes -= f.size; wbusy -= f.delta; window.removeFirst() }
        guard a - lastCaution >= 0.033 else { return }
        lastCaution = a
        while predictions.count > 1, predictions[offset: 1].time <= a - h { predictions.removeFirst() }
        if let q = predictions.first, q.time <= a - h, wbusy > 0.005 {
            let r = wbytes / wbusy / q.capacity
            dev += p["deveta"] * (min(abs(r - 1), 1) - dev)
        }
        predictions.append((a, capacityNow))
    }
    mutating func add(_ size: Double, _ whole: Double, at a: Double) {
        let wall = max(0, a - lastAdd)
        lastAdd = a
        let delta = min(whole, p["cap"])
        let rate = bytes / busy
        let up = size / max(delta, 1e-6) > rate ? p["up"] : 1
        var k = exp2(-delta * up / tau - min(wall, 1) * p["wall"])
        bytes = bytes * k + size
        busy = busy * k + delta
        k = exp2(-delta / slowtau)
        sbytes = sbytes * k + size
        sbusy = sbusy * k + delta
    }

    func exp2(_ x: Double) -> Double {
        // good enough: e^x by squaring
        var y = 1 + x / 1024
        if y < 0 { return 0 }
        for _ in 0..<10 { y *= y }
        return y
    }

    mutating func update(_ t: Double) {
        guard let base = baseForward.value, let rev = baseReverse.value, let last = lastArrival else { return }
        if dmin <= 0.002, lastQueue < 0.01 + jitter, lastGrow > 0 {
            let k = 1 + p["grow"] * min(0.1, t - lastGrow)
            bytes *= k
            sbytes *= k
        }
        lastGrow = t
        let possible = t - rev - margin
        let known = p["kn"] > 0 ? (possible >= lastFeedback + fb ? possible : lastFeedback) : possible - fb  // receiver clock: whatever arrived before is known
        var silent = 0.0
        var f = last
        if let first = inFlight.first {
            let due = max(last, first.sendTime + base)
            silent = max(0, known - due - first.size / capacityNow)
        }
        silent = min(silent, p["cap"])
        let decay = exp2(-silent / tau)
        let sdecay = exp2(-silent / slowtau)
        let fast = (bytes * decay) / (busy * decay + silent)
        let slow = (sbytes * sdecay) / (sbusy * sdecay + silent)
        capacityNow = max(min(fast, slow * slowgain), 1000)
        var isFirst = true
        for packet in inFlight {
            f = max(f, packet.sendTime + base) + packet.size / capacityNow
            if isFirst {
                if known > f { f = known + (known - f) * p["kappa"] }
                isFirst = false
            }
        }
        f += queued * p["qw"] / capacityNow
        d = max(0, f - t - base - jitter * p["jd"])
        while let x = delays.first, x.time < t - dwin { delays.removeFirst() }
        delays.append((t, d))
        dmin = delays.reduce(.infinity) { min($0, $1.delay) }
        let rate = capacityNow * max(0, util - p["kdev"] * dev - max(0, dmin - p["d0"]) / drain)
        target = BitRate(bitsPerSecond: rate * 8).clamped(to: limits.range)
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {}
    public mutating func receiverReportReceived(fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant) {}
    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {}
    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) { self.limits = limits }

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        let t = seconds(now)
        update(t)
        if let f = inFlight.first {
            let silence = t - max(f.sendTime, lastHeard)
            if silence > 0.5, t - lastKeepAlive > 0.1 {
                lastKeepAlive = t
                keepAlive = inFlightBytes + 1
            }
        }
        let window = max(keepAlive,inFlightBytes + capacityNow * (hold - d), 2400)
        let trickle = d > hold && d < p["trickle"]
        let pacing = trickle ? Double(limits.minimum.bitsPerSecond) * 1.5 : max(max(capacityNow * 8, Double(target.bitsPerSecond)) * pace, p["minpace"] * 1000)
        return ControlDecision(
            targetBitRate: target, pacingRate: BitRate(bitsPerSecond: pacing),
            congestionWindow: lastArrival == nil || trickle ? nil : DataSize(bytes: window),
            frameTimeout: .milliseconds(Int64(p["timeout"] * 1000)),
            feedbackInterval: .nanoseconds(Int64(fb * 1e9)),
            nextWakeUp: now + .nanoseconds(Int64(tick * 1e9)))
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: target, pacingRate: BitRate(bitsPerSecond: capacityNow * 8 * pace),
            acknowledgedBitRate: BitRate(bitsPerSecond: sbytes / sbusy * 8),
            linkCapacity: BitRate(bitsPerSecond: capacityNow * 8), networkState: .normal, limit: .delay,
            delayTrend: jitter * 1000, delayThreshold: dev * 1000, roundTripTime: rtt)
    }
}
