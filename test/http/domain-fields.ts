/** The fields of the specification's table, in its order. */
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
