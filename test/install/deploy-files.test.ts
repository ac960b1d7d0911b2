import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { VARIABLES } from '../../src/app/config/settings.ts'
import { parseClicksUrl } from '../../src/storage/clickhouse/clicks-url.ts'

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url))
const KUBERNETES = path.join(DEPLOY, 'kubernetes')
/** Read by Compose alone. */
const COMPOSE_VARIABLES = new Set([
  'TERSE_IMAGE',
  'TERSE_PUBLISH',
  'TERSE_MEMORY',
  'TERSE_BACKUP_VOLUME',
])
const ROLES = ['api', 'jobs', 'redirect']

// biome-ignore lint/suspicious/noExplicitAny: tests look into files of every shape
type Parsed = any

const read = (name: string) => readFileSync(path.join(DEPLOY, name), 'utf8')

/** Returns why a program is not run, or false. */
function skipWithout(program: string, ...args: readonly string[]): string | false {
  return spawnSync(program, args).status !== 0 && `${program} ${args[0]} is not installed`
}

function manifests(): readonly Parsed[] {
  const { resources } = parse(read('kubernetes/kustomization.yaml'))
  return resources.flatMap((name: string) =>
    parseAllDocuments(read(`kubernetes/${name}`)).map((one) => one.toJS()),
  )
}

/**
 * Returns the attributes of each element of that name.
 *
 * @throws where an element is not closed, or is closed by another
 */
