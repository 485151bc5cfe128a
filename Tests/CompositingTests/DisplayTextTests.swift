import Testing

@testable import Compositing

@Suite("Names as they are drawn")
struct DisplayTextTests {
    @Test(
        "the visible part of a name is not changed",
        arguments: [
            "Ada Lovelace", "김민준", "محمد علي", "王小明", "नमस्ते", "Nguyễn Thị Ánh", "e\u{301}va", "👩‍👩‍👧 🎉 ❤️ 🇰🇷 1️⃣",
            "می‌خواهم", "שָׁלוֹם", "O'Brien-Smith, Jr. (he/him)", "<b>&",
        ])
    func kept(name: String) {
        #expect(DisplayText(name).string.unicodeScalars.elementsEqual(name.unicodeScalars))
    }

    @Test(
        "invisible and disturbing characters are left out",
        arguments: [
            ("", ""), (" \t\n", ""), ("  Ada \t\n Lovelace  ", "Ada Lovelace"),
            ("a\u{2028}b\u{2029}c\u{85}d", "a b c d"),
            ("\u{0}\u{7}\u{1B}[31mx", "[31mx"), ("\u{202E}evil\u{202C}", "evil"),
            ("\u{2066}a\u{2069}\u{200F}b\u{61C}", "ab"),
            ("\u{301}\u{20DD}a", "a"), ("a \u{301}b", "a b"), ("\u{200D}a\u{200D}\u{200D}b\u{200D}", "a\u{200D}b"),
            ("\u{FEFF}x\u{AD}y\u{3164}z", "xyz"), ("\u{E000}\u{10FFFF}\u{378}k", "k"), ("a\u{200D} b", "a\u{200D} b"),
        ])
    func dropped(name: String, expected: String) {
        #expect(DisplayText(name).string.unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test("a character bears a few marks")
    func marks() {
        let text = DisplayText("a" + String(repeating: "\u{301}", count: 900) + "b\u{302}")
        #expect(text.string.unicodeScalars.count == 1 + DisplayText.maximumMarkCount + 2)
    }

    @Test("a name of any length is cut, and so is a character without end")
    func long() {
        let wide = DisplayText(String(repeating: "Ab ", count: 1 << 18))
        #expect(wide.string.count == DisplayText.Length.name.characterCount)
        let joined = DisplayText(String(repeating: "👩\u{200D}", count: 1 << 16))
        #expect(joined.string.unicodeScalars.count <= DisplayText.Length.name.scalarCount)
        let jamo = DisplayText(String(repeating: "\u{1100}", count: 1 << 16))
        #expect(jamo.string.unicodeScalars.count <= DisplayText.Length.name.scalarCount)
    }

    @Test("a clean name is clean already")
    func idempotent() {
        for name in LabelTests.hostileNames {
            let once = DisplayText(name)
            #expect(DisplayText(once.string) == once)
        }
    }
}
