/** The fields of an API domain, in the order of the specification. */
export const DOMAIN_FIELDS = [
  'id',
  'workspace_id',
  'domain',
  'status',
  'not_found_url',
  'expired_url',
  'created_at',
  'updated_at',
]
