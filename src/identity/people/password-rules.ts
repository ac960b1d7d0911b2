/** Without a second factor. */
const LENGTH_MIN_ALONE = 15
/** With a second factor. */
const LENGTH_MIN = 10
/** A text of fewer different characters is a pattern. */
const DIFFERENT_MIN = 5

/** Whether a password is long enough for a person without a second factor. */
export function isLong(password: string): boolean {
  return lengthOf(password) >= LENGTH_MIN_ALONE
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
): Promise<string | undefined> {
  const lengthMin = whose.hasSecondFactor ? LENGTH_MIN : LENGTH_MIN_ALONE
  if (lengthOf(password) < lengthMin) {
    const reason = whose.hasSecondFactor ? '' : ', or 10 once a second factor is set up'
    return `must have at least ${lengthMin} characters${reason}`
  }
  const folded = password.normalize('NFKC').toLowerCase()
  if ([whose.email, whose.name].some((text) => isMadeOf(folded, text.toLowerCase()))) {
    return 'must not be your name or e-mail address'
  }
  if (new Set(folded).size < DIFFERENT_MIN)
    return 'is too easy to guess; use more different characters'
  if (await isCommon(folded)) return 'is one of the passwords that attackers try first'
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
