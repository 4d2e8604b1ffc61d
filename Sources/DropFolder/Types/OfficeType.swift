/// The names of Office Open XML documents, with and without macros, and their templates.
enum OfficeType {
    enum Application: Sendable { case word, excel, powerPoint, visio }

    /// The type by what is inside; the extension settles what only the packed parts say:
    /// template, slide show, and a macro document that has no macro yet.
    static func type(
        _ application: Application, hasMacros: Bool, extension name: String
    ) -> MIMEType {
        if let (owner, type) = byExtension[name], owner == application { return type }
        switch application {
        case .word: return hasMacros ? wordMacros : word
        case .excel: return hasMacros ? excelMacros : excel
        case .powerPoint: return hasMacros ? powerPointMacros : powerPoint
        case .visio: return hasMacros ? visioMacros : visio
        }
    }

    private static let office = "application/vnd.openxmlformats-officedocument."
    private static let word = MIMEType(stringLiteral: office + "wordprocessingml.document")
    private static let wordMacros: MIMEType = "application/vnd.ms-word.document.macroenabled.12"
    private static let excel = MIMEType(stringLiteral: office + "spreadsheetml.sheet")
    private static let excelMacros: MIMEType = "application/vnd.ms-excel.sheet.macroenabled.12"
    private static let powerPoint = MIMEType(
        stringLiteral: office + "presentationml.presentation")
    private static let powerPointMacros: MIMEType =
        "application/vnd.ms-powerpoint.presentation.macroenabled.12"
    private static let visio: MIMEType = "application/vnd.ms-visio.drawing.main+xml"
    private static let visioMacros: MIMEType =
        "application/vnd.ms-visio.drawing.macroenabled.main+xml"

    private static let byExtension: [String: (Application, MIMEType)] = [
        "docm": (.word, wordMacros),
        "dotx": (.word, MIMEType(stringLiteral: office + "wordprocessingml.template")),
        "dotm": (.word, "application/vnd.ms-word.template.macroenabled.12"),
        "xlsm": (.excel, excelMacros),
        "xltx": (.excel, MIMEType(stringLiteral: office + "spreadsheetml.template")),
        "xltm": (.excel, "application/vnd.ms-excel.template.macroenabled.12"),
        "xlam": (.excel, "application/vnd.ms-excel.addin.macroenabled.12"),
        "pptm": (.powerPoint, powerPointMacros),
        "potx": (.powerPoint, MIMEType(stringLiteral: office + "presentationml.template")),
        "potm": (.powerPoint, "application/vnd.ms-powerpoint.template.macroenabled.12"),
        "ppsx": (.powerPoint, MIMEType(stringLiteral: office + "presentationml.slideshow")),
        "ppsm": (.powerPoint, "application/vnd.ms-powerpoint.slideshow.macroenabled.12"),
        "vsdm": (.visio, visioMacros),
    ]
}
