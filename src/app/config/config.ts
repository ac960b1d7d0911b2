import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { BackupConfig } from '../../backup/place.ts'
import type { S3Access } from '../../backup/targets/s3-target.ts'
import type { Networks } from '../../platform/network/ip-address.ts'
import type { ClickHouseAccess } from '../../storage/clickhouse/clicks-url.ts'
import type { Role } from './setting-schemas.ts'
import type { GroupRole } from './settings/sign-in.ts'
import {
  fileNameOf,
  SETTINGS,
  type SettingName,
  type SettingValues,
  VARIABLES,
} from './settings.ts'

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
  if (values.TERSE_CLICKS_URL === undefined && values.TERSE_CLICKS_PASSWORD !== undefined) {
    faults.push('TERSE_CLICKS_PASSWORD needs TERSE_CLICKS_URL')
  }
  faults.push(...faultsOfSignIn(values as Partial<SettingValues>, isGiven))
  if (faults.length > 0) throw new ConfigError(faults)
  const config = configOf(values as SettingValues)
  const contradictions = [...faultsOfTls(config), ...faultsOfBackup(config)]
  if (contradictions.length > 0) throw new ConfigError(contradictions)
  return config
}

/** Variables that single commands read. */
const OF_COMMANDS: ReadonlySet<string> = new Set(['TERSE_IMPORT_TOKEN', 'TERSE_URL', 'TERSE_TOKEN'])

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
    clicks: values.TERSE_CLICKS_URL && {
      address: values.TERSE_CLICKS_URL,
      password: values.TERSE_CLICKS_PASSWORD,
    },
    databaseTimeoutMs: values.TERSE_DATABASE_TIMEOUT_SECONDS,
    fileCheckMs: values.TERSE_FILE_CHECK_HOURS,
    diskLowRatio: values.TERSE_DISK_LOW_PERCENT,
    secretKey: values.TERSE_SECRET_KEY ? Buffer.from(values.TERSE_SECRET_KEY, 'hex') : undefined,
    stopDelayMs: values.TERSE_STOP_DELAY_SECONDS,
    trustedProxies: values.TERSE_TRUST_PROXY,
    scannerNetworks: values.TERSE_SCANNER_NETWORKS,
    previewNetworks: values.TERSE_PREVIEW_NETWORKS,
    webhookNetworks: values.TERSE_WEBHOOK_ALLOW,
    registersClients: values.TERSE_OAUTH_REGISTRATION,
    processes: values.TERSE_PROCESSES,
    roles: values.TERSE_ROLES,
    rateLimit: values.TERSE_RATE_LIMIT,
    oidc: oidcConfigOf(values),
    mail: mailConfigOf(values),
    quotas: Object.freeze({
      links: values.TERSE_QUOTA_LINKS,
      domains: values.TERSE_QUOTA_DOMAINS,
      pending_domains: values.TERSE_QUOTA_PENDING_DOMAINS,
      conversions: values.TERSE_QUOTA_CONVERSIONS,
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

/** The whole configuration of one process, read once and never changed. */
export type Config = {
  /** The address to listen on; every address of the machine when undefined. */
  readonly host: string | undefined
  readonly port: number
  /** The origin at which people reach the service, without a trailing slash. */
  readonly baseUrl: string
  /** Undefined when the service does not serve HTTPS itself. */
  readonly tls: { readonly port: number } | undefined
  /** The HSTS max-age of the service's own host; 0 for no header. */
  readonly hstsSeconds: number
  /** Where internal requests of the operator's programs arrive; loopback on `port` when undefined. */
  readonly internalListen: { readonly host: string; readonly port: number } | undefined
  readonly dataDir: string
  /** The settings file that was read; undefined for none. */
  readonly settingsFile: string | undefined
  readonly databaseUrl: string | undefined
  /** The database of clicks, where it is one of ClickHouse; undefined where `databaseUrl` has clicks too. */
  readonly clicks: ClickHouseAccess | undefined
  /** How long PostgreSQL or ClickHouse may take to answer a query of a request. */
  readonly databaseTimeoutMs: number
  /** Between two checks of the SQLite files; 0 for none. */
  readonly fileCheckMs: number
  /** The free part of the data folder's disk below which to warn, 0 to 1. */
  readonly diskLowRatio: number
  readonly secretKey: Buffer | undefined
  /** How long a node behind a balancer reports that it is not ready before it stops. */
  readonly stopDelayMs: number
  readonly trustedProxies: Networks
  /** Networks of programs that use up no click of a link with a limit. */
  readonly scannerNetworks: Networks
  /** Private networks whose pages may be read for previews. */
  readonly previewNetworks: Networks
  /** Private networks to which webhooks may send events. */
  readonly webhookNetworks: Networks
  /** Whether programs may register themselves for access in the name of people. */
  readonly registersClients: boolean
  /** How many processes serve on the port. */
  readonly processes: number
  /** What this node does. */
  readonly roles: readonly Role[]
  /** API requests per minute and token; 0 is off. */
  readonly rateLimit: number
  /** Undefined without single sign-on. */
  readonly oidc: OidcConfig | undefined
  /** Undefined when no mail is sent. */
  readonly mail: MailConfig | undefined
  /** For each workspace that has no limits of its own; 0 for no limit. */
  readonly quotas: {
    readonly links: number
    readonly domains: number
    readonly pending_domains: number
    readonly conversions: number
    readonly storage_bytes: number
    readonly requests_per_minute: number
  }
  /** The limits on the connections of each process. */
  readonly connections: ConnectionsConfig
  readonly metricsReaders: Networks
  readonly logLevel: SettingValues['TERSE_LOG_LEVEL']
  readonly logFormat: SettingValues['TERSE_LOG_FORMAT']
  readonly domainProof: SettingValues['TERSE_DOMAIN_PROOF']
  /** Reserved for the operator, with the names below them; undefined: `domainProof` decides. */
  readonly reservedDomains: readonly string[] | undefined
  /** The name for CNAME records; undefined for the base URL's host. */
  readonly dnsTarget: string | undefined
  /** Addresses and CIDR networks; empty: DNS is queried for them. */
  readonly publicAddresses: readonly string[]
  /** Empty for the machine's own. */
  readonly dnsServers: readonly string[]
  readonly acme: AcmeConfig
  readonly claimOnLink: boolean
  readonly appSchemes: readonly string[]
  readonly cacheBytesMax: number
  /** How long cached links may be served while the database is unavailable. */
  readonly staleMsMax: number
  /** Whether cached links are kept on disk for a start while the database is unavailable. */
  readonly linkCopy: boolean
  /** Whether simple visits are answered before Node's HTTP server parses them. */
  readonly fastRedirects: boolean
  /** An .mmdb file; the one that comes with the program when undefined. */
  readonly countryDatabase: string | undefined
  /** What an answered click survives the end of: the process, or the machine. */
  readonly clickDurability: SettingValues['TERSE_CLICK_DURABILITY']
  /** How many days raw clicks are kept; 0 for ever. */
  readonly clickRetentionDays: number
  /** 0 for ever. */
  readonly eventRetentionDays: number
  /** Clicks of one address on one link that are stored individually per minute; 0 for all. */
  readonly clickCapPerMinute: number
  /** Clicks of one workspace that are stored individually per minute; 0 for all. */
  readonly rawClicksPerMinute: number
  readonly backup: BackupConfig
  /** Undefined unless an S3-compatible service is set. */
  readonly s3: S3Access | undefined
}

/** Limits on the connections of one process. */
type ConnectionsConfig = {
  readonly connectionsMax: number
  /** Connections from one IPv4 address or IPv6 /64 network. */
  readonly connectionsPerAddressMax: number
  /** Buffered answers that their clients do not read. */
  readonly unsentBytesMax: number
}

/** The certificate authority, and how to order from it. */
export type AcmeConfig = {
  /** The URL of its ACME directory. */
  readonly directory: string
  readonly email: string | undefined
  /** External account binding; the key in base64url. */
  readonly external: { readonly kid: string; readonly hmacKey: string } | undefined
  /** A PEM file of trusted certificates; those that Node.js trusts when undefined. */
  readonly caFile: string | undefined
  readonly challenges: SettingValues['TERSE_ACME_CHALLENGE']
  readonly profile: string | undefined
}

/** A provider of single sign-on. */
type OidcConfig = {
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  /** How it is called on the sign-in page. */
  readonly name: string
  /** Separated by spaces. */
  readonly scopes: string
  readonly groupsClaim: string
  readonly roles: readonly GroupRole[]
  /** The address whose sign-in creates the first person; undefined for the set-up link alone. */
  readonly ownerEmail: string | undefined
}

type MailConfig = { readonly smtpUrl: string; readonly from: string }

/** @returns undefined without single sign-on */
function oidcConfigOf(values: SettingValues): OidcConfig | undefined {
  const { TERSE_OIDC_ISSUER: issuer, TERSE_OIDC_CLIENT_ID: clientId } = values
  if (issuer === undefined || clientId === undefined) return undefined
  return Object.freeze({
    issuer,
    clientId,
    clientSecret: values.TERSE_OIDC_CLIENT_SECRET,
    name: values.TERSE_OIDC_NAME,
    scopes: values.TERSE_OIDC_SCOPES,
    groupsClaim: values.TERSE_OIDC_GROUPS_CLAIM,
    roles: Object.freeze(values.TERSE_OIDC_ROLES),
    ownerEmail: values.TERSE_OWNER_EMAIL,
  })
}

/** @returns undefined without mail */
function mailConfigOf(values: SettingValues): MailConfig | undefined {
  const { TERSE_SMTP_URL: smtpUrl, TERSE_MAIL_FROM: from } = values
  return smtpUrl === undefined || from === undefined ? undefined : Object.freeze({ smtpUrl, from })
}

/**
 * Returns what is missing among settings that belong together.
 *
 * @param values of the settings that can be used
 * @param isGiven whether a setting is there at all; a fault of its own is reported elsewhere
 */
function faultsOfSignIn(
  values: Partial<SettingValues>,
  isGiven: (name: SettingName) => boolean,
): readonly string[] {
  const needs = (name: SettingName, other: SettingName) =>
    isGiven(name) && values[name] !== undefined && !isGiven(other)
  return [
    ...TOGETHER.filter(([name, other]) => needs(name, other) || needs(other, name)).map(
      ([name, other]) => `${name} and ${other} are set together, or neither is`,
    ),
    ...WITH_OIDC.filter((name) => needs(name, 'TERSE_OIDC_ISSUER')).map(
      (name) => `${name} needs TERSE_OIDC_ISSUER`,
    ),
  ]
}

const TOGETHER = [
  ['TERSE_OIDC_ISSUER', 'TERSE_OIDC_CLIENT_ID'],
  ['TERSE_SMTP_URL', 'TERSE_MAIL_FROM'],
] as const

const WITH_OIDC = ['TERSE_OIDC_CLIENT_SECRET', 'TERSE_OIDC_ROLES', 'TERSE_OWNER_EMAIL'] as const
