import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from './engines.ts'
import { eventually } from './eventually.ts'
import { actionsOf, type PageDriver, type PageOptions } from './page-driver.ts'
import { getProgram } from './programs.ts'
import { startProgram } from './start-program.ts'

/** The capabilities of a pointer, as Firefox numbers them. */
const COARSE = 1
const FINE_AND_HOVERING = 6

/** An unpacked extension that Firefox loads until it ends. */
export type AddOn = {
  readonly folder: string
  /** Its identifier in the manifest. */
  readonly id: string
  /** The host of its pages, which Firefox otherwise makes up. */
  readonly host: string
}

/** Starts a real Firefox with one page, driven by WebDriver BiDi. */
export async function openFirefox(options: PageOptions, addOn?: AddOn): Promise<PageDriver> {
  await using started = new AsyncDisposableStack()
  const { isTouched, ...viewport } = options
  const folder = createFolder()
  started.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  const preferences = {
    'intl.accept_languages': 'en-GB',
    'ui.prefersReducedMotion': 1,
    'ui.primaryPointerCapabilities': isTouched ? COARSE : FINE_AND_HOVERING,
    'dom.w3c_touch_events.enabled': Number(isTouched),
    ...(addOn && { 'extensions.webextensions.uuids': JSON.stringify({ [addOn.id]: addOn.host }) }),
  }
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`,
  )
  writeFileSync(path.join(folder, 'user.js'), lines.join(''))
  let address = ''
  const stop = await startProgram(
    getProgram('firefox'),
    ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port=0'],
    folder,
    (log) => {
      address = /WebDriver BiDi listening on (\S+)/.exec(log)?.[1] ?? ''
      assert.notEqual(address, '')
    },
  )
  started.defer(stop)
  const { send, end } = await connect(`${address}/session`)
  await send('session.new', { capabilities: {} })
  if (addOn !== undefined) {
    await send('webExtension.install', { extensionData: { type: 'path', path: addOn.folder } })
  }
  // The page that Firefox starts with has no focus, without which keys press nothing.
  const context =
    addOn === undefined
      ? (await send('browsingContext.create', { type: 'tab' })).context
      : await contextOf(addOn, send)
  await send('browsingContext.setViewport', { context, viewport })
  const own = started.move()
  return {
    open: async (url) => {
      await send('browsingContext.navigate', { context, url, wait: 'complete' })
    },
    async evaluate(expression) {
      const { result, exceptionDetails } = await send('script.evaluate', {
        expression: `(async () => JSON.stringify(await (${expression})))()`,
        target: { context },
        awaitPromise: true,
      })
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text)
      return result.value === undefined ? undefined : JSON.parse(result.value)
    },
    async press(...keys) {
      await send('input.performActions', { context, actions: actionsOf.press(keys) })
    },
    async type(text) {
      await send('input.performActions', { context, actions: actionsOf.type(text) })
    },
    async tap(point) {
      await send('input.performActions', { context, actions: actionsOf.tap(point) })
    },
    async screenshot() {
      const { data } = await send('browsingContext.captureScreenshot', { context })
      return Buffer.from(data, 'base64')
    },
    async close() {
      end()
      await own.disposeAsync()
    },
  }
}

/** Waits for the page that an extension opens once it is installed. WebDriver may open none of its pages itself. */
async function contextOf({ host }: AddOn, send: Send): Promise<string> {
  return eventually(async () => {
    const { contexts } = await send('browsingContext.getTree', {})
    const page = contexts.find(({ url }: { url: string }) => url.includes(host))
    assert.ok(page !== undefined, 'the extension has opened no page')
    return page.context
  })
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = any
type Send = (method: string, params: object) => Promise<Answer>

async function connect(address: string) {
  const socket = new WebSocket(address)
  const waiting = new Map<number, PromiseWithResolvers<Answer>>()
  socket.addEventListener('message', ({ data }) => {
    const { id, type, result, message } = JSON.parse(String(data))
    const answer = waiting.get(id)
    waiting.delete(id)
    if (type === 'success') answer?.resolve(result)
    else answer?.reject(new Error(message))
  })
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('Firefox has ended'))
  })
  await once(socket, 'open')
  let last = 0

  function send(method: string, params: object): Promise<Answer> {
    last += 1
    const answer = Promise.withResolvers<Answer>()
    waiting.set(last, answer)
    socket.send(JSON.stringify({ id: last, method, params }))
    return answer.promise
  }

  return { send, end: () => socket.close() }
}
