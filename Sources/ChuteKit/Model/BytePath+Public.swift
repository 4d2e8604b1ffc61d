@_exported public import struct ChuteSystem.BytePath
