import ChuteSystem

/// Names documents that are ZIP archives inside: EPUB, OpenDocument, Office, iWork and others.
enum ZIPType {
    static func type(of file: BoundedFile, name: FileExtension) throws(SystemError) -> MIMEType? {
        guard file.head.has("PK\u{3}\u{4}") else { return nil }
        let directory = try ZIPDirectory(of: file)
        if let declared = try declaredType(directory, in: file) { return declared }
        let entries = directory.entries
        func hasEntry(_ text: String) -> Bool { entries.contains { $0.isNamed(text) } }
        func hasFolder(_ text: String) -> Bool { entries.contains { $0.begins(with: text) } }

        if hasEntry("META-INF/container.xml"), hasEntry("mimetype") || name.text == "epub" {
            return "application/epub+zip"
        }
        if hasEntry("[Content_Types].xml") {
            return office(entries, name: name)
        }
        if hasEntry("index.apxl") { return "application/vnd.apple.keynote" }
        let isWork =
            hasEntry("Index/Document.iwa") || hasEntry("Index.zip")
            || (hasEntry("index.xml") && hasFolder("QuickLook/"))
        if isWork, let type = iWork[name.text] { return type }
        if hasEntry("AndroidManifest.xml"), hasEntry("classes.dex") || hasEntry("resources.arsc") {
            return "application/vnd.android.package-archive"
        }
        if name.text == "kmz", entries.contains(where: { $0.ends(with: ".kml") }) {
            return "application/vnd.google-earth.kmz"
        }
        if name.text == "cbz" { return "application/vnd.comicbook+zip" }
        let isArchive = entries.first.map {
            $0.begins(with: "META-INF/") && hasEntry("META-INF/MANIFEST.MF")
        }
        if isArchive == true || (name.text == "jar" && hasEntry("META-INF/MANIFEST.MF")) {
            return "application/java-archive"
        }
        return nil
    }

    private static let iWork: [String: MIMEType] = [
        "pages": "application/vnd.apple.pages",
        "numbers": "application/vnd.apple.numbers",
        "key": "application/vnd.apple.keynote",
    ]

    /// The word of an uncompressed entry `mimetype`, as in EPUB, OpenDocument and OpenRaster.
    private static func declaredType(
        _ directory: ZIPDirectory, in file: BoundedFile
    ) throws(SystemError) -> MIMEType? {
        guard let entry = directory.entries.first(where: { $0.isNamed("mimetype") }) else {
            return nil
        }
        let bytes = try directory.stored(entry, in: file, limit: 128)
        let line = bytes.prefix { $0 > 0x20 }
        guard let text = String(validating: line, as: UTF8.self), let type = MIMEType(text),
            type.type == "application" || type == "image/openraster", !type.isVague
        else { return nil }
        return type
    }

    private static func office(_ entries: [ZIPDirectory.Entry], name: FileExtension) -> MIMEType? {
        let kinds: [(folder: String, application: OfficeType.Application)] = [
            ("word/", .word), ("xl/", .excel), ("ppt/", .powerPoint), ("visio/", .visio),
        ]
        for kind in kinds where entries.contains(where: { $0.begins(with: kind.folder) }) {
            let hasMacros = entries.contains {
                $0.begins(with: kind.folder) && $0.ends(with: "/vbaProject.bin")
            }
            if kind.application == .excel,
                entries.contains(where: { $0.isNamed("xl/workbook.bin") })
            {
                return "application/vnd.ms-excel.sheet.binary.macroenabled.12"
            }
            return OfficeType.type(kind.application, hasMacros: hasMacros, extension: name.text)
        }
        if entries.contains(where: { $0.begins(with: "3D/") && $0.ends(with: ".model") }) {
            return "model/3mf"
        }
        if entries.contains(where: { $0.ends(with: ".fdseq") }) { return "application/oxps" }
        return nil
    }
}
