/** Asks all processes of one service the same question, the one that asks with them. */
export type Survey = {
  /** What each process that answered in time has to say. */
  gather(): Promise<readonly string[]>
  /** @param answer what this process says whenever one of them asks */
  onAsked(answer: () => Promise<string>): void
}
