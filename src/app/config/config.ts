import type { Retention, S3Access } from '../../backup/index.ts'
import type { Networks } from '../../platform/network/ip-address.ts'
import type { Role } from './setting-schemas.ts'
import type { SettingValues } from './settings.ts'
import type { MailConfig, OidcConfig } from './sign-in-config.ts'

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
  /** How long PostgreSQL may take to answer a query of a request. */
  readonly databaseTimeoutMs: number
  /** Between two checks of the SQLite files; 0 for none. */
  readonly fileCheckMs: number
  /** The free part of the data folder's disk below which to warn, 0 to 1. */
  readonly diskLowRatio: number
  readonly secretKey: Buffer | undefined
  /** How long a node behind a balancer reports that it is not ready before it stops. */
  readonly stopDelayMs: number
  readonly trustedProxies: Networks
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

/** The backups that the service makes. */
export type BackupConfig = {
  /** A folder or a bucket; undefined for no backups. */
  readonly target: string | undefined
  readonly everyMs: number
  /** Undefined to keep all. */
  readonly retention: Retention | undefined
  readonly verifies: boolean
  readonly recipients: readonly string[]
  readonly identityFile: string | undefined
  readonly signingKeyFile: string | undefined
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
