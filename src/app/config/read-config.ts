import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { S3Access } from '../../backup/index.ts'
import type { AcmeConfig, BackupConfig, Config } from './config.ts'
import {
  fileNameOf,
  SETTINGS,
  type SettingName,
  type SettingValues,
  VARIABLES,
} from './settings.ts'
import { faultsOfSignIn, mailConfigOf, oidcConfigOf } from './sign-in-config.ts'

export type { AcmeConfig, Config } from './config.ts'

/** Every fault of the configuration, a line each. Contains no value of a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      faults.length === 1
        ? String(faults[0])
        : `The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
    this.faults = faults
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the configuration from environment variables only; `loadConfig` reads the settings file too.
 *
 * @throws {ConfigError} naming every fault at once: unusable values, unreadable secret files, a
 *   variable given both plainly and as a file, and `TERSE_` names that nothing reads.
 */
export function readConfig(env: Environment): Config {
  const faults: string[] = []
  const values: Partial<Record<SettingName, unknown>> = {}

  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const definition = SETTINGS[name]
    try {
      const text = textOf(name, 'secret' in definition, env) ?? definition.default
      const parsed = definition.schema.safeParse(text)
      if (parsed.success) values[name] = parsed.data
      else for (const issue of parsed.error.issues) faults.push(`${name} ${issue.message}`)
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  }
  for (const name of Object.keys(env)) {
    if (isUnknown(name)) faults.push(`${name} is not a setting: correct or remove it`)
  }
  if (
    (values.TERSE_ACME_EAB_KID === undefined) !==
    (values.TERSE_ACME_EAB_HMAC_KEY === undefined)
  ) {
    faults.push('TERSE_ACME_EAB_KID and TERSE_ACME_EAB_HMAC_KEY are set together, or neither is')
  }
  const isGiven = (name: SettingName) => Boolean(env[name] || env[fileNameOf(name)])
  faults.push(...faultsOfSignIn(values as Partial<SettingValues>, isGiven))
  if (faults.length > 0) throw new ConfigError(faults)
  const config = configOf(values as SettingValues)
  const contradictions = [...faultsOfTls(config), ...faultsOfBackup(config)]
  if (contradictions.length > 0) throw new ConfigError(contradictions)
  return config
}

/** Variables that single commands read. */
const OF_COMMANDS: ReadonlySet<string> = new Set(['TERSE_IMPORT_TOKEN'])

/** Whether a name has the prefix of settings but is not one. */
export function isUnknown(name: string): boolean {
  return name.startsWith('TERSE_') && !VARIABLES.has(name) && !OF_COMMANDS.has(name)
}

function faultsOfTls({ tls, port, baseUrl }: Config): readonly string[] {
  if (tls === undefined) return []
  const faults: string[] = []
  if (!baseUrl.startsWith('https://')) {
    faults.push('TERSE_TLS=auto needs a TERSE_BASE_URL that begins with https://')
  }
  if (tls.port === port) faults.push('TERSE_PORT and TERSE_HTTPS_PORT must be two ports')
  return faults
}

function faultsOfBackup({ backup, s3 }: Config): readonly string[] {
  const faults: string[] = []
  if (backup.target?.includes('://') && s3 === undefined) {
    faults.push(
      'TERSE_BACKUP_TO names a bucket, which needs TERSE_S3_ENDPOINT, TERSE_S3_ACCESS_KEY_ID and TERSE_S3_SECRET_ACCESS_KEY',
    )
  }
  const isEncrypted = backup.recipients.length > 0
  if (backup.target !== undefined && backup.verifies && isEncrypted && !backup.identityFile) {
    faults.push(
      'TERSE_BACKUP_VERIFY=on needs TERSE_BACKUP_IDENTITY_FILE to read encrypted backups: set it, or TERSE_BACKUP_VERIFY=off',
    )
  }
  return faults
}

