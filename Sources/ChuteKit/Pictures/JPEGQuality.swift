/// How much of a picture a JPEG keeps.
///
/// The raw values are those that apps of other systems give their encoders, 0 to 1.
public enum JPEGQuality: Double, Sendable, CaseIterable {
    /// The smallest file; blocks can be seen.
    case lowest = 0
    /// For a list of many.
    case low = 0.25
    /// For a look at it.
    case medium = 0.5
    /// Hard to tell from the original.
    case high = 0.75
    /// As near to the original as JPEG comes.
    case highest = 1

    /// On the scale of libjpeg, 1 to 100. Not under 10: there hardly more than blocks is left.
    var libjpegQuality: Int { max(10, Int((rawValue * 100).rounded())) }
}
