import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import {
  assertResumes,
  formatSecond,
  readRecords,
  readSorted,
} from '../../../test/support/import-sources.ts'
import {
  describeKutt,
  faultOf,
  KUTT_FILE,
  KUTT_TRUTH,
  openKuttFile,
} from '../../../test/support/kutt-source.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { openKuttSql } from './kutt.ts'

/** Returns the path of a copy of the database on which statements were run. */
function changed(t: TestContext, statements: string): string {
  const file = path.join(temporaryFolder(t), 'kutt.db')
  copyFileSync(KUTT_FILE, file)
  const database = new DatabaseSync(file)
  database.exec(statements)
  database.close()
  return file
}

describeKutt("Kutt's SQLite database", openKuttFile)

describe("Kutt's SQLite database", () => {
  test('is left as it is, with no file beside it', async (t) => {
    const file = changed(t, 'pragma journal_mode = delete')
    const before = [readFileSync(file), statSync(file).mtimeMs]
    await readRecords(openKuttFile(file))
    assert.deepEqual([readFileSync(file), statSync(file).mtimeMs], before)
  })

  test('is read while Kutt writes', async (t) => {
    const file = changed(t, 'pragma journal_mode = wal')
    const kutt = new DatabaseSync(file)
    kutt.exec("update links set visit_count = 999 where address = 'plain'")
    const { links } = await readSorted(openKuttFile(file))
    assert.equal(links.find(({ key }) => key === 'plain')?.clicks, 999)
    kutt.close()
  })

  const JOURNALS: { mode: string; added: number }[] = [
    // Reading goes on from the view with which it began.
    { mode: 'wal', added: 0 },
    // There is no such view without keeping Kutt from writing.
    { mode: 'delete', added: 1 },
  ]
  for (const { mode, added } of JOURNALS)
    test(`keeps Kutt with the journal mode ${mode} from nothing while it is read`, async (t) => {
      const file = changed(t, `pragma journal_mode = ${mode}`)
      const whole = await readRecords(openKuttFile(file))
      const kutt = new DatabaseSync(file, { timeout: 0 })
      kutt.exec("update links set target = target || '' where id = 1")
      const { signal } = new AbortController()
      const reading = openKuttFile(file).read({ resume: undefined, signal })
      await reading.next()
      kutt.exec('insert into visits (link_id, total) values (1, 5)')
      const rest = await Array.fromAsync(reading)
      kutt.close()
      assert.equal(1 + rest.length, whole.length + added)
    })

  const REFUSED: { name: string; statement: string; reason: RegExp; table: string }[] = [
    {
      name: 'a date that is none',
      statement: "update links set created_at = 'soon' where id = 4",
      reason: /created_at/,
      table: 'links',
    },
    {
      name: 'an expiry that is none',
      statement: "update links set expire_in = 'soon' where id = 4",
      reason: /expire_in/,
      table: 'links',
    },
    {
      name: 'a target that is binary',
      statement: "update links set target = x'00' where id = 4",
      reason: /target/,
      table: 'links',
    },
    {
      name: 'a negative count',
      statement: 'update visits set total = -1 where id = 4',
      reason: /total/,
      table: 'visits',
    },
    {
      name: 'visits of no link',
      statement: 'update visits set link_id = null where id = 4',
      reason: /no link/,
      table: 'visits',
    },
  ]
  for (const { name, statement, reason, table } of REFUSED)
    test(`refuses ${name}, and takes the other rows`, async (t) => {
      const { refused, links, counts } = await readSorted(openKuttFile(changed(t, statement)))
      assert.deepEqual(
        refused.map(({ place }) => place),
        [`${table}, id 4`],
      )
      assert.match(refused[0]?.reason ?? '', reason)
      const whole = await readSorted(openKuttFile())
      assert.equal(links.length + counts.length, whole.links.length + whole.counts.length - 1)
    })

  test('shows no hash of a password in a refused row', async (t) => {
    const file = changed(t, "update links set created_at = 'soon' where password is not null")
    const { refused } = await readSorted(openKuttFile(file))
    assert.ok(refused.length > 0)
    assert.ok(refused.every(({ row }) => !row.includes('$2')))
  })

  test('takes dates in milliseconds and ISO 8601 too', async (t) => {
    const file = changed(
      t,
      "update links set created_at = 1700000000000 where id = 1; update links set created_at = '2023-11-14T22:13:20.000Z' where id = 2",
    )
    const { links } = await readSorted(openKuttFile(file))
    assert.equal(formatSecond(links[0]?.created_at ?? null), '2023-11-14T22:13:20Z')
    assert.equal(formatSecond(links[1]?.created_at ?? null), '2023-11-14T22:13:20Z')
  })

  test('is read without the index of visits', async (t) => {
    const { links } = await readSorted(openKuttFile(changed(t, 'drop index visits_link_id_index')))
    assert.equal(links.length, KUTT_TRUTH.length)
    assert.ok(links.every(({ last_click }) => last_click === null))
  })

  const HOSTILE: { name: string; statement: string }[] = [
    {
      name: 'a view',
      statement: 'alter table visits rename to v; create view visits as select * from v',
    },
    {
      name: 'a computed column',
      statement: 'alter table links add column x as (zeroblob(1000000000))',
    },
    { name: 'no such table', statement: 'drop table visits' },
    {
      name: 'another key',
      statement:
        'drop table visits; create table visits (id text, link_id, total, created_at, updated_at)',
    },
    {
      name: 'a table without row ids',
      statement:
        'drop table visits; create table visits (id integer primary key, link_id, total, created_at, updated_at) without rowid',
    },
    { name: 'no such column', statement: 'alter table visits drop column total' },
  ]
  for (const { name, statement } of HOSTILE)
    test(`is refused with ${name}`, async (t) => {
      const reading = readRecords(openKuttFile(changed(t, statement)))
      await assert.rejects(reading, faultOf(/no database of Kutt/))
    })

  const UNREADABLE = [
    { set: 'description = zeroblob(2000000)', reason: 'It has a value of more than 1 MiB.' },
    { set: 'visit_count = 9007199254740993', reason: 'It has a number of more than 2^53.' },
  ]
  for (const { set, reason } of UNREADABLE)
    test(`refuses the row of a link whose ${set}, and no other`, async (t) => {
      const whole = await readSorted(openKuttFile(KUTT_FILE))
      const file = changed(t, `update links set ${set} where id = 3`)
      const { links, refused } = await readSorted(openKuttFile(file))
      assert.equal(links.length, whole.links.length - 1)
      const unreadable = refused.filter(({ place }) => place === 'links, id 3')
      assert.deepEqual(
        unreadable.map((row) => row.reason),
        [reason],
      )
    })

  test('is refused when it is damaged, or another file', async (t) => {
    const whole = readFileSync(KUTT_FILE)
    const half = path.join(temporaryFolder(t), 'half.db')
    writeFileSync(half, whole.subarray(0, whole.length / 2))
    await assert.rejects(readRecords(openKuttFile(half)), faultOf(/malformed|corrupt/))
    const other = path.join(temporaryFolder(t), 'other.db')
    writeFileSync(other, 'x'.repeat(5_000))
    await assert.rejects(readRecords(openKuttFile(other)), faultOf(/not a database/))
  })
})

