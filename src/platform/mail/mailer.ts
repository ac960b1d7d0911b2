/** A message to one person. */
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Sends mail in the background. */
export type Mailer = {
  /**
   * Accepts a message, and reports in the log when it cannot be sent. Returns at once, so that an answer
   * does not show by its time whether there was something to send.
   */
  send(mail: Mail): void
  /** Waits a few seconds for the messages on their way; gives up the rest. */
  stop(): Promise<void>
}
