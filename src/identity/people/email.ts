import type { Parsed } from '../../platform/failure.ts'

/**
 * An address that mail can be sent to: one `@`, something before it and a host name behind it. Stricter
 * rules would refuse addresses that work.
 */
export function parseEmail(text: string): Parsed<string> {
  const trimmed = text.trim()
  return /^[^\s@<>,;]+@[^\s@<>,;.]+(?:\.[^\s@<>,;.]+)*$/.test(trimmed)
    ? { value: trimmed }
    : { fault: { code: 'invalid_email' } }
}

/** The form in which two addresses are compared: NFKC, lower case. */
export function foldEmail(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase().normalize('NFKC')
}
