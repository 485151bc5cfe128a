import H264
import MediaCore
import NIOCore
import Testing

@Suite struct SampleBufferTests {
    private let slice = NALUnit(header: 0x65, payload: [0x80, 1])
    private let delimiter = NALUnit(header: 0x09, payload: [0x10])

    private func format() throws -> VideoFormatDescription {
        try VideoFormatDescription(h264ParameterSets: [Sample.baselineSPS.bytes, Sample.baselinePPS.bytes])
    }

    @Test func `parameter sets are in a sample's format and not in its data`() throws {
        let sample = SampleBuffer(
            nalUnits: [Sample.baselineSPS, Sample.baselinePPS, slice], format: try format(), presentationTime: .zero)
        #expect(sample.data.contiguous().array == [0, 0, 0, 3, 0x65, 0x80, 1])
        #expect(sample.isSync)
    }

    @Test func `a sync sample is sent with its parameter sets, behind a delimiter`() throws {
        let sample = SampleBuffer(
            nalUnits: [delimiter, slice], format: try format(), presentationTime: .zero)
        #expect(try sample.nalUnits() == [delimiter, Sample.baselineSPS, Sample.baselinePPS, slice])
    }

    @Test func `other samples are sent as they are`() throws {
        let predicted = NALUnit(header: 0x41, payload: [0x80, 1])
        let sample = SampleBuffer(nalUnits: [predicted], format: try format(), presentationTime: .zero)
        #expect(!sample.isSync)
        #expect(try sample.nalUnits() == [predicted])
    }
}