function configOf(values: SettingValues): Config {
  return Object.freeze({
    host: values.TERSE_HOST,
    port: values.TERSE_PORT,
    baseUrl: values.TERSE_BASE_URL ?? `http://localhost:${values.TERSE_PORT}`,
    tls: values.TERSE_TLS === 'auto' ? Object.freeze({ port: values.TERSE_HTTPS_PORT }) : undefined,
    hstsSeconds: values.TERSE_HSTS_SECONDS,
    internalListen: values.TERSE_INTERNAL_LISTEN,
    dataDir: path.resolve(values.TERSE_DATA_DIR),
    settingsFile: values.TERSE_ENV_FILE && path.resolve(values.TERSE_ENV_FILE),
    databaseUrl: values.TERSE_DATABASE_URL,
    databaseTimeoutMs: values.TERSE_DATABASE_TIMEOUT_SECONDS,
    fileCheckMs: values.TERSE_FILE_CHECK_HOURS,
    diskLowRatio: values.TERSE_DISK_LOW_PERCENT,
    secretKey: values.TERSE_SECRET_KEY ? Buffer.from(values.TERSE_SECRET_KEY, 'hex') : undefined,
    stopDelayMs: values.TERSE_STOP_DELAY_SECONDS,
    trustedProxies: values.TERSE_TRUST_PROXY,
    processes: values.TERSE_PROCESSES,
    roles: values.TERSE_ROLES,
    rateLimit: values.TERSE_RATE_LIMIT,
    oidc: oidcConfigOf(values),
    mail: mailConfigOf(values),
    quotas: Object.freeze({
      links: values.TERSE_QUOTA_LINKS,
      domains: values.TERSE_QUOTA_DOMAINS,
      pending_domains: values.TERSE_QUOTA_PENDING_DOMAINS,
      storage_bytes: values.TERSE_QUOTA_STORAGE_MIB,
      requests_per_minute: values.TERSE_QUOTA_REQUESTS,
    }),
    connections: Object.freeze({
      connectionsMax: values.TERSE_CONNECTIONS_MAX,
      connectionsPerAddressMax: values.TERSE_CONNECTIONS_PER_ADDRESS,
      unsentBytesMax: values.TERSE_UNSENT_MIB,
    }),
    metricsReaders: values.TERSE_METRICS_FROM,
    logLevel: values.TERSE_LOG_LEVEL,
    logFormat: values.TERSE_LOG_FORMAT,
    domainProof: values.TERSE_DOMAIN_PROOF,
    reservedDomains: values.TERSE_RESERVED_DOMAINS,
    dnsTarget: values.TERSE_DNS_TARGET,
    publicAddresses: values.TERSE_PUBLIC_ADDRESSES,
    dnsServers: values.TERSE_DNS_SERVERS,
    acme: acmeConfigOf(values),
    claimOnLink: values.TERSE_CLAIM_ON_LINK,
    appSchemes: Object.freeze(values.TERSE_APP_SCHEMES),
    cacheBytesMax: values.TERSE_CACHE_MIB,
    staleMsMax: values.TERSE_STALE_MAX_HOURS,
    linkCopy: values.TERSE_LINK_COPY,
    countryDatabase: values.TERSE_COUNTRY_DATABASE,
    fastRedirects: values.TERSE_FAST_REDIRECTS,
    clickDurability: values.TERSE_CLICK_DURABILITY,
    clickRetentionDays: values.TERSE_CLICK_RETENTION_DAYS,
    eventRetentionDays: values.TERSE_EVENT_RETENTION_DAYS,
    clickCapPerMinute: values.TERSE_CLICK_CAP_PER_MINUTE,
    rawClicksPerMinute: values.TERSE_RAW_CLICKS_PER_MINUTE,
    backup: backupConfigOf(values),
    s3: s3AccessOf(values),
  })
}

function backupConfigOf(values: SettingValues): BackupConfig {
  return Object.freeze({
    target: values.TERSE_BACKUP_TO,
    everyMs: values.TERSE_BACKUP_EVERY,
    retention: values.TERSE_BACKUP_KEEP,
    verifies: values.TERSE_BACKUP_VERIFY,
    recipients: values.TERSE_BACKUP_RECIPIENTS,
    identityFile: values.TERSE_BACKUP_IDENTITY_FILE,
    signingKeyFile: values.TERSE_BACKUP_SIGNING_KEY_FILE,
  })
}

function s3AccessOf(values: SettingValues): S3Access | undefined {
  const {
    TERSE_S3_ENDPOINT: endpoint,
    TERSE_S3_ACCESS_KEY_ID: accessKeyId,
    TERSE_S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = values
  if (endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    return undefined
  }
  return Object.freeze({ endpoint, region: values.TERSE_S3_REGION, accessKeyId, secretAccessKey })
}

function acmeConfigOf(values: SettingValues): AcmeConfig {
  const { TERSE_ACME_EAB_KID: kid, TERSE_ACME_EAB_HMAC_KEY: hmacKey } = values
  return Object.freeze({
    directory: values.TERSE_ACME_DIRECTORY,
    email: values.TERSE_ACME_EMAIL,
    external: kid === undefined || hmacKey === undefined ? undefined : { kid, hmacKey },
    caFile: values.TERSE_ACME_CA_FILE,
    challenges: values.TERSE_ACME_CHALLENGE,
    profile: values.TERSE_ACME_PROFILE,
  })
}

function textOf(name: string, secret: boolean, env: Environment): string | undefined {
  // An empty variable counts as unset: compose files pass on unset variables as empty ones.
  const plain = env[name] || undefined
  if (!secret) return plain
  const fileName = fileNameOf(name)
  const file = env[fileName] || undefined
  if (file === undefined) return plain
  if (plain !== undefined) throw new Error(`${name} and ${fileName} are both set; set one of them`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : 'unreadable'
    throw new Error(`${fileName} names a file that cannot be read (${reason})`)
  }
}
