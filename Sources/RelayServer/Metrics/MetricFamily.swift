/// A metric family of `GET /metrics`: its name, its meaning, and the source of its samples.
///
/// `/metrics` and the tables of `docs/metrics.md` are written from the same list, so a new metric is one entry.
/// `Subject` is the source of the samples: the whole report, a room or a participant.
struct MetricFamily<Subject> {
    /// One value with the labels that tell it from others of its family.
    struct Sample {
        enum Value {
            case number(Double)
            /// `counts` are the observations of each bucket, and at last those above every bound.
            case histogram(bounds: [Double], counts: [UInt64], sum: Double)
        }

        let value: Value
        let labels: [PrometheusText.Label]

        init(_ value: Value, _ labels: [PrometheusText.Label] = []) {
            self.value = value
            self.labels = labels
        }

        init(_ value: Double, _ labels: [PrometheusText.Label] = []) {
            self.init(.number(value), labels)
        }
    }

    /// The name with its prefix.
    let name: String
    let kind: PrometheusText.Kind
    /// A sentence for people; names in it stand between backticks.
    let meaning: String
    /// The field of the subject that the only sample is read from; nil if there are several samples.
    let field: PartialKeyPath<Subject>?
    /// The samples of a subject; empty while there is no value.
    let samples: (Subject) -> [Sample]

    init(
        _ name: String, _ kind: PrometheusText.Kind, _ meaning: String, field: PartialKeyPath<Subject>? = nil,
        _ samples: @escaping (Subject) -> [Sample]
    ) {
        self.name = "confrelay_\(name)"
        self.kind = kind
        self.meaning = meaning
        self.field = field
        self.samples = samples
    }

    /// A number that only rises; `_total` is appended to its name. Absent while the field is nil.
    static func counter(_ name: String, _ field: KeyPath<Subject, some MetricNumber>, _ meaning: String) -> Self {
        number("\(name)_total", .counter, field, meaning, scale: 1)
    }

    /// A number that rises and falls. Absent while the field is nil.
    ///
    /// - Parameter scale: The field is multiplied by this, to bring it to the metric's unit.
    static func gauge(
        _ name: String, _ field: KeyPath<Subject, some MetricNumber>, _ meaning: String, scale: Double = 1
    ) -> Self {
        number(name, .gauge, field, meaning, scale: scale)
    }

    private static func number(
        _ name: String, _ kind: PrometheusText.Kind, _ field: KeyPath<Subject, some MetricNumber>, _ meaning: String,
        scale: Double
    ) -> Self {
        Self(name, kind, meaning, field: field) { subject in
            subject[keyPath: field].metricValue.map { [Sample($0 * scale)] } ?? []
        }
    }

    /// A number that rises and falls and is no field, nil while it is unknown.
    static func computed(_ name: String, _ meaning: String, _ value: @escaping (Subject) -> Double?) -> Self {
        Self(name, .gauge, meaning) { subject in value(subject).map { [Sample($0)] } ?? [] }
    }

    /// A number that is split by a label. Absent while the values are nil.
    static func split<Count: BinaryInteger>(
        _ name: String, _ kind: PrometheusText.Kind, by label: String, _ meaning: String,
        _ values: @escaping (Subject) -> KeyValuePairs<String, Count>?
    ) -> Self {
        Self(name, kind, meaning) { subject in
            values(subject)?.map { Sample(Double($0.value), [(label, $0.key)]) } ?? []
        }
    }
}

extension PrometheusText {
    /// Writes a family with the samples of all subjects; nothing if there is no sample.
    mutating func write<Subject>(
        _ family: MetricFamily<Subject>, of subjects: some Sequence<(subject: Subject, labels: [Label])>
    ) {
        var hasBegun = false
        for entry in subjects {
            for sample in family.samples(entry.subject) {
                if !hasBegun {
                    begin(family.name, family.kind, help: family.meaning.filter { $0 != "`" })
                    hasBegun = true
                }
                switch sample.value {
                case .number(let value): self.sample(value, entry.labels + sample.labels)
                case .histogram(let bounds, let counts, let sum):
                    histogram(bounds: bounds, counts: counts, sum: sum, entry.labels + sample.labels)
                }
            }
        }
    }
}

/// A value that a metric can show.
protocol MetricNumber {
    /// The number as metrics have it; nil while it is unknown.
    var metricValue: Double? { get }
}

extension MetricNumber where Self: BinaryInteger {
    var metricValue: Double? { Double(self) }
}

extension Int: MetricNumber {}
extension Int64: MetricNumber {}
extension UInt64: MetricNumber {}
extension UInt8: MetricNumber {}

extension Double: MetricNumber {
    var metricValue: Double? { self }
}

extension Bool: MetricNumber {
    var metricValue: Double? { self ? 1 : 0 }
}

extension Optional: MetricNumber where Wrapped: MetricNumber {
    var metricValue: Double? { self?.metricValue }
}
