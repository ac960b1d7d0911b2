import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { SCHEMA_VERSION } from '../../src/app/database/migrations/migrate.ts'
import { sqliteFile } from '../../src/storage/sqlite/data-files.ts'
import { createFolder } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { makeInstance } from '../support/make-instance.ts'
import { ordinaryUser } from '../support/ordinary-user.ts'
import { startRefusingPostgres } from '../support/refusing-postgres.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const OPEN_PORT_MIN = '/proc/sys/net/ipv4/ip_unprivileged_port_start'
const KEY = 'ab'.repeat(32)
/** Generous, for a busy machine. */
const ENDED_MS_MAX = 60_000

const user = ordinaryUser(PROGRAM)
const skip = typeof user === 'string' ? user : false

/** One reason why a start fails. */
type Fault = {
  readonly name: string
  /** Prepares the data folder, and returns the settings that cause the failure. */
  prepare(dataDir: string): Promise<Record<string, string>> | Record<string, string>
  /** The expected line, after `terse: `. */
  readonly expected: RegExp
  readonly processes?: string
  readonly skip?: string | false
}

/** Every file and folder below a folder. */
function namesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}

/** Gives a folder and its contents to the user that the service runs as. */
function give(folder: string): void {
  if (typeof user === 'string' || user.uid === undefined) return
  chownSync(folder, user.uid, user.gid ?? user.uid)
  for (const name of namesIn(folder)) {
    chownSync(path.join(folder, name), user.uid, user.gid ?? user.uid)
  }
}

function isLowPortOpen(): boolean {
  try {
    return Number(readFileSync(OPEN_PORT_MIN, 'utf8')) <= 80
  } catch {
    return process.platform === 'darwin'
  }
}

