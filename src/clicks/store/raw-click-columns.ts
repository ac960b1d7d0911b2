import { CLICK_DIMENSIONS } from '../click.ts'

/** The columns to read of a raw click. */
export const RAW_CLICK_COLUMNS = [
  'at',
  'link_seq',
  'keyspace_id',
  'flags',
  'count',
  'visitor',
  ...CLICK_DIMENSIONS,
] as const
