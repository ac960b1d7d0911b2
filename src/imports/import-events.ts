import type { NewEvent } from '../platform/events/event-writer.ts'
import type { Import } from './import.ts'

type ImportEventType = Extract<NewEvent['type'], `import.${string}`>

export function importEvent(type: ImportEventType, of: Import): NewEvent {
  const { id, source, counts, fault, options } = of
  const after =
    type === 'import.started'
      ? { source, on_conflict: options.onConflict, domains: options.domains }
      : { source, ...counts, ...(fault !== null && { fault }) }
  return { type, subjectId: id, before: null, after }
}
