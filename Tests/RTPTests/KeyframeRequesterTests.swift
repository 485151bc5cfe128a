import MediaCore
import Testing

@testable import RTP

@Suite("Requests for keyframes")
struct KeyframeRequesterTests {
    private var requester = KeyframeRequester()

    /// Polls each millisecond up to a time, and returns the times of the requests, in milliseconds.
    private mutating func requests(
        in times: Range<Int64>, roundTripTime: Duration = .milliseconds(50)
    ) -> [Int64] {
        var requests: [Int64] = []
        for time in times
        where requester.takeRequest(roundTripTime: roundTripTime, now: .milliseconds(time)) {
            requests.append(time)
        }
        return requests
    }

    @Test("go out at once, then at growing intervals until the keyframe comes")
    mutating func intervals() {
        requester.need(now: .milliseconds(1000))
        #expect(requests(in: 1000..<2100) == [1000, 1250, 1625])
        requester.keyframeArrived()
        #expect(requests(in: 2100..<9000) == [])
    }

    @Test("of another keyframe do not wait for the interval that had grown for the last one")
    mutating func anotherLoss() {
        requester.need(now: .milliseconds(1000))
        let last = requests(in: 1000..<9000).last ?? 0
        requester.keyframeArrived()
        requester.need(now: .milliseconds(9000))
        // The last request is less than the two seconds ago to which the interval had grown.
        #expect(last > 7100)
        #expect(requests(in: 9000..<9100) == [9000])
    }

    @Test("of another keyframe still keep two round trips")
    mutating func roundTrips() {
        requester.need(now: .milliseconds(1000))
        #expect(requests(in: 1000..<1001, roundTripTime: .milliseconds(200)) == [1000])
        requester.keyframeArrived()
        requester.need(now: .milliseconds(1210))
        #expect(requests(in: 1210..<1500, roundTripTime: .milliseconds(200)) == [1400])
    }
}
