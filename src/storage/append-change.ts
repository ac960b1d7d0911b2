import type { Change } from '../domain/changes/change.ts'
import { statement } from './statement.ts'

/** The same on every engine, unlike the reading of the log. */
export const appendChange = statement((db, change: Change & { at: number }) =>
  db.insertInto('changes').values(change),
)
