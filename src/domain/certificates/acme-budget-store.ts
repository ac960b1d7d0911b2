/**
 * Until when the budgets of orders are spent, by authority and subject. They outlive whatever they
 * are about. Microseconds since the epoch.
 */
export type AcmeBudgetStore = {
  find(directory: string, subject: string): Promise<number | undefined>
  /** @throws {StaleRow} when another node has moved it since it was read as `from` */
  move(directory: string, subject: string, from: number | undefined, to: number): Promise<void>
  /** Forgets those that are full again. */
  trim(now: number): Promise<void>
}
