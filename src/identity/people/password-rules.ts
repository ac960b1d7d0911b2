import type { Fault } from '@terse/contract/faults'

/** Without a second factor. */
export const PASSWORD_LENGTH_MIN_ALONE = 15
/** With a second factor. */
const LENGTH_MIN = 10
/** A text of fewer different characters is a pattern. */
const DIFFERENT_MIN = 5

/** The fault of a password that only a person with a second factor may have. */
export const TOO_SHORT_ALONE: Fault = {
  code: 'weak_password',
  reason: 'short_alone',
  min: PASSWORD_LENGTH_MIN_ALONE,
  min_with_factor: LENGTH_MIN,
}

/** Whether a password is long enough for a person without a second factor. */
export function isLong(password: string): boolean {
  return lengthOf(password) >= PASSWORD_LENGTH_MIN_ALONE
}

/**
 * Returns why a new password is refused; undefined where it is accepted. There are no rules about kinds of
 * characters: they make passwords hard to remember rather than hard to guess.
 */
export async function faultOfPassword(
  password: string,
  whose: {
    readonly hasSecondFactor: boolean
    readonly email: string
    readonly name: string
  },
): Promise<Fault | undefined> {
  if (whose.hasSecondFactor && lengthOf(password) < LENGTH_MIN) {
    return { code: 'weak_password', reason: 'short', min: LENGTH_MIN }
  }
  if (!whose.hasSecondFactor && !isLong(password)) return TOO_SHORT_ALONE
  const folded = password.normalize('NFKC').toLowerCase()
  if ([whose.email, whose.name].some((text) => isMadeOf(folded, text.toLowerCase()))) {
    return { code: 'weak_password', reason: 'personal' }
  }
  if (new Set(folded).size < DIFFERENT_MIN) return { code: 'weak_password', reason: 'simple' }
  if (await isCommon(folded)) return { code: 'weak_password', reason: 'common' }
  return undefined
}

/** Characters as people count them: code points, not the units of UTF-16. */
function lengthOf(text: string): number {
  return [...text.normalize('NFC')].length
}

function isMadeOf(text: string, part: string): boolean {
  return part !== '' && text.replaceAll(part, '') === ''
}

/** Whether a text is a common password, or one repeated. The list is loaded at the first call. */
async function isCommon(folded: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const common = (text: string) => dictionary['passwords-common'].includes(text)
  if (common(folded)) return true
  for (let length = 1; length <= folded.length / 2; length += 1) {
    const part = folded.slice(0, length)
    if (folded.length % length === 0 && part.repeat(folded.length / length) === folded) {
      return common(part)
    }
  }
  return false
}
