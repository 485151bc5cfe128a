/// The style of the page, for light and dark backgrounds and for paper, without external resources.
enum HTMLStyle {
    /// The CSS rules of a page, including the rules of plots.
    static var css: String {
        """
        :root{color-scheme:light dark}
        \(plotRules)
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem;max-width:84rem;background:var(--bg);color:var(--fg);
        font:15px/1.45 system-ui,sans-serif}
        h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.25rem;margin:2.2rem 0 .5rem}
        h3{font-size:1rem;margin:0 0 .2rem}p{margin:.3rem 0;max-width:60rem}
        .mute{color:var(--mute);font-size:.85rem}
        code{font:.85em ui-monospace,monospace;overflow-wrap:anywhere}
        a{color:var(--c1)}nav a{margin-right:.9rem;white-space:nowrap}
        .wide{overflow-x:auto}
        table{border-collapse:collapse;font-size:.8rem;font-variant-numeric:tabular-nums;margin:.4rem 0}
        th,td{padding:.16rem .5rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}
        thead th{color:var(--mute);font-weight:600;vertical-align:bottom;white-space:normal}
        th.n,tbody th{text-align:left;font-weight:500}
        section.card{background:var(--card);border:1px solid var(--grid);border-radius:6px;padding:.8rem;
        margin:.8rem 0;break-inside:avoid}
        .row{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));gap:.6rem;margin:.3rem 0}
        .row figure{min-width:0;margin:0}
        .row figure.large{grid-column:1/-1;max-width:60rem}
        figcaption{font-size:.8rem;color:var(--mute)}
        svg{display:block;width:100%;height:auto}
        .legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:.4rem 0;padding:0;list-style:none;font-size:.85rem}
        .legend svg{display:inline-block;width:44px;height:14px;vertical-align:-2px;margin-right:.35rem}
        .sticky{position:sticky;top:0;background:var(--bg);padding:.3rem 0;border-bottom:1px solid var(--grid);\
        z-index:1}
        details summary{cursor:pointer;color:var(--mute);font-size:.85rem}
        @media print{body{max-width:none}.sticky{position:static}}
        """
    }

    /// The CSS rules that plots need, on a page or in a file of their own.
    static var plotRules: String {
        let light = SeriesStyle.colours.enumerated().map { "--c\($0):\($1.light)" }.joined(separator: ";")
        let dark = SeriesStyle.colours.enumerated().map { "--c\($0):\($1.dark)" }.joined(separator: ";")
        let classes = SeriesStyle.colours.indices.map { index in
            let dash = SeriesStyle.dashes[index]
            return ".c\(index){color:var(--c\(index))}"
                + (dash.isEmpty ? "" : ".d\(index){stroke-dasharray:\(dash)}")
        }.joined(separator: "\n")
        return """
            :root{--bg:#fff;--fg:#1c1c1c;--mute:#5a5a5a;--grid:#e6e6e6;--axis:#8a8a8a;--cap:#dfe3e8;--card:#f8f8f8;
            \(light)}
            @media(prefers-color-scheme:dark){:root{--bg:#131518;--fg:#ececec;--mute:#a8a8a8;--grid:#2b2e33;--axis:#777;
            --cap:#33383f;--card:#1a1d21;\(dark)}}
            text{font:10px system-ui,sans-serif;fill:var(--mute)}
            .tx{text-anchor:middle}.ty{text-anchor:end}.tt{fill:var(--fg)}
            .g{stroke:var(--grid);fill:none}.ax{stroke:var(--axis);fill:none}
            .cap{fill:var(--cap);stroke:none}
            .l{fill:none;stroke:currentColor;stroke-width:1.4;stroke-linejoin:round}
            .p path{fill:currentColor;fill-opacity:.45;stroke:currentColor;stroke-width:.6}
            .m path{fill:currentColor;stroke:var(--fg);stroke-width:1.3}
            \(classes)
            """
    }
}
