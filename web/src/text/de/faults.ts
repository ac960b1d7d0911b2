import type * as en from '../en/faults.ts'
import { dataFaults } from './faults/data.ts'
import { fieldFaults } from './faults/fields.ts'
import { linkFaults } from './faults/links.ts'
import { peopleFaults } from './faults/people.ts'
import { requestFaults } from './faults/requests.ts'

/** Meldungen der API. Von mehreren Mustern, die passen, gilt das erste. */
export const faults: typeof en.faults = {
  ...fieldFaults,
  ...linkFaults,
  ...dataFaults,
  ...requestFaults,
  ...peopleFaults,
}
