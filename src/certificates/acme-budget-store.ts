import type { Budget } from './budget.ts'

/**
 * What is spent of the budgets of orders, by authority and subject. Rows outlive the hosts that
 * they are about.
 */
export type AcmeBudgetStore = {
  /**
   * Charges a budget once. Safe when several nodes charge it at the same time.
   *
   * @returns 0, or microseconds until it can be charged when it is exhausted: then nothing was charged
   */
  charge(directory: string, subject: string, budget: Budget, now: number): Promise<number>
  /**
   * When a budget is full again, in microseconds since the epoch; 0 for one that was never charged.
   */
  spentUntil(directory: string, subject: string): Promise<number>
  /** Undoes one charge. */
  refund(directory: string, subject: string, budget: Budget): Promise<void>
  /** Deletes the rows of budgets that are full again. */
  trim(now: number): Promise<void>
}
