import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { assertResumes, formatSecond, readSorted } from '../../../test/support/import-sources.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { openPolrSql } from './polr-sql.ts'

/** The tables as Polr's migrations make them in MySQL. */
const DUMP = `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE \`clicks\` (
  \`id\` int unsigned NOT NULL AUTO_INCREMENT,
  \`ip\` varchar(255) NOT NULL,
  \`country\` varchar(255) DEFAULT NULL,
  \`referer\` varchar(255) DEFAULT NULL,
  \`referer_host\` varchar(255) DEFAULT NULL,
  \`user_agent\` text,
  \`link_id\` int unsigned NOT NULL,
  \`created_at\` timestamp NULL DEFAULT NULL,
  \`updated_at\` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (\`id\`),
  KEY \`clicks_link_id_index\` (\`link_id\`),
  CONSTRAINT \`clicks_link_id_foreign\` FOREIGN KEY (\`link_id\`) REFERENCES \`links\` (\`id\`) ON DELETE CASCADE
) ENGINE=InnoDB;
INSERT INTO \`clicks\` VALUES (1,'192.0.2.1','DE','https://news.example/a?b=1','news.example','Mozilla/5.0',1,'2024-03-31 01:30:00','2024-03-31 01:30:00'),(2,'2001:db8::1',NULL,NULL,NULL,NULL,1,'2024-04-01 00:00:00','2024-04-01 00:00:00'),(3,'192.0.2.3','US','','','curl/8',2,NULL,NULL);
CREATE TABLE \`links\` (
  \`id\` int unsigned NOT NULL AUTO_INCREMENT,
  \`short_url\` varchar(255) NOT NULL,
  \`long_url\` longtext NOT NULL,
  \`ip\` varchar(255) NOT NULL,
  \`creator\` varchar(255) NOT NULL,
  \`clicks\` int NOT NULL,
  \`secret_key\` varchar(255) NOT NULL,
  \`is_disabled\` tinyint(1) NOT NULL DEFAULT '0',
  \`is_custom\` tinyint(1) NOT NULL DEFAULT '0',
  \`is_api\` tinyint(1) NOT NULL DEFAULT '0',
  \`created_at\` timestamp NULL DEFAULT NULL,
  \`updated_at\` timestamp NULL DEFAULT NULL,
  \`long_url_hash\` varchar(10) DEFAULT NULL,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`links_short_url_unique\` (\`short_url\`)
) ENGINE=InnoDB;
INSERT INTO \`links\` VALUES (1,'plain','https://example.com/','192.0.2.9','anna',12,'',0,1,0,'2024-03-30 10:00:00','2024-03-30 10:00:00','1'),(2,'off','https://example.com/off','192.0.2.9','anna',1,'',1,1,0,'2024-03-30 10:00:00','2024-03-30 10:00:00','2'),(3,'s3','https://example.com/secret','192.0.2.9','',0,'a1b2',0,0,1,NULL,NULL,NULL);
`

function open(t: TestContext, dump: string, timeZone = 'UTC') {
  const file = path.join(temporaryFolder(t), 'polr.sql')
  writeFileSync(file, dump)
  return openPolrSql({ kind: 'polr-sql', file, timeZone })
}

describe('a dump of Polr', () => {
  test('has links, with the secret in the key, and those that were disabled closed', async (t) => {
    const { links, refused } = await readSorted(open(t, DUMP))
    assert.deepEqual(
      refused.filter(({ place }) => place.startsWith('links')),
      [],
    )
    assert.deepEqual(
      links.map(({ ref, key, url, clicks, closed, created_at, rest }) => ({
        ...{ ref, key, url, clicks, rest },
        isClosed: closed !== null,
        created: formatSecond(created_at),
      })),
      [
        {
          ...{ ref: '1', key: 'plain', url: 'https://example.com/', clicks: 12 },
          ...{ rest: {}, isClosed: false, created: '2024-03-30T10:00:00Z' },
        },
        {
          ...{ ref: '2', key: 'off', url: 'https://example.com/off', clicks: 1 },
          ...{ rest: {}, isClosed: true, created: '2024-03-30T10:00:00Z' },
        },
        {
          ...{ ref: '3', key: 's3/a1b2', url: 'https://example.com/secret', clicks: 0 },
          ...{ rest: {}, isClosed: false, created: '' },
        },
      ],
    )
  })

  test('has clicks of links by their numbers', async (t) => {
    const { clicks, refused } = await readSorted(open(t, DUMP))
    assert.deepEqual(
      clicks.map(({ resume: _, ...click }) => ({ ...click, at: formatSecond(click.at) })),
      [
        {
          ...{ kind: 'click', ref: '1', at: '2024-03-31T01:30:00Z', address: '192.0.2.1' },
          ...{ user_agent: 'Mozilla/5.0', referrer: 'https://news.example/a?b=1' },
          ...{ country: 'DE', is_bot: false },
        },
        {
          ...{ kind: 'click', ref: '1', at: '2024-04-01T00:00:00Z', address: '2001:db8::1' },
          ...{ user_agent: '', referrer: '', country: '', is_bot: false },
        },
      ],
    )
    assert.deepEqual(
      refused.map(({ place, reason }) => [place, reason]),
      [['clicks, row 3', 'created_at is not set.']],
    )
  })

  test('is in the zone of the server when it sets none', async (t) => {
    const dump = DUMP.replace("/*!40103 SET TIME_ZONE='+00:00' */;\n", '')
    const { links } = await readSorted(open(t, dump, 'Europe/Berlin'))
    assert.equal(formatSecond(links[0]?.created_at ?? null), '2024-03-30T09:00:00Z')
  })

  test('is read from any record on', (t) => assertResumes(open(t, DUMP)))
})
