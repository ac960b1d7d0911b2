import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Logger, pino, stdTimeFunctions } from 'pino'
import { readableLine } from '../../src/platform/log/readable-line.ts'

const LINE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (.*)\n$/s

/** Returns the readable form of what `log` writes, without its time. */
function written(
  log: (logger: Logger) => void,
  base: Record<string, unknown> | null = null,
): string {
  let text = ''
  const options = { base, timestamp: stdTimeFunctions.isoTime }
  log(
    pino(options, {
      write: (json) => {
        text += readableLine(json, false)
      },
    }),
  )
  const [, rest] = LINE.exec(text) ?? []
  assert.ok(rest, text)
  return rest
}

describe('a readable log line', () => {
  test('contains level, process, message and fields', () => {
    assert.equal(
      written((log) => log.info('started'), null),
      'info  started',
    )
    assert.equal(
      written((log) => log.warn({ host: 'a.test', port: 80, list: ['b c'] }, 'slow'), {
        process: 2,
      }),
      'warn  [2] slow host=a.test port=80 list=["b c"]',
    )
  })

  test('quotes a value whose boundaries would not be visible', () => {
    assert.equal(
      written((log) => log.info({ a: 'b=c', d: 'e f', g: '' }, 'm')),
      'info  m a="b=c" d="e f" g=""',
    )
  })

  test("contains an error's message, and its stack from the level error on", () => {
    const err = new Error('broken')
    assert.equal(
      written((log) => log.warn({ err }, 'm')),
      'warn  m err=broken',
    )
    const lines = written((log) => log.error({ err }, 'm')).split('\n')
    assert.equal(lines[0], 'error m err=broken')
    assert.match(lines[1] ?? '', /^ {4}at .*readable-line\.test/)
  })

  test('contains no control characters, whatever a visitor sends', () => {
    const evil = '\u001b[2J\u009b31m\u0007\nnext'
    const text = written((log) => log.info({ path: evil, err: new Error(evil) }, evil))
    assert.doesNotMatch(text, /[\p{Cc}]/u)
    assert.match(text, /next/)
  })

  test('is coloured only when colours are requested', () => {
    const json = JSON.stringify({ level: 50, time: 0, msg: 'm' })
    assert.ok(readableLine(json, true).includes('\u001b[31merror'))
    assert.ok(!readableLine(json, false).includes('\u001b'))
  })
})