/** The tables as Kutt makes them in MySQL. */
const DUMP = `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE \`domains\` (
  \`id\` int unsigned NOT NULL AUTO_INCREMENT,
  \`banned\` tinyint(1) NOT NULL DEFAULT '0',
  \`banned_by_id\` int unsigned DEFAULT NULL,
  \`address\` varchar(255) NOT NULL,
  PRIMARY KEY (\`id\`)
) ENGINE=InnoDB;
INSERT INTO \`domains\` VALUES (3,0,NULL,'go.example.org');
CREATE TABLE \`links\` (
  \`id\` int unsigned NOT NULL AUTO_INCREMENT,
  \`address\` varchar(255) NOT NULL,
  \`description\` varchar(255) DEFAULT NULL,
  \`banned\` tinyint(1) NOT NULL DEFAULT '0',
  \`domain_id\` int unsigned DEFAULT NULL,
  \`password\` varchar(255) DEFAULT NULL,
  \`expire_in\` datetime DEFAULT NULL,
  \`target\` mediumtext NOT NULL,
  \`user_id\` int unsigned DEFAULT NULL,
  \`visit_count\` int NOT NULL DEFAULT '0',
  \`uuid\` char(36) NOT NULL,
  \`created_at\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (\`id\`)
) ENGINE=InnoDB;
INSERT INTO \`links\` VALUES (1,'own','Öwn',0,3,NULL,NULL,'https://example.com/',1,14,'u','2024-07-01 12:00:00'),(2,'shut',NULL,1,NULL,'$2a$10$hash','2024-12-01 00:00:00','https://example.com/shut',NULL,0,'u','2024-01-01 12:00:00'),(4,'lost',NULL,0,9,'$2b$12$hash',NULL,'https://example.com/',NULL,0,'u','2024-01-01 12:00:00');
CREATE TABLE \`visits\` (
  \`id\` int unsigned NOT NULL AUTO_INCREMENT,
  \`countries\` json DEFAULT NULL,
  \`created_at\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`updated_at\` datetime DEFAULT CURRENT_TIMESTAMP,
  \`link_id\` int DEFAULT NULL,
  \`total\` int NOT NULL DEFAULT '0',
  \`br_chrome\` int NOT NULL DEFAULT '0',
  PRIMARY KEY (\`id\`)
) ENGINE=InnoDB;
INSERT INTO \`visits\` VALUES (1,'{"de": 10}','2024-07-02 10:05:00','2024-07-02 10:55:00',1,10,10),(2,'{}','2024-07-03 00:00:00',NULL,NULL,1,1);
`

