import CAvahi

/// The strings of a TXT record in Avahi's own form.
enum AvahiText {
    /// Calls `body` with a list of `strings`, which Avahi keeps last first.
    static func with<Result>(
        _ strings: [[UInt8]], _ body: (UnsafeMutablePointer<AvahiStringList>?) -> Result
    ) -> Result {
        var list: UnsafeMutablePointer<AvahiStringList>?
        for string in strings { list = avahi_string_list_add_arbitrary(list, string, string.count) }
        defer { avahi_string_list_free(list) }
        return body(list)
    }

    /// At most `limit` strings of a list.
    static func strings(
        _ list: UnsafeMutablePointer<AvahiStringList>?, limit: Int = 16
    ) -> [[UInt8]] {
        var strings: [[UInt8]] = []
        var next = list
        while let node = next, strings.count < limit {
            let count = avahi_string_list_get_size(node)
            let text = UnsafeBufferPointer(start: avahi_string_list_get_text(node), count: count)
            strings.append(Array(text))
            next = avahi_string_list_get_next(node)
        }
        return strings
    }
}
