import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { createFolder } from '../../../test/support/engines.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { SETTINGS } from './settings.ts'

const KEY = 'c0ffee'.repeat(10).padEnd(64, '0')
const OIDC = { TERSE_OIDC_ISSUER: 'https://id.example.com', TERSE_OIDC_CLIENT_ID: 'terse' }
const URL_WITH_PASSWORD = 'postgres://user:hunter2@db.example/terse'

/** Every fault that `readConfig` reports. */
function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    for (const fault of error.faults) assert.ok(error.message.includes(fault))
    return error.faults
  }
  return []
}

/** Without the sets of networks. */
function plainOf(config: Config) {
  const { trustedProxies, metricsReaders, ...rest } = config
  const { scannerNetworks, previewNetworks, webhookNetworks, ...plain } = rest
  return plain
}

describe('readConfig', () => {
  const defaults: ReturnType<typeof plainOf> = {
    host: undefined,
    port: 3000,
    baseUrl: 'http://localhost:3000',
    tls: undefined,
    hstsSeconds: 0,
    internalListen: undefined,
    dataDir: path.resolve('data'),
    settingsFile: undefined,
    databaseUrl: undefined,
    clicks: undefined,
    databaseTimeoutMs: 2_000,
    diskLowRatio: 0.05,
    fileCheckMs: 86_400_000,
    secretKey: undefined,
    processes: 1,
    stopDelayMs: 5_000,
    rateLimit: 600,
    registersClients: false,
    ...{ oidc: undefined, mail: undefined },
    quotas: {
      ...{ links: 0, domains: 0, storage_bytes: 0, requests_per_minute: 0 },
      ...{ pending_domains: 1_000, conversions: 1_000_000 },
    },
    connections: {
      connectionsMax: 10_000,
      connectionsPerAddressMax: 1_024,
      unsentBytesMax: 64 * 1024 * 1024,
    },
    backup: {
      target: undefined,
      everyMs: 21_600_000,
      retention: [
        { count: 24, unit: 'h' },
        { count: 14, unit: 'd' },
        { count: 8, unit: 'w' },
        { count: 12, unit: 'm' },
      ],
      verifies: true,
      recipients: [],
      identityFile: undefined,
      signingKeyFile: undefined,
    },
    s3: undefined,
    logLevel: 'info',
    logFormat: 'auto',
    domainProof: 'dns',
    reservedDomains: undefined,
    dnsTarget: undefined,
    publicAddresses: [],
    dnsServers: [],
    acme: {
      directory: 'https://acme-v02.api.letsencrypt.org/directory',
      email: undefined,
      external: undefined,
      caFile: undefined,
      challenges: 'auto',
      profile: undefined,
    },
    claimOnLink: true,
    appSchemes: [],
    cacheBytesMax: 64 * 1024 * 1024,
    staleMsMax: 24 * 60 * 60 * 1_000,
    linkCopy: false,
    roles: ['redirect', 'api', 'jobs'],
    countryDatabase: undefined,
    fastRedirects: true,
    clickDurability: 'process',
    clickRetentionDays: 365,
    eventRetentionDays: 365,
    clickCapPerMinute: 300,
    rawClicksPerMinute: 60_000,
  }

  test('gives every setting its default', () => {
    const config = readConfig({ PATH: '/bin', HOME: '/root' })
    const { trustedProxies, metricsReaders } = config
    const plain = plainOf(config)
    assert.deepEqual(plain, defaults)
    assert.equal(trustedProxies.has('127.0.0.1'), false)
    for (const address of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1']) {
      assert.equal(metricsReaders.has(address), true, address)
    }
    assert.equal(metricsReaders.has('10.0.0.1'), false)
    // 37 have no entry of their own: TERSE_HTTPS_PORT belongs to `tls`, two share `clicks`, eight `oidc`, two `mail`,
    // seven `acme`, seven `backup`, six `quotas`, four `s3` and three `connections`; five are sets of networks.
    assert.equal(Object.keys(plain).length + 37, Object.keys(SETTINGS).length)
  })

  test('treats an empty variable as unset', () => {
    const names = Object.keys(SETTINGS)
    const empty = [...names, 'TERSE_SECRET_KEY_FILE', 'TERSE_DATABASE_URL_FILE']
    const config = readConfig(Object.fromEntries(empty.map((name) => [name, ''])))
    assert.deepEqual(plainOf(config), defaults)
  })

  test('returns a frozen configuration', () => {
    const config = readConfig({})
    assert.ok(Object.isFrozen(config) && Object.isFrozen(config.appSchemes))
  })

  const accepted: { env: Record<string, string>; expected: Partial<Config> }[] = [
    { env: { TERSE_HOST: '::1' }, expected: { host: '::1' } },
    { env: { TERSE_HOST: 'localhost' }, expected: { host: 'localhost' } },
    { env: { TERSE_PORT: '65535' }, expected: { port: 65_535, baseUrl: 'http://localhost:65535' } },
    {
      env: { TERSE_BASE_URL: 'HTTPS://Go.Example.com:443/' },
      expected: { baseUrl: 'https://go.example.com' },
    },
    { env: { TERSE_DATA_DIR: '/srv/../var/terse' }, expected: { dataDir: '/var/terse' } },
    {
      env: { TERSE_DATABASE_URL: 'postgresql://db/terse' },
      expected: { databaseUrl: 'postgresql://db/terse' },
    },
    {
      env: { TERSE_SECRET_KEY: KEY.toUpperCase() },
      expected: { secretKey: Buffer.from(KEY, 'hex') },
    },
    { env: { TERSE_RATE_LIMIT: '0' }, expected: { rateLimit: 0 } },
    { env: { TERSE_LOG_LEVEL: 'silent' }, expected: { logLevel: 'silent' } },
    { env: { TERSE_DOMAIN_PROOF: 'none' }, expected: { domainProof: 'none' } },
    { env: { TERSE_DOMAIN_PROOF: 'routing' }, expected: { domainProof: 'routing' } },
    {
      env: { TERSE_RESERVED_DOMAINS: 'Example.COM., acme.test' },
      expected: { reservedDomains: ['example.com', 'acme.test'] },
    },
    { env: { TERSE_RESERVED_DOMAINS: 'none' }, expected: { reservedDomains: [] } },
    {
      env: { TERSE_DNS_TARGET: 'Go.Example.COM.' },
      expected: { dnsTarget: 'go.example.com' },
    },
    {
      env: { TERSE_PUBLIC_ADDRESSES: '192.0.2.1, 2001:db8::/32' },
      expected: { publicAddresses: ['192.0.2.1', '2001:db8::/32'] },
    },
    {
      env: { TERSE_DNS_SERVERS: '192.0.2.1, 192.0.2.1:5353,2001:db8::1,[2001:db8::1]:53' },
      expected: {
        dnsServers: ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:53'],
      },
    },
    {
      env: {
        TERSE_ACME_DIRECTORY: 'https://CA.example',
        TERSE_ACME_EAB_KID: 'mine',
        TERSE_ACME_EAB_HMAC_KEY: 'c2VjcmV0',
        TERSE_ACME_CHALLENGE: 'tls-alpn-01',
      },
      expected: {
        acme: {
          directory: 'https://ca.example/',
          email: undefined,
          external: { kid: 'mine', hmacKey: 'c2VjcmV0' },
          caFile: undefined,
          challenges: 'tls-alpn-01',
          profile: undefined,
        },
      },
    },
    { env: { TERSE_CLAIM_ON_LINK: 'false' }, expected: { claimOnLink: false } },
    { env: { TERSE_OAUTH_REGISTRATION: 'on' }, expected: { registersClients: true } },
    {
      env: { TERSE_APP_SCHEMES: ' MyApp:, spotify,' },
      expected: { appSchemes: ['myapp', 'spotify'] },
    },
    { env: { TERSE_CACHE_MIB: '1' }, expected: { cacheBytesMax: 1024 * 1024 } },
    { env: { TERSE_STALE_MAX_HOURS: '2' }, expected: { staleMsMax: 7_200_000 } },
    { env: { TERSE_LINK_COPY: 'on' }, expected: { linkCopy: true } },
    { env: { TERSE_ROLES: 'jobs, redirect' }, expected: { roles: ['redirect', 'jobs'] } },
  ]
  for (const { env, expected } of accepted) {
    test(`reads ${JSON.stringify(env)}`, () => {
      const config = readConfig(env)
      for (const [name, value] of Object.entries(expected)) {
        assert.deepEqual(config[name as keyof Config], value)
      }
    })
  }

  test('parses the networks of trusted proxies', () => {
    const { trustedProxies } = readConfig({ TERSE_TRUST_PROXY: '10.0.0.0/8, ::1 ,192.0.2.7' })
    for (const inside of ['10.200.0.1', '::1', '192.0.2.7', '::ffff:10.0.0.1']) {
      assert.ok(trustedProxies.has(inside), inside)
    }
    for (const outside of ['11.0.0.1', '::2', '192.0.2.8']) {
      assert.ok(!trustedProxies.has(outside), outside)
    }
  })

  test('parses the HTTPS port and the internal listener', () => {
    const tls = { TERSE_TLS: 'auto', TERSE_BASE_URL: 'https://go.example.com' }
    assert.deepEqual(readConfig(tls).tls, { port: 443 })
    assert.deepEqual(readConfig({ ...tls, TERSE_HTTPS_PORT: '8443' }).tls, { port: 8443 })
    const at = (text: string) => readConfig({ TERSE_INTERNAL_LISTEN: text }).internalListen
    assert.deepEqual(at('10.0.0.5:3001'), { host: '10.0.0.5', port: 3001 })
    assert.deepEqual(at('[::1]:3001'), { host: '::1', port: 3001 })
  })

  test('reads a provider of single sign-on and a mail server', () => {
    const { oidc, mail } = readConfig({
      TERSE_OIDC_ISSUER: 'https://id.example.com/realms/acme',
      TERSE_OIDC_CLIENT_ID: 'terse',
      TERSE_OIDC_ROLES: 'web admins=acme:admin, a=b=acme:owner,',
      TERSE_SMTP_URL: 'smtp://user:hunter2@mail.example.com:587',
      TERSE_MAIL_FROM: 'Terse <terse@example.com>',
    })
    assert.equal(oidc?.issuer, 'https://id.example.com/realms/acme')
    assert.equal(oidc?.clientSecret, undefined)
    assert.deepEqual(oidc?.roles, [
      { group: 'web admins', workspace: 'acme', role: 'admin' },
      { group: 'a=b', workspace: 'acme', role: 'owner' },
    ])
    assert.equal(mail?.from, 'Terse <terse@example.com>')
    assert.equal(
      readConfig({ ...OIDC, TERSE_OIDC_ISSUER: 'http://localhost:8080' }).mail,
      undefined,
    )
  })

  test('refuses half of a provider or of a mail server', () => {
    const { TERSE_OIDC_ISSUER, TERSE_OIDC_CLIENT_ID } = OIDC
    for (const [env, says] of [
      [{ TERSE_OIDC_ISSUER }, /TERSE_OIDC_CLIENT_ID are set together/],
      [{ TERSE_OIDC_CLIENT_ID }, /TERSE_OIDC_CLIENT_ID are set together/],
      [{ TERSE_OIDC_ROLES: 'a=acme:owner' }, /TERSE_OIDC_ROLES needs TERSE_OIDC_ISSUER/],
      [{ TERSE_SMTP_URL: 'smtp://localhost' }, /TERSE_MAIL_FROM are set together/],
      [{ TERSE_MAIL_FROM: 'terse@example.com' }, /TERSE_MAIL_FROM are set together/],
    ] as const) {
      assert.match(faultsOf(env).join('\n'), says)
    }
  })

  test('refuses TERSE_TLS without an HTTPS base URL, and an HTTPS port equal to the HTTP port', () => {
    const faults = faultsOf({ TERSE_TLS: 'auto', TERSE_PORT: '443' })
    assert.equal(faults.length, 2)
    assert.match(faults.join('\n'), /TERSE_BASE_URL.*\n.*TERSE_HTTPS_PORT/)
  })

  const refused: Record<keyof typeof SETTINGS, readonly string[]> = {
    TERSE_HOST: ['example.com', '1.2.3', '127.0.0.1:80', ' '],
    TERSE_PORT: ['0', '65536', '-1', '3000.5', '1e3', '0x50', ' 3000', 'http', '9'.repeat(400)],
    TERSE_TLS: ['on', 'AUTO'],
    TERSE_HTTPS_PORT: ['0', '65536', 'https'],
    TERSE_HSTS_SECONDS: ['-1', '63072001', 'on'],
    TERSE_INTERNAL_LISTEN: [
      '127.0.0.1',
      ':3001',
      'localhost:3001',
      '127.0.0.1:0',
      '127.0.0.1:65536',
      '::1:3001',
      '[127.0.0.1]:3001',
    ],
    TERSE_BASE_URL: [
      'go.example.com',
      'ftp://go.example.com',
      'https://go.example.com/path',
      'https://go.example.com?q',
      'https://go.example.com#f',
      'https://user:pw@go.example.com',
      'https://',
    ],
    TERSE_CLICKS_URL: ['http://host/a', 'clickhouse://host', 'clickhouse://u:secret@host/a'],
    TERSE_CLICKS_PASSWORD: [],
    TERSE_DATA_DIR: [],
    TERSE_BACKUP_TO: [],
    TERSE_BACKUP_EVERY: ['0h', '6', '6 h', '1w', '367d', 'daily'],
    TERSE_BACKUP_KEEP: ['14', '0d', '14d;8w', '14d,', '1y', 'none'],
    TERSE_BACKUP_VERIFY: ['yes', 'true'],
    TERSE_BACKUP_RECIPIENTS: ['age1short', 'AGE-SECRET-KEY-1', 'ssh-ed25519 AAAA'],
    TERSE_BACKUP_IDENTITY_FILE: [],
    TERSE_BACKUP_SIGNING_KEY_FILE: [],
    TERSE_S3_ENDPOINT: ['s3.example.com', 'ftp://s3.example.com'],
    TERSE_S3_REGION: [],
    TERSE_S3_ACCESS_KEY_ID: [],
    TERSE_S3_SECRET_ACCESS_KEY: [],
    TERSE_DISK_LOW_PERCENT: ['-1', '100', '5 %', '2.5'],
    TERSE_FILE_CHECK_HOURS: ['-1', 'daily', '1.5'],
    TERSE_ENV_FILE: [],
    TERSE_DATABASE_TIMEOUT_SECONDS: ['0', '61', '2.5', 'soon'],
    TERSE_DATABASE_URL: ['mysql://db/terse', 'postgres://[bad', 'terse.db', 'postgres:db'],
    TERSE_SECRET_KEY: ['short', `${KEY}00`, 'g'.repeat(64)],
    TERSE_PROCESSES: ['0', '257', '-1', '2.5', 'all', 'AUTO'],
    TERSE_STOP_DELAY_SECONDS: ['-1', '61', '2.5'],
    TERSE_TRUST_PROXY: ['10.0.0.0/33', '10.0.0.0/8/8', 'example.com', '::1/129', '10.0.0.0/-1'],
    TERSE_CONNECTIONS_MAX: ['9', '1000001', 'off'],
    TERSE_CONNECTIONS_PER_ADDRESS: ['0', '1000001', '2.5'],
    TERSE_UNSENT_MIB: ['15', '65537', '1 GiB'],
    TERSE_METRICS_FROM: ['10.0.0.0/33', 'prometheus.example.com'],
    TERSE_SCANNER_NETWORKS: ['10.0.0.0/33', 'example.com', '/nowhere/networks.txt'],
    TERSE_PREVIEW_NETWORKS: ['10.0.0.0/33', 'intranet.example.com'],
    TERSE_WEBHOOK_ALLOW: ['10.0.0.0/33', 'hooks.example.com'],
    TERSE_RATE_LIMIT: ['-1', '1000001', 'off'],
    TERSE_OIDC_ISSUER: [
      'id.example.com',
      'http://id.example.com',
      'https://id.example.com/?tenant=1',
      'https://user:pw@id.example.com',
    ],
    TERSE_OIDC_CLIENT_ID: [],
    TERSE_OIDC_CLIENT_SECRET: [],
    TERSE_OIDC_NAME: ['x'.repeat(41)],
    TERSE_OIDC_SCOPES: ['email', 'openid  email', 'openid,email'],
    TERSE_OIDC_GROUPS_CLAIM: [],
    TERSE_OIDC_ROLES: [
      'editors',
      'editors=acme',
      'editors=acme:boss',
      'a=Acme:member',
      '=acme:owner',
    ],
    TERSE_OWNER_EMAIL: ['ada'],
    TERSE_SMTP_URL: ['mail.example.com', 'http://mail.example.com', 'smtp://'],
    TERSE_MAIL_FROM: ['terse', 'Terse terse@example.com', '<>'],
    TERSE_QUOTA_LINKS: ['-1', '1000000000001', 'none'],
    TERSE_QUOTA_DOMAINS: ['-1', '2.5'],
    TERSE_QUOTA_PENDING_DOMAINS: ['-1', 'off'],
    TERSE_QUOTA_STORAGE_MIB: ['-1', '1GiB', '1000000001'],
    ...{ TERSE_QUOTA_CONVERSIONS: ['many'], TERSE_QUOTA_REQUESTS: ['-1', '1000000001'] },
    TERSE_LOG_LEVEL: ['verbose', 'INFO'],
    TERSE_LOG_FORMAT: ['text', 'JSON'],
    TERSE_DOMAIN_PROOF: ['off', 'DNS'],
    TERSE_RESERVED_DOMAINS: ['com', '*.example.com', 'https://example.com', '192.0.2.1'],
    TERSE_DNS_TARGET: [
      'localhost',
      '192.0.2.1',
      'https://go.example.com',
      'go.example.com:80',
      'a b.c',
    ],
    TERSE_PUBLIC_ADDRESSES: ['go.example.com', '192.0.2.1:80', '192.0.2.0/33'],
    TERSE_DNS_SERVERS: [
      'dns.example.com',
      '192.0.2.1:0',
      '192.0.2.1:65536',
      '[192.0.2.1]:53',
      '[2001:db8::1',
      '2001:db8::g',
    ],
    TERSE_ACME_DIRECTORY: ['http://ca.example/', 'ca.example', 'letsencrypt'],
    TERSE_ACME_EMAIL: ['ops', 'mailto:ops@example.com'],
    TERSE_ACME_EAB_KID: ['alone'],
    TERSE_ACME_EAB_HMAC_KEY: ['not base64'],
    TERSE_ACME_CA_FILE: [],
    TERSE_ACME_CHALLENGE: ['dns-01', 'HTTP-01'],
    TERSE_ACME_PROFILE: [],
    TERSE_OAUTH_REGISTRATION: ['yes', '1', 'ON'],
    TERSE_CLAIM_ON_LINK: ['yes', '1', 'TRUE'],
    TERSE_APP_SCHEMES: ['my app', '1app', 'a://b'],
    TERSE_CACHE_MIB: ['0', '65537'],
    TERSE_LINK_COPY: ['yes'],
    TERSE_ROLES: [' ', 'api,cron', 'none'],
    TERSE_STALE_MAX_HOURS: ['-1', '8761', 'a day'],
    TERSE_COUNTRY_DATABASE: [],
    TERSE_FAST_REDIRECTS: ['true', 'ON', '0'],
    TERSE_CLICK_DURABILITY: ['DISK', 'none', 'fsync'],
    TERSE_CLICK_RETENTION_DAYS: ['-1', '36501', 'never'],
    TERSE_EVENT_RETENTION_DAYS: ['-1', '36501', 'never'],
    TERSE_CLICK_CAP_PER_MINUTE: ['-1', '1000001', 'off'],
    TERSE_RAW_CLICKS_PER_MINUTE: ['-1', '100000001', 'off'],
  }
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      test(`refuses ${name}=${value.slice(0, 40)} with a message of one line`, () => {
        const faults = faultsOf({ [name]: value })
        assert.equal(faults.length, 1, faults.join('\n'))
        assert.ok(faults[0]?.startsWith(`${name} `), faults.join())
        assert.ok(!faults[0]?.includes('\n'))
      })
    }
  }

  const ACCESS = { TERSE_S3_ENDPOINT: 'http://s3.test', TERSE_S3_ACCESS_KEY_ID: 'id' }
  const RECIPIENT = 'age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z'
  for (const [name, faulty, mended] of [
    [
      'a bucket without access to it',
      { TERSE_BACKUP_TO: 's3://bucket', ...ACCESS },
      { TERSE_S3_SECRET_ACCESS_KEY: 'secret' },
    ],
    [
      'encrypted backups that cannot be verified',
      { TERSE_BACKUP_TO: '/backup', TERSE_BACKUP_RECIPIENTS: RECIPIENT },
      { TERSE_BACKUP_VERIFY: 'off' },
    ],
  ] as const) {
    test(`refuses ${name}`, () => {
      assert.equal(faultsOf(faulty).length, 1)
      assert.deepEqual(faultsOf({ ...faulty, ...mended }), [])
    })
  }

  test('reports all faults together', () => {
    const wrong = Object.entries(refused).flatMap(([name, [value]]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    const faults = faultsOf({ ...Object.fromEntries(wrong), TERSE_PROT: '80', TERSE_: '' })
    assert.equal(faults.length, wrong.length + 2)
    for (const [name] of [...wrong, ['TERSE_PROT']]) {
      assert.equal(faults.filter((fault) => fault.startsWith(`${name} `)).length, 1, name)
    }
  })

  test('refuses an unknown TERSE_ variable and ignores other variables', () => {
    assert.deepEqual(faultsOf({ TERSE_PORTS: '1' }), [
      'TERSE_PORTS is not a setting: correct or remove it',
    ])
    assert.equal(faultsOf({ TERSE_PORT_FILE: '/etc/port' }).length, 1, 'a port is not a secret')
    assert.deepEqual(faultsOf({ TERSEX: '1', XTERSE_PORT: '1', terse_port: '1' }), [])
  })
})

