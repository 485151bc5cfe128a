/// The division of receivers into groups with the least loss, with the price of the encoders.
///
/// Receivers of one key, sorted by their rates, are divided into runs: the loss grows with the distance of the rates,
/// so some best division consists of runs, as in optimal one-dimensional clustering (Fisher 1958). Dynamic programming
/// finds it, and then distributes the encoders to the keys.
package struct EncodePartition {
    /// The loss with 1, 2, … groups for each key, and the start of the last group.
    private struct Choices {
        var loss: [Double]
        /// `[groups - 1][count]`: the start of the last group if this many receivers make this many groups.
        var begins: [[Int]]
        var count: Int

        func runs(_ groups: Int) -> [Range<Int>] {
            var runs: [Range<Int>] = []
            var end = count
            for index in stride(from: groups - 1, through: 0, by: -1) {
                let begin = begins[index][end]
                runs.append(begin..<end)
                end = begin
            }
            return runs.reversed()
        }
    }

    /// - Parameters:
    ///   - levels: For each key the logarithms of its receivers' rates, in rising order; each key has at least one.
    ///   - budget: The most groups, or one per key if there are more keys.
    /// - Returns: For each key the runs of its receivers that make a group.
    package static func best(_ levels: [[Double]], budget: Int, loss: EncodeLoss) -> [[Range<Int>]] {
        let spare = max(0, budget - levels.count)
        let choices = levels.map { divisions($0, maximum: min($0.count, spare + 1), loss: loss) }
        // The loss of the keys so far for each number of groups beyond one each, and the last key's share of these
        // groups.
        var least = [Double](repeating: 0, count: spare + 1)
        var extras: [[Int]] = []
        for choice in choices {
            var next = [Double](repeating: .infinity, count: spare + 1)
            var taken = [Int](repeating: 0, count: spare + 1)
            for total in 0...spare {
                for extra in 0..<min(choice.loss.count, total + 1) {
                    let sum = least[total - extra] + choice.loss[extra] + loss.encoder * Double(extra)
                    if sum < next[total] - 1e-9 { (next[total], taken[total]) = (sum, extra) }
                }
            }
            least = next
            extras.append(taken)
        }
        // More encoders than are worth their price stay unused.
        var left = least.indices.min { least[$0] < least[$1] } ?? 0
        var runs: [[Range<Int>]] = []
        for (choice, taken) in zip(choices, extras).reversed() {
            runs.append(choice.runs(taken[left] + 1))
            left -= taken[left]
        }
        return runs.reversed()
    }

    private static func divisions(_ levels: [Double], maximum: Int, loss: EncodeLoss) -> Choices {
        let count = levels.count
        let runs = loss.ofRuns(levels)
        var least = [[Double](repeating: .infinity, count: count + 1)]
        var begins = [[Int](repeating: 0, count: count + 1)]
        for end in 1...count { least[0][end] = runs[0][end - 1] }
        for groups in 1..<max(1, maximum) {
            var row = [Double](repeating: .infinity, count: count + 1)
            var starts = [Int](repeating: 0, count: count + 1)
            for end in (groups + 1)...count {
                for begin in groups..<end {
                    let sum = least[groups - 1][begin] + runs[begin][end - 1]
                    if sum < row[end] { (row[end], starts[end]) = (sum, begin) }
                }
            }
            least.append(row)
            begins.append(starts)
        }
        return Choices(loss: least.map { $0[count] }, begins: begins, count: count)
    }
}
