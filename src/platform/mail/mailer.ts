/** A message to one person. */
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/**
 * Why a message was given up. `refused`: the server will refuse it the next time too. `deferred`: the last attempt
 * failed as those before. `queue_full`: its owner has too many that wait, or all owners together. `waited_too_long`:
 * its turn did not come in time. `stopped`: the process ends.
 */
export type DropReason = 'refused' | 'deferred' | 'queue_full' | 'waited_too_long' | 'stopped'

export type Delivery = {
  /**
   * The owner of the queue turn that sends the message: a workspace, or the person who forgot a
   * password or changes the address.
   */
  readonly owner: string
  /** For log lines. */
  readonly kind: 'invitation' | 'password_reset' | 'email_change' | 'webhook_disabled'
  /** Called once if the message is given up. */
  readonly onDropped: (reason: DropReason) => Promise<void>
}

/** Sends mail in the background. */
export type Mailer = {
  /**
   * Accepts a message, and logs it when it is given up. Returns at once, so that an answer does not show by its time
   * whether there was something to send.
   */
  send(mail: Mail, delivery: Delivery): void
  /** Waits a few seconds for the messages on their way; gives up the rest. */
  stop(): Promise<void>
}