describe('a setting read from a file with _FILE', () => {
  const folder = createFolder()
  after(() => rmSync(folder, { recursive: true }))

  function fileWith(text: string): string {
    const file = path.join(folder, `${Math.random()}`)
    writeFileSync(file, text)
    return file
  }

  test('strips white space around the value', () => {
    const config = readConfig({
      TERSE_SECRET_KEY_FILE: fileWith(`${KEY}\r\n`),
      TERSE_DATABASE_URL_FILE: fileWith(`\n${URL_WITH_PASSWORD}\n`),
    })
    assert.deepEqual(config.secretKey, Buffer.from(KEY, 'hex'))
    assert.equal(config.databaseUrl, URL_WITH_PASSWORD)
  })

  test('is refused when the plain setting is set too, the file cannot be read, or it is empty', () => {
    mkdirSync(path.join(folder, 'directory'))
    const scenarios = [
      { env: { TERSE_SECRET_KEY: KEY, TERSE_SECRET_KEY_FILE: fileWith(KEY) }, says: /both set/ },
      { env: { TERSE_SECRET_KEY_FILE: path.join(folder, 'nothing') }, says: /ENOENT/ },
      { env: { TERSE_SECRET_KEY_FILE: path.join(folder, 'directory') }, says: /EISDIR/ },
      { env: { TERSE_SECRET_KEY_FILE: fileWith('\n') }, says: /64 hexadecimal digits/ },
      { env: { TERSE_DATABASE_URL_FILE: fileWith('') }, says: /postgres:\/\// },
    ]
    for (const { env, says } of scenarios) {
      const faults = faultsOf(env)
      assert.equal(faults.length, 1)
      assert.match(faults[0] ?? '', says)
    }
  })

  test('never shows a secret in an error message', () => {
    const secrets = ['hunter2', 'c0ffee', 's3cret']
    const scenarios: Record<string, string>[] = [
      { TERSE_DATABASE_URL: 'mysql://user:hunter2@db/terse' },
      { TERSE_DATABASE_URL: 'postgres://user:hunter2@[bad' },
      { TERSE_DATABASE_URL_FILE: fileWith('user:hunter2@db') },
      { TERSE_DATABASE_URL: URL_WITH_PASSWORD, TERSE_DATABASE_URL_FILE: fileWith('hunter2') },
      { TERSE_SECRET_KEY: `${KEY}c0ffee` },
      { TERSE_SECRET_KEY_FILE: fileWith('c0ffee') },
      { TERSE_SECRET_KEYS: 's3cret' },
      { TERSE_OIDC_CLIENT_SECRET: 's3cret' },
      { TERSE_SMTP_URL: 'http://user:hunter2@mail' },
    ]
    for (const env of scenarios) {
      const text = faultsOf({ ...env, TERSE_PORT: 'x' }).join('\n')
      assert.ok(text.includes('TERSE_PORT'))
      for (const secret of secrets) assert.ok(!text.includes(secret), text)
    }
  })
})
