import ChuteSystem

/// Asking the peer what it still has, and saying what is here.
extension PeerSession {
    /// A question that is on its way.
    struct Question {
        let attachments: [AttachmentID]
        let answer: CheckedContinuation<Set<AttachmentID>, Never>
    }

    private static let inquiryLimit = 16

    /// Which of `attachments`, at most `Confirm.limit`, the peer says to have whole in a kept
    /// folder; none where the session ends or the task is cancelled before it answers.
    func confirm(_ attachments: [AttachmentID]) async -> Set<AttachmentID> {
        guard questions != nil, !attachments.isEmpty, attachments.count <= Confirm.limit,
            unanswered.count < Self.inquiryLimit
        else { return [] }
        nextQuestion &+= 1
        let number = nextQuestion
        do {
            try send(.confirm, Confirm(number: number, attachments: attachments).cbor)
        } catch {
            channel.close()  // the reader ends the session
            return []
        }
        unanswered.insert(number)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                // The session may have ended since it was asked.
                guard questions != nil else { return answer.resume(returning: []) }
                questions?[number] = Question(attachments: attachments, answer: answer)
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            enqueue { $0.giveUp(number) }
        }
    }

    func receive(_ answer: Confirmed) {
        unanswered.remove(answer.number)
        guard let question = questions?.removeValue(forKey: answer.number) else { return }
        let kept = zip(question.attachments, answer.words).filter(\.1).map(\.0)
        question.answer.resume(returning: Set(kept))
    }

    private func giveUp(_ number: UInt32) {
        questions?.removeValue(forKey: number)?.answer.resume(returning: [])
    }

    /// When the session ends: nobody waits any longer.
    func giveUpQuestions() {
        let open = questions ?? [:]
        questions = nil
        for question in open.values { question.answer.resume(returning: []) }
    }

    func receiveInquiry(_ inquiry: Confirm) throws {
        guard openInquiries < Self.inquiryLimit else {
            throw WireError.tooLarge("more than \(Self.inquiryLimit) questions at once")
        }
        openInquiries += 1
        inquiries.post(inquiry)
    }

    func answerInquiries() async throws {
        while true {
            let asked = await inquiries.next()
            if asked.isEmpty { return }
            for inquiry in asked {
                let words =
                    if let view = currentView() {
                        try await context.keptFiles.areKept(inquiry.attachments, in: view.scope)
                    } else {
                        inquiry.attachments.map { _ in false }
                    }
                openInquiries -= 1
                try send(.confirmed, Confirmed(number: inquiry.number, words: words).cbor)
            }
        }
    }
}
