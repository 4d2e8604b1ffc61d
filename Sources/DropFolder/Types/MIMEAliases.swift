/// Names that mean the same format, preferred name first: the one table that decides when two
/// types are equal.
///
/// Only true synonyms (IANA's deprecated names, `x-` names that were registered later, and the
/// names that libmagic and shared-mime-info give to the same bytes); never a wider format for
/// a narrower one.
package enum MIMEAliases {
    /// The preferred name of `type`, itself where the table has none.
    package static func canonical(of type: MIMEType) -> MIMEType { preferred[type] ?? type }

    /// All names of the format, that of `type` among them.
    package static func names(of type: MIMEType) -> [MIMEType] {
        let name = canonical(of: type)
        return groups[name] ?? [type]
    }

    private static let groups: [MIMEType: [MIMEType]] = Dictionary(
        uniqueKeysWithValues: table.compactMap { names in names.first.map { ($0, names) } })

    private static let preferred: [MIMEType: MIMEType] = {
        var preferred: [MIMEType: MIMEType] = [:]
        for (name, names) in groups { for alias in names { preferred[alias] = name } }
        return preferred
    }()

    private static let table: [[MIMEType]] = [
        ["image/jpeg", "image/jpg", "image/pjpeg"],
        ["image/png", "image/x-png"],
        ["image/apng", "image/vnd.mozilla.apng"],
        ["image/bmp", "image/x-ms-bmp", "image/x-bmp"],
        ["image/vnd.microsoft.icon", "image/x-icon", "image/ico", "image/x-ico"],
        ["image/icns", "image/x-icns"],
        ["image/jls", "image/x-jls"],
        ["image/jp2", "image/x-jp2", "image/jpeg2000", "image/jpeg2000-image"],
        ["image/pcx", "image/vnd.zbrush.pcx", "image/x-pcx"],
        ["image/qoi", "image/x-qoi"],
        ["image/x-tga", "image/x-targa", "image/tga", "image/targa"],
        ["image/vnd.adobe.photoshop", "image/x-photoshop", "image/psd", "image/x-psd"],
        ["image/vnd.djvu", "image/x-djvu", "image/x.djvu"],
        ["image/vnd.ms-dds", "image/x-dds"],
        ["image/vnd.radiance", "image/x-hdr"],
        ["image/vnd.ms-photo", "image/jxr"],
        ["image/emf", "image/x-emf", "application/x-emf"],
        ["image/wmf", "image/x-wmf", "application/x-wmf"],
        ["image/x-exr", "image/exr"],
        ["image/x-xpixmap", "image/x-xpm"],
        ["image/pict", "image/x-pict"],
        ["image/svg+xml", "image/svg"],
        ["image/x-adobe-dng", "image/dng"],
        ["image/x-sigma-x3f", "image/x-x3f"],
        ["image/x-panasonic-rw2", "image/x-panasonic-raw2"],
        ["audio/mp4", "audio/x-m4a", "audio/m4a"],
        ["audio/mpeg", "audio/mp3", "audio/x-mp3", "audio/x-mpeg"],
        ["audio/vnd.wave", "audio/x-wav", "audio/wav", "audio/wave"],
        ["audio/flac", "audio/x-flac"],
        ["audio/aac", "audio/x-hx-aac-adts", "audio/x-aac"],
        ["audio/aiff", "audio/x-aiff"],
        ["video/matroska", "video/x-matroska", "application/x-matroska"],
        ["video/x-msvideo", "video/avi", "video/vnd.avi", "video/msvideo"],
        ["video/x-flv", "video/flv"],
        ["video/x-ms-asf", "video/x-ms-wm", "application/vnd.ms-asf"],
        ["text/xml", "application/xml"],
        ["text/rtf", "application/rtf"],
        ["text/csv", "text/x-csv", "application/csv", "text/x-comma-separated-values"],
        ["text/vcard", "text/x-vcard"],
        ["text/calendar", "application/ics"],
        ["text/javascript", "application/javascript", "application/x-javascript"],
        ["text/markdown", "text/x-markdown"],
        ["application/pdf", "application/x-pdf"],
        ["application/zip", "application/x-zip-compressed", "application/x-zip"],
        ["application/gzip", "application/x-gzip"],
        ["application/x-bzip2", "application/bzip2"],
        ["application/x-7z-compressed", "application/7z"],
        ["application/vnd.rar", "application/x-rar", "application/x-rar-compressed"],
        ["application/zstd", "application/x-zstd"],
        ["application/java-archive", "application/x-java-archive", "application/x-jar"],
        ["application/ogg", "application/x-ogg"],
        ["application/json", "text/json", "application/x-json"],
        ["application/x-subrip", "text/srt"],
        ["application/vnd.sqlite3", "application/x-sqlite3"],
        ["font/ttf", "application/x-font-ttf"],
        ["font/otf", "application/x-font-otf", "application/vnd.ms-opentype"],
        ["font/woff", "application/font-woff"],
    ]
}
