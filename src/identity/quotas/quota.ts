/** What a workspace may have; `requests_per_minute` is counted by each node. */
export const QUOTA_NAMES = [
  'links',
  'domains',
  'pending_domains',
  'storage_bytes',
  'conversions',
  'requests_per_minute',
] as const

export type QuotaName = (typeof QUOTA_NAMES)[number]

/** The limits of a workspace; 0 for none. */
export type Quotas = Readonly<Record<QuotaName, number>>

/** What a workspace has of its own; null where the instance's limit applies. */
export type QuotaOverrides = Readonly<Record<QuotaName, number | null>>

export const NO_OVERRIDES: QuotaOverrides = {
  links: null,
  domains: null,
  pending_domains: null,
  storage_bytes: null,
  conversions: null,
  requests_per_minute: null,
}

/** What of the quotas is stored, and can be counted. */
export type Usage = Readonly<Record<Exclude<QuotaName, 'requests_per_minute'>, number>>

export function quotasOf(defaults: Quotas, overrides: QuotaOverrides | undefined): Quotas {
  if (overrides === undefined) return defaults
  const entries = QUOTA_NAMES.map((name) => [name, overrides[name] ?? defaults[name]] as const)
  return Object.fromEntries(entries) as Quotas
}
