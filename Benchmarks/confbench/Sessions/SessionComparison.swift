/// Sessions against the bare codec on the same frames, in turns of a few frames each.
struct SessionComparison {
    var work: String
    /// True if all of them make exactly the same, so that only the session's own cost can differ.
    var isExact = true
    /// The bare codec first.
    var contenders: [SessionContender]

    /// Short, so that the machine is the same for all within a round.
    private static let turn = 10
    /// Frames until pools are filled and the rate control is settled; clips have been played twice by then.
    private static let warmUp = 320

    /// Runs rounds for so long.
    func run(for duration: Duration) throws -> [SessionResult] {
        for contender in contenders { _ = try contender.run(0..<Self.warmUp) }
        let before = contenders.map { $0.product() }
        var costs = contenders.map { _ in [SessionContender.Cost]() }
        var next = Self.warmUp
        let end = ContinuousClock.now + duration
        repeat {
            let frames = next..<next + Self.turn
            for position in contenders.indices {
                // Rotates the order, so that no contender always follows the same other one.
                let index = (position + next / Self.turn) % contenders.count
                costs[index].append(try contenders[index].run(frames))
            }
            next += Self.turn
        } while ContinuousClock.now < end
        let products = zip(contenders, before).map { $0.product() - $1 }
        if isExact, let bare = products.first, products.contains(where: { $0 != bare }) {
            throw BenchmarkError.codecFailed(
                reason: "\(work): the sessions do not make the same as the bare codec (\(products))")
        }
        return contenders.indices.map { index in
            SessionResult(
                work: work, isExact: isExact, contender: contenders[index].name, costs: costs[index],
                bareCosts: costs[0], framesEach: Self.turn)
        }
    }
}
