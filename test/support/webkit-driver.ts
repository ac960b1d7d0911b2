import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { createFolder } from './engines.ts'
import { freePort } from './free-port.ts'
import { actionsOf, type PageDriver, type PageOptions } from './page-driver.ts'
import { getProgram } from './programs.ts'
import { startProgram } from './start-program.ts'

/** Starts a real WebKitGTK with one page, driven by WebDriver, on a display that nobody sees. */
export async function openWebKit({ width, height }: PageOptions): Promise<PageDriver> {
  await using started = new AsyncDisposableStack()
  const folder = createFolder()
  started.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  let display = ''
  const stopDisplay = await startProgram(
    getProgram('xvfb'),
    ['-displayfd', '1', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'],
    folder,
    (log) => {
      display = /^\d+$/m.exec(log)?.[0] ?? ''
      assert.notEqual(display, '')
    },
  )
  started.defer(stopDisplay)
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const stopDriver = await startProgram(
    getProgram('webkitDriver'),
    [`--port=${port}`],
    folder,
    async () => void (await fetch(`${address}/status`)),
    { DISPLAY: `:${display}`, LANGUAGE: 'en_GB' },
  )
  started.defer(stopDriver)

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function send(method: string, path: string, body?: object): Promise<any> {
    const answer = await fetch(`${address}/session${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    })
    const { value } = (await answer.json()) as { readonly value: Record<string, unknown> }
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`)
    return value
  }

  const { sessionId } = await send('POST', '', { capabilities: {} })
  const session = `/${sessionId}`
  await send('POST', `${session}/window/rect`, { width, height })
  const own = started.move()
  const perform = async (actions: object) => {
    await send('POST', `${session}/actions`, { actions })
  }
  return {
    open: async (url) => {
      await send('POST', `${session}/url`, { url })
    },
    evaluate(expression) {
      const script = `const done = arguments[0]
        Promise.resolve(${expression}).then((value) => done([value]), (error) => done(String(error)))`
      return send('POST', `${session}/execute/async`, { script, args: [] }).then((answer) => {
        if (typeof answer === 'string') throw new Error(answer)
        return answer[0]
      })
    },
    press: (...keys) => perform(actionsOf.press(keys)),
    type: (text) => perform(actionsOf.type(text)),
    tap: (point) => perform(actionsOf.tap(point)),
    async screenshot() {
      return Buffer.from(await send('GET', `${session}/screenshot`), 'base64')
    },
    async close() {
      await send('DELETE', session)
      await own.disposeAsync()
    },
  }
}
