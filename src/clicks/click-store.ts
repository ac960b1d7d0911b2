/** A place in a node's click journal: everything before it has been taken in. */
export type JournalPosition = {
  readonly segment: number
  readonly offset: number
}

export type ClickStore = {
  /** Undefined for a journal from which nothing has been taken in. */
  findPosition(journalId: string): Promise<JournalPosition | undefined>
}
