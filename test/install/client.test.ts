import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createFolder, SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLIENT = path.join(ROOT, 'client')
const README = readFileSync(path.join(CLIENT, 'README.md'), 'utf8')
const EXAMPLES = [...README.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = '']) => text)
const COMPILER_OPTIONS = {
  ...{ target: 'es2022', module: 'nodenext', lib: ['es2023', 'dom', 'dom.iterable'], types: [] },
  ...{ strict: true, exactOptionalPropertyTypes: true },
}
const SECRET = Buffer.from('a secret of thirty-two characters')

type Receiver = { receive(request: Request): Promise<Response> }

describe('the package of the typed client', () => {
  let folder: string
  let service: Service
  let token: string

  before(async () => {
    service = await startService(SQLITE)
    token = await service.token('acme')
    folder = createFolder()
    execFileSync('node', [path.join(ROOT, 'scripts/build-client.ts')])
    const pack = ['pack', path.join(CLIENT, 'dist'), '--pack-destination', folder, '--silent']
    const file = execFileSync('npm', pack, { encoding: 'utf8' }).trim()
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent']
    execFileSync('npm', ['install', `./${file}`, ...options], { cwd: folder })
    mkdirSync(path.join(folder, 'examples'))
    for (const [nth, text] of EXAMPLES.entries()) {
      const real = text
        .replaceAll('https://links.example.com', service.baseUrl)
        .replaceAll("'links.example.com'", "'localhost'")
        .replaceAll('terse_…', token)
        .replaceAll('whsec_…', `whsec_${SECRET.toString('base64')}`)
      writeFileSync(path.join(folder, 'examples', `${nth}.ts`), real)
    }
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  const example = (nth: number) => path.join(folder, 'examples', `${nth}.js`)
  const run = async (program: string, ...words: readonly string[]) =>
    (await promisify(execFile)(program, words)).stdout

  test('compiles the examples of its README, which then do what they say', async () => {
    assert.equal(EXAMPLES.length, 4)
    const config = { compilerOptions: COMPILER_OPTIONS, include: ['examples'] }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = path.join(CLIENT, 'node_modules/.bin/tsc')
    await run(compiler, '-p', folder).catch(({ stdout }) => assert.fail(stdout))
    assert.equal(await run('node', example(0)), 'https://localhost/spring\n')
    const api = await service.api('acme')
    for (let nth = 0; nth < 150; nth += 1) {
      await api.post('/links', {
        domain: 'localhost',
        url: 'https://example.com/',
        tags: ['spring'],
      })
    }
    const listed = (await run('node', example(1))).trim().split('\n')
    assert.equal(new Set(listed).size, 150)
    const { body } = await api.get('/links?search=localhost/spring')
    const text = readFileSync(example(2), 'utf8')
    writeFileSync(example(2), text.replace(/0191e0c0[-0-9a-f]+/, body.data[0].id))
    assert.equal(await run('node', example(2)), '')
    const changed = await api.get(`/links/${body.data[0].id}`)
    assert.equal(changed.body.url, 'https://example.com/summer-sale')
  })

  test('accepts a delivery with a right signature, and none that is forged, cut or old', async () => {
    const { receive }: Receiver = await import(pathToFileURL(example(3)).href)
    const send = (body: string, { at = Date.now(), signed = body, key = SECRET } = {}) => {
      const timestamp = String(Math.floor(at / 1_000))
      const hash = createHmac('sha256', key).update(`msg_1.${timestamp}.${signed}`)
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,bm9uZQ== v1,${hash.digest('base64')}`,
      }
      return receive(new Request('https://example.com/', { method: 'POST', body, headers }))
    }
    assert.equal((await send('{"type":"link.created"}')).status, 204)
    assert.equal((await send('{"type":"link.deleted"}', { signed: '{}' })).status, 401)
    assert.equal((await send('{}', { key: Buffer.from('another') })).status, 401)
    assert.equal((await send('{}', { at: Date.now() - 301_000 })).status, 401)
    assert.equal(
      (await receive(new Request('https://example.com/', { method: 'POST' }))).status,
      401,
    )
  })
})
