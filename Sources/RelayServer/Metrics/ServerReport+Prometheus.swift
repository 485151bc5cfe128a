import Conference

extension ServerReport {
    /// The report as `GET /metrics` gives it; `docs/metrics.md` lists the names.
    func prometheusText() -> String {
        var text = PrometheusText()
        for family in MetricFamily.relay + MetricFamily.overload { text.write(family, of: [(self, [])]) }
        let subjects = MetricSubjects(relay)
        for family in MetricFamily.room { text.write(family, of: subjects.rooms) }
        for family in MetricFamily.participant { text.write(family, of: subjects.participants) }
        return text.text
    }
}
