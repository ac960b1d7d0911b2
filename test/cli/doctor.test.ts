import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import {
  damagedJournalsFolder,
  journalsRoot,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { commandLine } from '../../src/identity/actor.ts'
import type { Finding } from '../../src/operations/doctor/host-findings.ts'
import { sqliteFile } from '../../src/storage/sqlite/data-files.ts'
import { newNode } from '../storage/samples.ts'
import { ENGINES, type Engine, type Place, SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'
import { startProcess } from '../support/service-process.ts'
import { makeReadOnly, mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'
import { listFolder } from './folder-listing.ts'

const MIB = 1024 * 1024

/** Runs the doctor, and expects that it leaves every file unchanged. */
async function examine(place: Place, env: Record<string, string> = {}) {
  const before = listFolder(place.dataDir)
  const result = await runCommand(['doctor', '--json'], { ...place.env, ...env })
  assert.deepEqual(listFolder(place.dataDir), before, 'the doctor changed something')
  assert.equal(result.stderr, '')
  const findings: Finding[] = JSON.parse(result.stdout)
  const about = (subject: string): Finding => {
    const finding = findings.find((candidate) => candidate.subject === subject)
    assert.ok(finding, `${subject} in ${result.stdout}`)
    return finding
  }
  return { ...result, findings, about }
}

async function placeFor(t: TestContext, engine: Engine): Promise<Place> {
  const place = await engine.createPlace()
  t.after(() => place.remove())
  return place
}

/** Creates a data folder or database with a workspace, and no service running. */
async function usedPlace(t: TestContext, engine: Engine): Promise<Place> {
  const place = await placeFor(t, engine)
  await makeInstance(place.env, async ({ workspaces }) => {
    await workspaces.create(commandLine, 'acme')
  })
  return place
}

async function execute(place: Place, statement: string): Promise<void> {
  if (place.databaseUrl === undefined) {
    const database = new DatabaseSync(sqliteFile(place.dataDir))
    database.exec(statement)
    database.close()
    return
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  await client.query(statement)
  await client.end()
}

for (const engine of ENGINES) {
  describe(`terse doctor on ${engine.title}`, () => {
    test('says what each name in TERSE_OIDC_ROLES means, and warns of a deleted workspace', async (t) => {
      const place = await usedPlace(t, engine)
      const env = {
        TERSE_OIDC_ISSUER: 'https://id.example.com',
        TERSE_OIDC_CLIENT_ID: 'terse',
        TERSE_OIDC_ROLES: 'editors=acme:member',
      }
      assert.match((await examine(place, env)).about('groups').text, /bound at the next sign-on/)
      const run = (...args: string[]) => runCommand(['workspace', ...args], place.env)
      assert.equal((await run('bind-groups', 'acme')).code, 0)
      assert.equal((await run('rename', 'acme', 'acme-eu')).code, 0)
      const bound = (await examine(place, env)).about('groups')
      assert.equal(bound.state, 'ok')
      assert.match(bound.text, /^acme in TERSE_OIDC_ROLES is .* called acme-eu$/)
      assert.equal((await run('delete', 'acme-eu', '--yes')).code, 0)
      assert.equal((await run('create', 'acme')).code, 0)
      const { state, advice = '' } = (await examine(place, env)).about('groups')
      assert.equal(state, 'warning')
      assert.match(advice, /workspace bind-groups acme/)
    })

    test('reports a healthy instance beside a running server', async (t) => {
      const place = await placeFor(t, engine)
      const service = await startProcess(place)
      try {
        const { code, stdout, stderr } = await runCli(['doctor'], place.env)
        assert.equal(code, 0, stderr)
        assert.match(stdout, /^ok +program +Terse \d+\.\d+\.\d+ on Node\.js \d+/m)
        assert.match(
          stdout,
          new RegExp(`^ok +database +${engine.name} [\\d.]+, 1 workspace, 0 links`, 'm'),
        )
        assert.match(stdout, /^ok +schema +version \d+/m)
        assert.match(stdout, /^ok +clicks +0 bytes/m)
        assert.match(stdout, /^ok +clock /m)
        assert.match(stdout, /^\w+ +disk +\d+ MiB free/m)
        assert.match(stdout, /^ok +nodes +1 running/m)
        assert.ok(stdout.split('\n').length <= 11, 'a few lines')
        assert.match(stdout, /^warning +backups +none was made\n +Set TERSE_BACKUP_TO/m)
        assert.doesNotMatch(stdout, /problem|terse_|postgres:\/\//)
      } finally {
        await service.stop()
      }
    })

    test('reports the same when no server runs, and changes nothing', async (t) => {
      const { code, findings } = await examine(await usedPlace(t, engine))
      assert.equal(code, 0)
      assert.deepEqual(
        findings.map(({ subject, state }) => `${subject} ${state}`),
        [
          'program ok',
          'database ok',
          'schema ok',
          ...(engine === SQLITE ? ['files ok'] : []),
          'clicks ok',
          'nodes ok',
          'clock ok',
          'disk ok',
          'backups warning',
        ],
      )
    })

    test('explains what to do about a database that is newer than the program', async (t) => {
      const place = await usedPlace(t, engine)
      await execute(place, "insert into schema_migrations values (999, 'from the future', 0, 998)")
      const { code, about } = await examine(place)
      assert.equal(code, 1)
      const finding = about('database')
      assert.equal(finding.state, 'problem')
      assert.match(finding.text, /version 999/)
      const said = `${finding.text} ${finding.advice}`
      assert.match(said, /newer release/)
      assert.doesNotMatch(said, /TERSE_DATABASE_URL/, 'the settings are right')
    })
  })
}

describe('terse doctor', () => {
  test('reports that there is no data yet, and creates none', async (t) => {
    const place = await placeFor(t, SQLITE)
    const { code, about } = await examine(place)
    assert.equal(code, 0)
    assert.equal(about('database').state, 'warning')
    assert.match(about('database').advice ?? '', /terse serve/)

    const nowhere = path.join(place.dataDir, 'nowhere')
    const absent = await examine(place, { TERSE_DATA_DIR: nowhere })
    assert.equal(absent.code, 0)
    assert.equal(absent.about('database').state, 'warning')
  })

  test('warns when the disk has less free space than the watermark', {
    skip: skipWithoutMount(),
  }, async (t) => {
    const place = await SQLITE.createPlace()
    mountTmpfs(place.dataDir, 'size=16m')
    t.after(async () => {
      unmount(place.dataDir)
      await place.remove()
    })
    await makeInstance(place.env, async ({ workspaces }) => {
      await workspaces.create(commandLine, 'acme')
    })
    writeFileSync(path.join(place.dataDir, 'ballast'), Buffer.alloc(MIB))
    const { code, about } = await examine(place, { TERSE_DISK_LOW_PERCENT: '99' })
    assert.equal(code, 0)
    assert.equal(about('disk').state, 'warning')
    assert.ok(about('disk').text.includes(place.dataDir))
    assert.match(about('disk').advice ?? '', /^Free disk space .*TERSE_DISK_LOW_PERCENT/)
  })

  test('reports a full disk and a read-only folder', { skip: skipWithoutMount() }, async (t) => {
    const place = await SQLITE.createPlace()
    mountTmpfs(place.dataDir, 'size=4m')
    t.after(async () => {
      unmount(place.dataDir)
      await place.remove()
    })
    await makeInstance(place.env, async ({ workspaces }) => {
      await workspaces.create(commandLine, 'acme')
    })
    const { bavail, bsize } = statfsSync(place.dataDir)
    writeFileSync(path.join(place.dataDir, 'ballast'), Buffer.alloc(bavail * bsize - 100 * 1024))
    const full = await examine(place)
    assert.equal(full.code, 1)
    assert.equal(full.about('disk').state, 'problem')
    assert.match(
      full.about('disk').advice ?? '',
      /^Free disk space: once the disk is full, nothing is stored until \d+ MiB/,
    )
    assert.doesNotMatch(full.about('disk').text, /treats the disk as full/)

    // A service that found the disk full has emptied its reserve.
    writeFileSync(path.join(place.dataDir, 'reserve'), '')
    const released = (await examine(place)).about('disk')
    assert.match(released.text, /; the service treats the disk as full$/)
    assert.match(released.advice ?? '', /^Free disk space: nothing is stored until \d+ MiB/)

    makeReadOnly(place.dataDir)
    const { code, about } = await examine(place)
    assert.equal(code, 1)
    assert.ok(about('disk').text.startsWith(`The folder ${place.dataDir} is read-only.`))
  })

  test('reports a file in place of the data folder', async (t) => {
    const place = await placeFor(t, SQLITE)
    const file = path.join(place.dataDir, 'file')
    writeFileSync(file, '')
    const { code, about } = await examine(place, { TERSE_DATA_DIR: file })
    assert.equal(code, 1)
    assert.equal(about('data').state, 'problem')
    assert.ok(about('data').advice)
  })

  test('reports an unreachable database without showing its password', async (t) => {
    const place = await placeFor(t, SQLITE)
    const { code, stdout, about } = await examine(place, {
      TERSE_DATABASE_URL: `postgres://terse:hunter2@127.0.0.1:${await freePort()}/terse`,
    })
    assert.equal(code, 1)
    assert.equal(about('database').state, 'problem')
    assert.match(about('database').text, /ECONNREFUSED/)
    assert.match(about('database').advice ?? '', /TERSE_DATABASE_URL/)
    assert.doesNotMatch(stdout, /hunter2/)
  })

  test('reports a database file that is not a database', async (t) => {
    const place = await placeFor(t, SQLITE)
    writeFileSync(
      sqliteFile(place.dataDir),
      'not a database, but longer than its header is'.repeat(9),
    )
    const { code, about } = await examine(place)
    assert.equal(code, 1)
    assert.match(about('database').text, /not a database/)
  })

  test('warns of a database that the next start will upgrade', async (t) => {
    const place = await usedPlace(t, SQLITE)
    await execute(place, 'delete from schema_migrations')
    const { code, about } = await examine(place)
    assert.equal(code, 0)
    assert.equal(about('schema').state, 'warning')
    assert.match(about('schema').advice ?? '', /next start/)
  })

  test('measures the backlog of clicks, and warns when it is large', async (t) => {
    const place = await usedPlace(t, SQLITE)
    const journal = path.join(journalsRoot(place.dataDir), 'left')
    mkdirSync(journal, { recursive: true })
    writeFileSync(segmentFile(journal, 1), Buffer.alloc(1_234))
    const few = await examine(place)
    assert.equal(few.about('clicks').state, 'ok')
    assert.match(few.about('clicks').text, /^1234 bytes/)

    writeFileSync(segmentFile(journal, 2), Buffer.alloc(9 * MIB))
    const many = await examine(place)
    assert.equal(many.code, 0)
    assert.equal(many.about('clicks').state, 'warning')
    assert.ok(many.about('clicks').advice)
  })

  test('reports damaged journals with their paths, and the rest of the backlog', async (t) => {
    const place = await usedPlace(t, SQLITE)
    const kept = damagedJournalsFolder(place.dataDir)
    mkdirSync(kept)
    assert.equal((await examine(place)).code, 0)

    writeFileSync(path.join(kept, 'one-1.journal'), 'damage')
    const { code, findings } = await examine(place)
    assert.equal(code, 1)
    const [waiting, damage] = findings.filter(({ subject }) => subject === 'clicks')
    assert.equal(waiting?.state, 'ok')
    assert.equal(damage?.state, 'problem')
    assert.ok(damage.text.includes(kept))
    assert.ok(damage.advice)
  })

  test('warns of an untrusted proxy that terminates HTTPS', async (t) => {
    const place = await usedPlace(t, SQLITE)
    const https = { TERSE_BASE_URL: 'https://go.example.com' }
    const { code, about } = await examine(place, https)
    assert.equal(code, 0)
    assert.equal(about('proxy').state, 'warning')
    assert.match(about('proxy').advice ?? '', /TERSE_TRUST_PROXY/)
    for (const harmless of [{ TERSE_TRUST_PROXY: '127.0.0.1' }, { TERSE_TLS: 'auto' }]) {
      const { findings } = await examine(place, { ...https, ...harmless })
      assert.ok(!findings.some(({ subject }) => subject === 'proxy'))
    }
  })

  for (const engine of ENGINES) {
    test(`warns of an untrusted proxy that a node has seen: ${engine.name}`, async (t) => {
      const place = await usedPlace(t, engine)
      await makeInstance(place.env, async ({ nodes }) => {
        const { beat_at: _, ...node } = newNode('behind-a-proxy')
        await nodes.beat({ ...node, untrusted_proxy: '172.18.0.5' })
      })
      const { about } = await examine(place)
      assert.equal(about('proxy').state, 'warning')
      assert.match(about('proxy').text, /172\.18\.0\.5 is not trusted/)
      assert.match(about('proxy').advice ?? '', /TERSE_TRUST_PROXY/)
    })
  }

  test('warns of a clock that is behind the newest change', async (t) => {
    const place = await usedPlace(t, SQLITE)
    const future = (Date.now() + 3_600_000) * 1_000
    await execute(place, `insert into changes (at, kind, subject) values (${future}, 'link', 'x')`)
    const { code, about } = await examine(place)
    assert.equal(code, 0)
    assert.equal(about('clock').state, 'warning')
    assert.match(about('clock').text, /3[56]\d\d s in the future/)
    assert.match(about('clock').advice ?? '', /NTP/)
  })

  test('creates neither key nor database when it is run in the wrong folder', async (t) => {
    const place = await placeFor(t, SQLITE)
    await examine(place)
    assert.deepEqual(readdirSync(place.dataDir), [])
  })
})
