import type { Setting } from './page-shell.ts'

const CSV = "printf 'Short link,Destination URL\\nold.example/summer,https://example.com/summer\\n'"

/** What the reader of a page has besides a fresh instance. Pages that are not here need nothing. */
export const PAGES: Readonly<Record<string, Setting>> = {
  'docs/api.md': {
    settings: { TERSE_DNS_TARGET: 'go.example.com' },
    addresses: { 'links.acme.com': '198.51.100.7', 'go.example.com': '203.0.113.5' },
  },
  'docs/command-line.md': {
    settings: { TERSE_DOMAIN_PROOF: 'routing', TERSE_PUBLIC_ADDRESSES: '127.0.0.1' },
    addresses: { 'links.acme.com': '127.0.0.1' },
    prelude: `${CSV} > links.csv`,
    paths: { '/mnt/backup': './backups' },
  },
  'docs/moving/bitly.md': { prelude: `${CSV} > bitly.csv` },
  'docs/moving/chhoto.md': {
    prelude: `"$NODE" <<'END'
const { DatabaseSync } = require('node:sqlite')
new DatabaseSync('urls.sqlite').exec(\`
  create table urls (
    id integer primary key, short_url text not null, long_url text not null, hits integer not null,
    expiry_time integer, notes text);
  insert into urls values (1, 'summer', 'https://example.com/summer', 12, null, null)\`)
END`,
  },
  'docs/moving/csv.md': { prelude: `${CSV} > links.csv` },
  'docs/moving/dub.md': { prelude: `${CSV} > links.csv` },
  'docs/moving/kutt.md': { prelude: 'cp "$FIXTURES/kutt/kutt.db" .' },
  'docs/moving/sink.md': { prelude: 'cp "$FIXTURES/sink/backup.json" sink-links.json' },
  'docs/moving/terse.md': { prelude: 'npx terse workspace create acme' },
  'docs/moving/yourls.md': { prelude: 'mysqldump() { cat "$FIXTURES/yourls/yourls.sql"; }' },
  'docs/operating/backups.md': { paths: { '/mnt/backup': './backups' } },
}