function open(t: TestContext, dump = DUMP) {
  const file = path.join(temporaryFolder(t), 'kutt.sql')
  writeFileSync(file, dump)
  return openKuttSql({ kind: 'kutt-sql', file, timeZone: 'Europe/Berlin' })
}

describe('a dump of Kutt on MySQL', () => {
  test('has links on their domains, locked and closed as in Kutt', async (t) => {
    const { links, refused } = await readSorted(open(t))
    const shown = links.map(({ key, domain, url, closed, protection, options, clicks }) => ({
      ...{ key, domain, url, clicks, options },
      ...{ isClosed: closed !== null, protection: protection.kind },
    }))
    assert.deepEqual(shown, [
      {
        ...{ key: 'own', domain: 'go.example.org', url: 'https://example.com/', clicks: 14 },
        ...{ options: { notes: 'Öwn' }, isClosed: false, protection: 'none' },
      },
      {
        ...{ key: 'shut', domain: null, url: 'https://example.com/shut', clicks: 0, options: {} },
        ...{ isClosed: true, protection: 'unknown password' },
      },
    ])
    assert.deepEqual(
      refused.map(({ place, reason }) => `${place}: ${reason}`),
      ['links, row 3: Its domain is not in the dump.', 'visits, row 2: link_id is NULL.'],
    )
    assert.match(refused[0]?.row ?? '', /lost/)
    assert.doesNotMatch(refused[0]?.row ?? '', /hash/)
  })

  test('has dates in the zone of the server, whatever zone the dump sets', async (t) => {
    const { links, counts } = await readSorted(open(t))
    assert.equal(formatSecond(links[0]?.created_at ?? null), '2024-07-01T10:00:00Z')
    assert.equal(formatSecond(links[1]?.expires_at ?? null), '2024-11-30T23:00:00Z')
    const [count] = counts
    assert.deepEqual(
      [count?.ref, count?.count, formatSecond(count?.at ?? null)],
      [links[0]?.ref, 10, '2024-07-02T08:55:00Z'],
    )
  })

  test('goes on after every record', (t) => assertResumes(open(t)))
})