describe('a start that fails', { skip, concurrency: 2 }, () => {
  let taken: Server
  let refusing: Awaited<ReturnType<typeof startRefusingPostgres>>
  let port: number
  before(async () => {
    port = await freePort()
    taken = createServer().listen(port, '127.0.0.1')
    refusing = await startRefusingPostgres(
      '28P01',
      'password authentication failed for user "terse"',
    )
  })
  after(() => {
    taken.close()
    refusing.close()
  })

  const FAULTS: Fault[] = [
    {
      name: 'a port in use',
      prepare: () => ({ TERSE_PORT: String(port) }),
      expected: /^Port \d+ is in use by another program\. .*set TERSE_PORT to a free port\.$/,
    },
    {
      name: 'a privileged port',
      prepare: () => ({ TERSE_PORT: '80' }),
      expected: /^The user \w+ may not open port 80\. Set TERSE_PORT .*or allow it: .*CAP_NET_BIND/,
      skip: isLowPortOpen() && 'this system lets every user open port 80',
    },
    {
      name: 'an address of another machine',
      prepare: () => ({ TERSE_HOST: '192.0.2.1' }),
      expected: /^This machine does not have the address 192\.0\.2\.1\. Correct TERSE_HOST\.$/,
    },
    {
      name: 'a data folder that is read-only',
      prepare(dataDir) {
        chmodSync(dataDir, 0o555)
        return {}
      },
      processes: '2',
      expected:
        /^The user \w+ cannot write to the folder \/\S+ \(EACCES\)\. Give it .*TERSE_DATA_DIR\.$/,
    },
    {
      name: 'a data folder that cannot be made',
      prepare(dataDir) {
        chmodSync(dataDir, 0o555)
        return { TERSE_DATA_DIR: path.join(dataDir, 'a', 'b') }
      },
      expected:
        /^The user \w+ cannot create the data folder \/\S+\/a\/b \(EACCES\)\. .*TERSE_DATA_DIR\.$/,
    },
    {
      name: 'a secret key of another user',
      prepare(dataDir) {
        writeFileSync(path.join(dataDir, 'secret.key'), KEY)
        chmodSync(path.join(dataDir, 'secret.key'), 0)
        return {}
      },
      expected: /^The user \w+ cannot use \/\S+\/secret\.key \(EACCES\)\. Give it to that user, or/,
    },
    {
      name: 'an unreachable PostgreSQL',
      prepare: async () => ({
        TERSE_DATABASE_URL: `postgres://terse:hunter2@127.0.0.1:${await freePort()}/links`,
      }),
      processes: '2',
      expected:
        /^The PostgreSQL database "links" at 127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED.*\. Check that the server runs, and TERSE_DATABASE_URL\.$/,
    },
    {
      name: 'an unreachable PostgreSQL, on a node that could start during an outage',
      prepare: async () => ({
        TERSE_DATABASE_URL: `postgres://terse:hunter2@127.0.0.1:${await freePort()}/links`,
        TERSE_LINK_COPY: 'on',
      }),
      expected: /ECONNREFUSED.*\. Check that the server runs, and TERSE_DATABASE_URL\.$/,
    },
    {
      name: 'a wrong password',
      prepare: () => ({ TERSE_DATABASE_URL: refusing.url }),
      expected:
        /^The PostgreSQL .*password authentication failed .*\. Correct the password in TERSE_DATABASE_URL\.$/,
    },
    {
      name: 'a database of a newer version',
      async prepare(dataDir) {
        await makeInstance({ TERSE_DATA_DIR: dataDir })
        const database = new DatabaseSync(sqliteFile(dataDir))
        const version = SCHEMA_VERSION + 1
        database.exec(`insert into schema_migrations values (${version}, 'later', 1, ${version})`)
        database.close()
        return {}
      },
      expected:
        /^The database has schema version \d+, .*Start a newer release of Terse\. Nothing was changed\.$/,
    },
    {
      name: 'an unknown setting',
      prepare: () => ({ TERSE_PROT: '80' }),
      processes: '2',
      expected: /^TERSE_PROT is not a setting: correct or remove it$/,
    },
    {
      name: 'an invalid value in the settings file',
      prepare(dataDir) {
        writeFileSync(path.join(dataDir, 'terse.env'), 'TERSE_PORT=eighty\n')
        return { TERSE_PORT: '' }
      },
      expected: /^TERSE_PORT must be a whole number from 1 to 65535 \(\/\S+\/terse\.env, line 1\)$/,
    },
    {
      name: 'a missing country database',
      prepare: () => ({ TERSE_COUNTRY_DATABASE: '/nowhere/at.mmdb' }),
      expected: /^TERSE_COUNTRY_DATABASE names a file that the user \w+ cannot read \(ENOENT\): /,
    },
    {
      name: 'backups into the data folder',
      prepare: (dataDir) => ({ TERSE_BACKUP_TO: path.join(dataDir, 'backups') }),
      expected: /^Backups cannot be stored in \S+, which is in the data folder .*second volume/,
    },
    {
      name: 'a mistyped recipient of backups',
      prepare: () => ({
        TERSE_BACKUP_TO: '/nowhere',
        TERSE_BACKUP_RECIPIENTS: `age1${'q'.repeat(58)}`,
        TERSE_BACKUP_VERIFY: 'off',
      }),
      expected: /^"age1q+" is not a recipient of age\. Copy it as age-keygen printed it\.$/,
    },
    {
      name: 'an identity that cannot read the backups',
      async prepare(dataDir) {
        const file = path.join(path.dirname(dataDir), 'identity.key')
        writeFileSync(file, `${await generateX25519Identity()}\n`)
        return {
          TERSE_BACKUP_TO: '/nowhere',
          TERSE_BACKUP_RECIPIENTS: await identityToRecipient(await generateX25519Identity()),
          TERSE_BACKUP_IDENTITY_FILE: file,
        }
      },
      expected: /^No identity in \S+identity\.key can decrypt the backup/,
    },
  ]
  for (const { name, prepare, expected, processes = '1', skip = false } of FAULTS) {
    test(`because of ${name} says what to do in one line, and leaves no files behind`, {
      skip,
    }, async (t) => {
      const dataDir = path.join(createFolder(), 'data')
      t.after(() => rmSync(path.dirname(dataDir), { recursive: true }))
      chmodSync(path.dirname(dataDir), 0o755)
      mkdirSync(dataDir)
      const settings = await prepare(dataDir)
      give(dataDir)
      const found = namesIn(dataDir)
      const { code, stdout, stderr } = await start({
        TERSE_DATA_DIR: dataDir,
        TERSE_HOST: '127.0.0.1',
        TERSE_PORT: String(await freePort()),
        TERSE_PROCESSES: processes,
        ...settings,
      })
      assert.equal(code, 1)
      assert.equal(stdout, '')
      const [, line = ''] = /^terse: ([^\n]+)\n$/.exec(stderr) ?? []
      assert.match(line, expected, stderr)
      assert.doesNotMatch(stderr, /hunter2/)
      assert.deepEqual(namesIn(dataDir), found)
    })
  }

  for (const processes of ['1', '2']) {
    test(`after it has begun to serve ends ${processes === '1' ? 'the process' : 'all processes'}`, async (t) => {
      const dataDir = createFolder()
      t.after(() => rmSync(dataDir, { recursive: true, maxRetries: 20 }))
      await makeInstance({ TERSE_DATA_DIR: dataDir })
      const database = new DatabaseSync(sqliteFile(dataDir))
      database.exec(`create trigger refusing before insert on workspaces
        begin select raise(abort, 'on purpose'); end`)
      database.close()
      give(dataDir)
      const { code, stdout, stderr } = await start({
        TERSE_DATA_DIR: dataDir,
        TERSE_HOST: '127.0.0.1',
        TERSE_PORT: String(await freePort()),
        TERSE_PROCESSES: processes,
      })
      assert.equal(code, 1, stderr)
      assert.match(stdout + stderr, /on purpose/)
    })
  }
})

/** Runs `terse serve` as an ordinary user, until it ends. */
function start(env: Record<string, string>) {
  const owner = typeof user === 'string' ? {} : user
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const late = { timeout: ENDED_MS_MAX, killSignal: 'SIGKILL' } as const
    const options = { env: { ...INHERITED_ENV, ...env }, ...owner, ...late }
    execFile(process.execPath, [PROGRAM, 'serve'], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}
