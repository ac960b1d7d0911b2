import { plural } from '../plural.ts'

export const n = (count: number) => count.toLocaleString('de')

export const count = (one: string, other: string) => (amount: number) =>
  `${n(amount)} ${plural('de', amount, { one, other })}`
