import TestSupport
import Testing

@testable import ChuteKit

@Suite struct OrderKeyTests {
    private static let numbers: [Value] = [
        .double(-.infinity), .double(-1e300), .integer(.min), .integer(.min + 1), -1, -0.5, 0,
        .double(.leastNonzeroMagnitude), 0.5, 1, 1.5, .integer(1 << 53), .integer(1 << 53 + 1),
        .double(0x1p53 + 2), .integer(.max - 1024), .integer(.max - 1), .integer(.max),
        .double(0x1p63), .double(.infinity),
    ]

    @Test func `whole and other numbers have one order, without rounding`() {
        for (one, left) in Self.numbers.enumerated() {
            for (two, right) in Self.numbers.enumerated() {
                let order = ByteOrder.compare(OrderKey.of(left), OrderKey.of(right))
                #expect(order.signum() == (one - two).signum(), "\(left) and \(right)")
            }
        }
        #expect(OrderKey.of(1) == OrderKey.of(1.0))
        #expect(OrderKey.of(.double(-0.0)) == OrderKey.of(0))
        #expect(OrderKey.of(.integer(1 << 62)) == OrderKey.of(.double(0x1p62)))
        #expect(OrderKey.isNaN(OrderKey.of(.double(.nan))))
        for number in Self.numbers { #expect(!OrderKey.isNaN(OrderKey.of(number))) }
    }

    @Test(arguments: 0..<8)
    func `keys have the order of the values, turned where they are inverted`(seed: UInt64) {
        var source = RandomDocuments(seed: seed)
        for _ in 0..<2000 {
            let left = source.number(0...9) == 0 ? nil : source.value()
            let right = source.number(0...9) == 0 ? nil : source.value()
            var keys = [OrderKey.of(left), OrderKey.of(right)]
            let expected =
                NaiveQuery.precedes(left, right) ? -1 : NaiveQuery.precedes(right, left) ? 1 : 0
            #expect(ByteOrder.compare(keys[0], keys[1]) == expected)
            for place in keys.indices { OrderKey.invert(&keys[place], from: 0) }
            #expect(ByteOrder.compare(keys[0] + [1], keys[1] + [1]) == -expected)
        }
    }
}
