import { plural } from '../plural.ts'

export const n = (count: number) => count.toLocaleString('en')

export const count = (one: string, other: string) => (amount: number) =>
  `${n(amount)} ${plural('en', amount, { one, other })}`
