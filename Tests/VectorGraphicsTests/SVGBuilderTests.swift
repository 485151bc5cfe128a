import Testing
import VectorGraphics

@Suite("SVG as text")
struct SVGBuilderTests {
    @Test("elements, texts and titles are nested as they are written, and escaped")
    func nesting() {
        var svg = SVGBuilder()
        svg.element("g", ["class": "a\"b"]) { svg in
            svg.element("rect", ["x": 1, "width": 2.345], title: "<x> & y")
            svg.text("a < b", ["y": "3"])
        }
        #expect(
            svg.text == """
                <g class="a&quot;b">
                <rect x="1" width="2.3"><title>&lt;x&gt; &amp; y</title></rect>
                <text y="3">a &lt; b</text>
                </g>

                """)
    }

    @Test("a path has one decimal, and leaves out values that are not numbers")
    func path() {
        var path = SVGPath()
        path.move(0, 1.25)
        path.line(.nan, .infinity)
        path.rectangle(1, 2, 3, 4)
        #expect(path.data == "M0 1.3L0 0M1 2H4V6H1Z")
    }

    @Test("characters that XML forbids are replaced")
    func characters() {
        #expect(XMLText.escaped("a\u{0}\u{8}\u{FFFE}\u{FFFF}\n'") == "a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\n&#39;")
    }
}
