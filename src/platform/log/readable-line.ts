import { styleText } from 'node:util'
import { plainText } from '../cli/terminal.ts'

type Style = Parameters<typeof styleText>[0]
type Level = { readonly label: string; readonly style: Style }

/** By pino's level numbers. */
const LEVELS: ReadonlyMap<unknown, Level> = new Map([
  [10, { label: 'trace', style: 'gray' }],
  [20, { label: 'debug', style: 'gray' }],
  [30, { label: 'info', style: 'green' }],
  [40, { label: 'warn', style: 'yellow' }],
  [50, { label: 'error', style: 'red' }],
  [60, { label: 'fatal', style: 'red' }],
])
const LABEL_LENGTH = 5
/** From this level on an error's stack is shown, because the program did not expect it. */
const STACK_LEVEL_MIN = 50

/**
 * Formats one of pino's JSON log lines as text for people: local time, level, process, message, other
 * fields. The stack of an error follows on separate lines.
 */
export function readableLine(json: string, hasColor: boolean): string {
  const { time, level, process: number, msg, err, ...fields } = JSON.parse(json)
  const paint = (style: Style, text: string) =>
    hasColor ? styleText(style, text, { validateStream: false }) : text
  const { label, style } = LEVELS.get(level) ?? { label: String(level), style: 'gray' }
  const parts = [
    paint('gray', localTime(time)),
    paint(style, label.padEnd(LABEL_LENGTH)),
    ...(number === undefined ? [] : [paint('gray', `[${number}]`)]),
    ...(msg === undefined ? [] : [plainText(String(msg))]),
    ...Object.entries(fields).map(([name, value]) => paint('gray', `${name}=${valueText(value)}`)),
    ...(err === undefined ? [] : [paint('gray', `err=${valueText(err.message ?? err)}`)]),
  ]
  const stack = level >= STACK_LEVEL_MIN && typeof err?.stack === 'string' ? err.stack : ''
  const below = stack
    .split('\n')
    .slice(1)
    .map((line: string) => paint('gray', `    ${plainText(line.trim())}`))
  return `${[parts.join(' '), ...below].join('\n')}\n`
}

function localTime(time: unknown): string {
  const date = new Date(String(time))
  const digits = (value: number, length = 2) => String(value).padStart(length, '0')
  const day = [digits(date.getFullYear(), 4), digits(date.getMonth() + 1), digits(date.getDate())]
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => digits(part))
  return `${day.join('-')} ${clock.join(':')}.${digits(date.getMilliseconds(), 3)}`
}

/** Quoted when it would not be recognized as one value. */
function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=\p{Cc}]+$/u.test(value)) return value
  return plainText(JSON.stringify(value))
}
