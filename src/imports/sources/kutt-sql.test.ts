import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { assertResumes, formatSecond, readSorted } from '../../../test/support/import-sources.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { openKuttSql } from './kutt-sql.ts'

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
    const shown = links.map(({ key, domain, url, closed, protection, rest, clicks }) => ({
      ...{ key, domain, url, clicks, rest },
      ...{ isClosed: closed !== null, protection: protection.kind },
    }))
    assert.deepEqual(shown, [
      {
        ...{ key: 'own', domain: 'go.example.org', url: 'https://example.com/', clicks: 14 },
        ...{ rest: { description: 'Öwn' }, isClosed: false, protection: 'none' },
      },
      {
        ...{ key: 'shut', domain: null, url: 'https://example.com/shut', clicks: 0, rest: {} },
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
