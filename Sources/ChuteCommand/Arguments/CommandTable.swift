/// All commands, and what holds for each of them.
enum CommandTable {
    static let root = CommandSpecification(
        name: "chute",
        summary: "drop a file in a folder, it comes out in your peers' folders",
        examples: [
            .init("chute run", "runs the agent; sets it up first where nothing is"),
            .init("chute invite", "makes a ticket for another device"),
            .init("chute join TICKET", "becomes a member by that ticket, on the other device"),
            .init("chute status", "says what is delivered, pending and skipped"),
        ],
        subcommands: [
            InitCommand.specification, RunCommand.specification, ServiceCommand.specification,
            IDCommand.specification, InviteCommand.specification, JoinCommand.specification,
            LeaveCommand.specification, PeersCommand.specification, StatusCommand.specification,
            ListCommand.specification, DoctorCommand.specification,
            RedeliverCommand.specification,
            RetractCommand.specification, ConfigCommand.specification,
        ])

    /// Understood before and after every command.
    static let globalOptions: [CommandSpecification.Option] = [
        .init("--home", value: "DIR", "everything of this agent lies in DIR (or CHUTE_HOME)"),
        .init("--quiet", short: "-q", "say only what was asked for, and errors"),
        .init("--verbose", short: "-v", "say more; twice for everything"),
        .init("--help", short: "-h", "this text"),
        .init("--version", "the version"),
    ]

    /// Words that people try for a command with another name, after the names of the commands
    /// that they are said to.
    static let synonyms: [String: [String]] = [
        "pair": ["invite", "join"], "devices": ["peers"], "members": ["peers"],
        "setup": ["init"], "start": ["run"], "daemon": ["run"], "agent": ["run"],
        "ls": ["list"], "files": ["list"], "add": ["invite", "join"], "ticket": ["invite"],
        "info": ["status"], "check": ["doctor", "config check"],
        "diagnose": ["doctor"], "debug": ["doctor"], "stop": ["service remove"],
        "undo": ["retract"],
        "unshare": ["retract"], "restore": ["redeliver"], "kick": ["peers remove"],
        "remove": ["peers remove", "retract"], "rm": ["peers remove", "retract"],
        "delete": ["peers remove", "retract"], "install": ["service install"],
        "uninstall": ["service remove"], "configure": ["config"], "settings": ["config show"],
        "peers rm": ["peers remove"], "peers delete": ["peers remove"],
        "peers promote": ["peers role"], "promote": ["peers role"], "role": ["peers role"],
        "peers kick": ["peers remove"], "peers list": ["peers"], "peers ls": ["peers"],
        "peers show": ["peers"], "peers add": ["invite"],
        "service uninstall": ["service remove"], "service rm": ["service remove"],
        "service delete": ["service remove"], "service stop": ["service remove"],
        "service disable": ["service remove"], "service start": ["service install"],
        "service enable": ["service install"], "service add": ["service install"],
        "service restart": ["service install"],
        "invite ls": ["invite list"], "invite rm": ["invite revoke"],
        "invite remove": ["invite revoke"], "invite delete": ["invite revoke"],
        "invite cancel": ["invite revoke"],
        "config validate": ["config check"], "config test": ["config check"],
        "config edit": ["config path"], "config get": ["config show"],
        "config list": ["config show"], "config print": ["config show"],
    ]
}
