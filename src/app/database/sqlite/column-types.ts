import type { ColumnTypes } from '../../../storage/migration.ts'
import { FILE_MARKS_TABLES, UNCHARTED_CLICKS_TABLE } from '../../../storage/sqlite/file-marks.ts'

export const COLUMN_TYPES: ColumnTypes = {
  uuid: 'text',
  sequence: 'integer primary key autoincrement',
  linkSequence: 'integer primary key autoincrement',
  linkConstraints: 'unique (id)',
  bytewiseText: 'text',
  changeLogExtra: '',
  changeLogIndexes: [],
  eventLogIndexes: [],
  number: 'integer',
  bytes: 'blob',
  clickExtras: [],
  countedFileExtras: FILE_MARKS_TABLES,
  rawClickCount: [],
  rawClickRules: [],
  rawClickLabels: [],
  rawClickPlaces: [],
  unchartedClicks: UNCHARTED_CLICKS_TABLE,
  returnedRawClicks: [],
}
