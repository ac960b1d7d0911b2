import type { Budget } from './budget.ts'

/** What is spent of the budgets of orders, by authority and subject. It outlives what it is about. */
export type AcmeBudgetStore = {
  /**
   * Spends once, whoever else does so at the same time.
   *
   * @returns microseconds until it may be spent again, where nothing was left; else 0
   */
  charge(directory: string, subject: string, budget: Budget, now: number): Promise<number>
  /** When a budget is full again, in microseconds since the epoch; 0 for one that was never spent. */
  spentUntil(directory: string, subject: string): Promise<number>
  /** Gives back what was spent once. */
  refund(directory: string, subject: string, budget: Budget): Promise<void>
  /** Forgets those that are full again. */
  trim(now: number): Promise<void>
}
