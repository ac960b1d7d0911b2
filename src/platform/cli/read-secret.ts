import type { Readable } from 'node:stream'
import type { ReadStream } from 'node:tty'

const END_OF_TRANSMISSION = '\u0004'
const ENTER: ReadonlySet<string> = new Set(['\r', '\n', END_OF_TRANSMISSION])
const INTERRUPT = '\u0003'
const BACKSPACE: ReadonlySet<string> = new Set(['\u007f', '\b'])
/** No secret is longer. */
const LENGTH_MAX = 10_000

/**
 * Reads a secret: from a person, who does not see it on the screen, or the first line of what is piped in.
 *
 * @param show shows text to a person
 * @throws when the person interrupts
 */
export async function readSecret(
  input: ReadStream | (Readable & { isTTY?: false }),
  prompt: string,
  show: (text: string) => void,
): Promise<string> {
  const isTyped = input.isTTY === true
  // Before the prompt: what is typed or pasted at once would be shown.
  if (isTyped) input.setRawMode(true)
  input.setEncoding('utf8')
  try {
    if (isTyped) show(prompt)
    return await readLine(input, isTyped)
  } finally {
    if (isTyped) {
      input.setRawMode(false)
      show('\n')
    }
    input.pause()
  }
}

async function readLine(input: Readable, isTyped: boolean): Promise<string> {
  let text = ''
  // A terminal that is destroyed stays in raw mode.
  for await (const chunk of input.iterator({ destroyOnReturn: false })) {
    for (const character of String(chunk)) {
      if (isTyped && character === INTERRUPT) throw new Error('Interrupted.')
      if (ENTER.has(character)) return text.trim()
      if (isTyped && BACKSPACE.has(character)) text = text.slice(0, -1)
      else text += character
    }
    if (text.length > LENGTH_MAX) throw new Error('The text on standard input is too long.')
  }
  return text.trim()
}
