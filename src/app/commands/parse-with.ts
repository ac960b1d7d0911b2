import { InvalidArgumentError } from 'commander'
import type { ZodType } from 'zod'

/** Returns a parser of an option's text that explains what is wrong with it as the setting's schema does. */
export function parseWith<T>(schema: ZodType<T, string>): (text: string) => T {
  return (text) => {
    const parsed = schema.safeParse(text)
    if (parsed.success) return parsed.data
    const faults = parsed.error.issues.map(({ message }) => message)
    throw new InvalidArgumentError(`It ${faults.join()}.`)
  }
}
