import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createFolder, SQLITE } from '../support/engines.ts'
import { skipWithout } from '../support/programs.ts'
import { metricNames, openPromtool } from '../support/prometheus.ts'
import { startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const DASHBOARD = fileOf('../../docs/operating/grafana-dashboard.json')
const ALERTS = fileOf('../../docs/operating/alerts.yml')
const ALERT_TESTS = fileOf('./alerts.test.yml')

/** Metrics that Prometheus itself adds to every target. */
const BUILT_IN = ['up']
/** The columns of a Grafana dashboard. */
const COLUMNS = 24

function fileOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

/** The metrics that a query reads: every name that is no function, keyword or label. */
function metricsOf(query: string): string[] {
  const bare = query
    .replace(/\{[^}]*\}|"[^"]*"/g, '')
    .replace(/\b(?:by|without|ignoring|on)\s*\([^)]*\)/g, '')
  return bare.match(/\b(?:up|[a-z]+_[a-z_]+)\b(?!\s*\()/g) ?? []
}

type Panel = {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  datasource?: { uid: string }
  options: object
  fieldConfig: { defaults: { custom: object } }
  targets?: { expr: string; refId: string }[]
}

describe('the files for operators', () => {
  const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8'))
  const panels: Panel[] = dashboard.panels
  const alerts = readFileSync(ALERTS, 'utf8')
  let measured: Set<string>
  before(async () => {
    const service = await startService(SQLITE)
    const { body } = await visit(service.port, '/metrics')
    await service.stop()
    measured = new Set([...metricNames(body), ...BUILT_IN])
  })

  test('contain a dashboard that Grafana loads', () => {
    assert.equal(typeof dashboard.title, 'string')
    assert.match(dashboard.uid, /^[\w-]{1,40}$/)
    assert.ok(dashboard.schemaVersion >= 36, 'older ones are rewritten at loading')
    assert.equal(dashboard.id, undefined, 'an id of another Grafana is in the way of loading')
    const variables: string[] = dashboard.templating.list.map(({ name }: { name: string }) => name)
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    for (const { title, type, gridPos, datasource, targets = [] } of panels) {
      assert.ok(gridPos.x + gridPos.w <= COLUMNS, title)
      if (type === 'row') continue
      assert.equal(datasource?.uid, '$datasource', title)
      assert.ok(targets.length > 0, title)
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
      for (const { expr } of targets) {
        for (const [, name = ''] of expr.matchAll(/\$(?!__)\{?(\w+)/g)) {
          assert.ok(variables.includes(name), `${title} names $${name}`)
        }
      }
    }
    for (const [index, one] of panels.entries()) {
      for (const other of panels.slice(index + 1)) {
        const [a, b] = [one.gridPos, other.gridPos]
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
        assert.ok(apart, `${one.title} lies over ${other.title}`)
      }
    }
  })

  test('contain a dashboard that matches Grafana’s own types', async (t) => {
    const schema = import.meta.resolve('@grafana/schema/package.json')
    const types = fileURLToPath(new URL('dist/types', schema))
    const folder = createFolder()
    t.after(() => rmSync(folder, { recursive: true }))
    const graphs = panels.filter(({ type }) => type === 'timeseries')
    assert.equal(graphs.length, panels.filter(({ type }) => type !== 'row').length)
    const options = graphs.map((graph) => graph.options)
    const fields = graphs.map(({ fieldConfig }) => fieldConfig.defaults.custom)
    const graphTypes = `${types}/raw/composable/timeseries/panelcfg/x/types.gen.d.ts`
    const lines = [
      `import type { Dashboard } from '${types}/index.d.ts'`,
      `import type { FieldConfig, Options } from '${graphTypes}'`,
      // Enumeration values as strings, as JSON contains them.
      'type Written<T> = T extends string ? `$' + '{T}` : { [K in keyof T]: Written<T[K]> }',
      `export const dashboard: Dashboard = ${JSON.stringify(dashboard, null, 2)}`,
      `export const options: Written<Options>[] = ${JSON.stringify(options, null, 2)}`,
      `export const fields: Written<FieldConfig>[] = ${JSON.stringify(fields, null, 2)}`,
    ]
    const file = path.join(folder, 'dashboard.ts')
    writeFileSync(file, lines.join('\n'))
    const compiler = fileOf('../../node_modules/.bin/tsc')
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--moduleResolution', 'bundler']
    const compile = promisify(execFile)(compiler, [...flags, file], { cwd: folder })
    const { stdout } = await compile.catch((error) => error)
    assert.equal(stdout, '')
  })

  test('name only metrics that exist, and nearly all of them', () => {
    const queries = [
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...[...alerts.matchAll(/expr: (?:>\n((?: {10}.*\n)+)|(.+))/g)].map(
        ([, folded, plain]) => folded ?? plain ?? '',
      ),
    ]
    const named = new Set(queries.flatMap(metricsOf))
    assert.ok(named.size > 20, [...named].join())
    for (const name of named) assert.ok(measured.has(name), `${name} is not measured`)
    const unnamed = [...measured].filter(
      (name) => name.startsWith('terse_') && !named.has(name) && !/_(sum|count)$/.test(name),
    )
    assert.deepEqual(unnamed, ['terse_cache_entries'])
  })

  test('contain queries and rules that Prometheus accepts, and alerts that fire as documented', {
    skip: skipWithout('promtool'),
  }, (t) => {
    const promtool = openPromtool()
    promtool.run(['check', 'rules', ALERTS])
    promtool.run(['test', 'rules', ALERT_TESTS])
    const rules = panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr }) => {
        const query = expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\{?\w+\}?/g, '.*')
        return `      - { record: "a:b", expr: ${JSON.stringify(query)} }`
      }),
    )
    const folder = createFolder()
    t.after(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'dashboard.yml')
    writeFileSync(file, `groups:\n  - name: dashboard\n    rules:\n${rules.join('\n')}\n`)
    promtool.run(['check', 'rules', '--lint=none', file])
  })
})
