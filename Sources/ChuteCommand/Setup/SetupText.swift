import ChuteSystem
import DropFolder

/// Says what a set-up did and what comes next.
enum SetupText {
    static func say(_ outcome: Setup.Outcome, _ context: CommandContext) throws {
        let file = context.home.configurationFile
        switch outcome {
        case .alreadyThere: try context.say("already set up at \(file)")
        case .made(let configuration, let madeSharedKey):
            try context.say("set up at \(file)")
            if madeSharedKey, let key = configuration.device.sharedKey {
                try context.say("new space with the key \(key); copy this file to the others")
            }
            for folder in configuration.folders {
                if let inbox = folder.inbox { try context.say("drop files into \(inbox)") }
                if let outbox = folder.outbox {
                    try context.say("what your peers share comes out in \(outbox)")
                }
            }
        }
    }
}
