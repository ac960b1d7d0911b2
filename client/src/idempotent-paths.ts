/** Generated: the paths whose POST takes an idempotency key. */
export const IDEMPOTENT_PATHS: readonly string[] = [
  '/api/v1/links',
  '/api/v1/links/bulk',
  '/api/v1/utm-templates',
  '/api/v1/rule-sets',
  '/api/v1/imports',
  '/api/v1/imports/revive',
  '/api/v1/domains',
  '/api/v1/conversions',
  '/api/v1/webhooks',
  '/api/v1/workspaces',
  '/api/v1/invitations',
  '/api/v1/tokens',
]