function attributesOf(xml: string, name: string): readonly Record<string, string>[] {
  const open: string[] = []
  const found: Record<string, string>[] = []
  for (const [, slash, tag, attributes = ''] of xml.matchAll(
    /<(\/?)(\w+)((?: \w+="[^"<&]*")*)>/g,
  )) {
    if (slash === '/') assert.equal(open.pop(), tag)
    else {
      open.push(String(tag))
      const pairs = [...attributes.matchAll(/ (\w+)="([^"]*)"/g)].map(([, key, value]) => [
        key,
        value,
      ])
      if (tag === name) found.push(Object.fromEntries(pairs))
    }
  }
  assert.deepEqual(open, [])
  // Besides the declaration, every angle bracket and ampersand must belong to an element.
  assert.doesNotMatch(xml.replace(/^<\?xml [^>]*\?>|<\/?\w+(?: \w+="[^"<&]*")*>/g, ''), /[<>&]/)
  return found
}

describe('the files in deploy/', () => {
  test('set only variables that Terse knows', () => {
    const names = readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' })
    const files = names.filter((name) => /\.(?:ya?ml|xml|example|service)$/.test(name))
    assert.ok(files.length >= 12, files.join())
    for (const file of files) {
      // Coolify makes the variables that begin with SERVICE_.
      for (const [name] of read(file).matchAll(/(?<![A-Z_])TERSE_[A-Z_]*[A-Z]/g)) {
        assert.ok(VARIABLES.has(name) || COMPOSE_VARIABLES.has(name), `${file}: ${name}`)
      }
    }
  })

  for (const file of ['compose.yaml', 'compose.postgres.yaml', 'compose.clickhouse.yaml']) {
    test(`${file} runs the image with a read-only root, and its data in a volume`, () => {
      const { services, volumes } = parse(read(file))
      const { terse } = services
      assert.equal(terse.read_only, true)
      assert.deepEqual(terse.cap_drop, ['ALL'])
      assert.ok(terse.volumes.includes('data:/data'))
      assert.ok('data' in volumes)
    })

    const skip = skipWithout('docker', 'compose', 'version')
    test(`${file} is accepted by Compose`, { skip }, () => {
      const env = {
        ...process.env,
        TERSE_BASE_URL: 'http://localhost:3000',
        TERSE_SECRET_KEY: '00',
        POSTGRES_PASSWORD: 'x',
        CLICKHOUSE_PASSWORD: 'x',
      }
      const args = ['compose', '-f', path.join(DEPLOY, file), 'config', '--quiet']
      execFileSync('docker', args, { env, stdio: 'pipe' })
    })
  }

  test('compose.yaml has a second volume for backups, which the image gives to its user', () => {
    const { services, volumes } = parse(read('compose.yaml'))
    const mounted = services.terse.volumes.join()
    assert.match(mounted, /\$\{TERSE_BACKUP_VOLUME:-backups\}:\/backups/)
    assert.ok('backups' in volumes)
    assert.ok('TERSE_BACKUP_TO' in services.terse.environment)
    assert.match(read('Dockerfile'), /^COPY --from=build --chown=10001:10001 \S+ \/backups$/m)
  })

  test('the example of compose.postgres.yaml names every variable that it requires', () => {
    const required = [...read('compose.postgres.yaml').matchAll(/\$\{(\w+):\?/g)]
    assert.ok(required.length > 0)
    for (const [, name] of required)
      assert.match(read('.env.example'), new RegExp(`^${name}=`, 'm'))
  })

  test('Kubernetes probes each role, bounds it, and keeps all but one of its pods', () => {
    const all = manifests()
    const workloads = all.filter(({ spec }) => spec?.template !== undefined)
    assert.deepEqual(workloads.map(({ metadata }) => metadata.name).sort(), ROLES)
    for (const { metadata, spec } of workloads) {
      const role = metadata.name
      const [container] = spec.template.spec.containers
      assert.deepEqual(container.args, ['serve', '--roles', role])
      assert.equal(container.livenessProbe.httpGet.path, '/livez')
      assert.equal(container.readinessProbe.httpGet.path, '/readyz')
      assert.equal(container.securityContext.readOnlyRootFilesystem, true)
      assert.equal(container.resources.limits.memory, '512Mi')
      const budget = all.find(
        (one) => one.kind === 'PodDisruptionBudget' && one.metadata.name === role,
      )
      assert.deepEqual(budget?.spec.selector.matchLabels, spec.template.metadata.labels)
      assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels)
      const mounted = container.volumeMounts.map(({ name }: Parsed) => name)
      const made = [
        ...spec.template.spec.volumes.map(({ name }: Parsed) => name),
        ...(spec.volumeClaimTemplates ?? []).map((one: Parsed) => one.metadata.name),
      ]
      assert.deepEqual(mounted.sort(), made.sort())
    }
    const services = new Set(
      all.filter(({ kind }) => kind === 'Service').map((one) => one.metadata.name),
    )
    const ingress = all.find(({ kind }) => kind === 'Ingress')
    for (const { http } of ingress.spec.rules) {
      for (const { backend } of http.paths) assert.ok(services.has(backend.service.name))
    }
  })

  const skip = skipWithout('kubectl', 'version', '--client')
  test('kubectl builds the files of Kubernetes with the secrets', { skip }, (t) => {
    const parent = mkdtempSync(path.join(tmpdir(), 'terse-kubernetes-'))
    t.after(() => rmSync(parent, { recursive: true }))
    const folder = path.join(parent, 'kubernetes')
    const overlay = path.join(parent, 'kubernetes-clickhouse')
    for (const copied of [folder, overlay]) {
      cpSync(path.join(DEPLOY, path.basename(copied)), copied, { recursive: true })
    }
    cpSync(path.join(KUBERNETES, 'secrets.env.example'), path.join(folder, 'secrets.env'))
    const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
    const built: readonly Parsed[] = parseAllDocuments(text).map((one) => one.toJS())
    assert.equal(built.length, manifests().length + 2)
    const { data } = built.find(({ kind }) => kind === 'Secret')
    assert.deepEqual(Object.keys(data), ['TERSE_DATABASE_URL', 'TERSE_SECRET_KEY'])
    for (const { metadata } of built) assert.equal(metadata.namespace ?? metadata.name, 'terse')

    cpSync(path.join(overlay, 'secrets.env.example'), path.join(overlay, 'secrets.env'))
    const withClicks = execFileSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' })
    const overlaid: readonly Parsed[] = parseAllDocuments(withClicks).map((one) => one.toJS())
    assert.equal(overlaid.length, built.length)
    const ofKind = (name: string) => overlaid.find(({ kind }) => kind === name).data
    assert.match(ofKind('ConfigMap').TERSE_CLICKS_URL, /^clickhouse:/)
    assert.deepEqual(Object.keys(ofKind('Secret')), [
      'TERSE_CLICKS_PASSWORD',
      'TERSE_DATABASE_URL',
      'TERSE_SECRET_KEY',
    ])
  })

  test('the overlay for ClickHouse adds settings to what is below it', () => {
    const { resources, ...overlay } = parse(read('kubernetes-clickhouse/kustomization.yaml'))
    assert.deepEqual(resources, ['../kubernetes'])
    const base = parse(read('kubernetes/kustomization.yaml'))
    for (const generator of ['configMapGenerator', 'secretGenerator']) {
      const [{ name, behavior }] = overlay[generator]
      assert.deepEqual([name, behavior], [base[generator][0].name, 'merge'])
    }
    const [setting = ''] = overlay.configMapGenerator[0].literals
    const url = setting.replace(/^TERSE_CLICKS_URL=/, '')
    assert.ok('value' in parseClicksUrl(url), url)
  })

  test('the templates name the image and keep the data', () => {
    assert.match(parse(read('templates/coolify.yaml')).services.terse.volumes[0], /:\/data$/)
    const [app] = Object.values<Parsed>(parse(read('templates/caprover.yaml')).services)
    assert.match(app.volumes[0], /:\/data$/)
    const config = attributesOf(read('templates/unraid.xml'), 'Config')
    assert.deepEqual(
      config.map(({ Type, Target }) => `${Type} ${Target}`),
      ['Port 3000', 'Path /data', 'Variable TERSE_BASE_URL'],
    )
  })
})
