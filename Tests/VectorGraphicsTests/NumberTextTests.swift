import Testing
import VectorGraphics

@Suite("Numbers as text")
struct NumberTextTests {
    @Test(
        "numbers have the decimals asked for",
        arguments: [
            (1.25, 1, "1.3"), (0.04, 2, "0.04"), (-0.04, 1, "0.0"), (-2.5, 0, "-3"), (1234.5678, 3, "1234.568"),
            (99.999, 1, "100.0"), (.infinity, 1, "∞"), (.nan, 1, ""),
        ])
    func fixed(value: Double, decimals: Int, text: String) {
        #expect(NumberText.fixed(value, decimals) == text)
    }

    @Test(
        "short numbers have no zeros at the end",
        arguments: [(1.5, "1.5"), (2.0, "2"), (100, "100"), (0.1249, "0.125")])
    func short(value: Double, text: String) {
        #expect(NumberText.short(value, 3) == text)
    }
}
