import MediaCore
import Testing

@testable import Compositing

@Suite("Stacking order")
struct StackingOrderTests {
    private let whole = PixelRect(x: 0, y: 0, width: 640, height: 360)
    private let corner = PixelRect(x: 470, y: 260, width: 160, height: 90)
    private let left = PixelRect(x: 0, y: 90, width: 320, height: 180)
    private let right = PixelRect(x: 320, y: 90, width: 320, height: 180)

    private typealias Movement = StackingOrder.Movement

    @Test("leaving layers lie lowest, then those that stay, those that come, and moving ones, the largest on top")
    func free() {
        func tile(_ column: Int, _ width: Int = 20) -> PixelRect {
            PixelRect(x: column * 40, y: 0, width: width, height: 20)
        }
        let order = StackingOrder(
            current: [tile(0), tile(1), tile(2), tile(3)], target: [tile(5, 30), tile(2), tile(6), tile(7)])
        let glides = [Movement(current: 0, target: 0), Movement(current: 1, target: 2)]
        let (stays, comes, goes) = (
            Movement(current: 2, target: 1), Movement(current: nil, target: 3), Movement(current: 3, target: nil)
        )
        #expect(
            order.sorted([glides[0], comes, glides[1], stays, goes]) == [goes, stays, comes, glides[1], glides[0]])
    }

    @Test("a layer that lies above another stays above until it has gone")
    func goingAbove() {
        let order = StackingOrder(current: [whole, corner], target: [whole])
        let movements = [Movement(current: 0, target: 0), Movement(current: 1, target: nil)]
        #expect(order.sorted(movements) == movements)
    }

    @Test("a layer that ends above another is above from the beginning")
    func comingAbove() {
        let order = StackingOrder(current: [left], target: [whole, corner])
        let movements = [Movement(current: 0, target: 0), Movement(current: nil, target: 1)]
        #expect(order.sorted(movements) == movements)
    }

    @Test("when two layers exchange places, one within the other, one moves over the other, which fades out and in")
    func changingPlaces() {
        let order = StackingOrder(current: [whole, corner], target: [whole, corner])
        let sorted = order.sorted([Movement(current: 1, target: 0), Movement(current: 0, target: 1)])
        #expect(
            sorted == [
                Movement(current: 0, target: nil), Movement(current: 1, target: 0), Movement(current: nil, target: 1),
            ])
    }

    @Test("two that change places beside each other both glide")
    func crossing() {
        let order = StackingOrder(current: [left, right], target: [left, right])
        let movements = [Movement(current: 1, target: 0), Movement(current: 0, target: 1)]
        #expect(order.sorted(movements) == movements)
    }
}
