import type { ConversionResource } from '@terse/contract/conversions'
import { formatInstant } from '../platform/time/clock.ts'
import type { LinkedConversion } from './store/conversion-store.ts'

export function presentConversion({ link, ...row }: LinkedConversion): ConversionResource {
  return {
    id: row.id,
    event: row.event,
    value: row.value,
    currency: row.currency,
    occurred_at: formatInstant(row.occurred_at),
    recorded_at: formatInstant(row.recorded_at),
    clicked_at: formatInstant(row.clicked_at),
    ...{ link_id: link.id, domain: link.domain, key: link.key },
    country: row.country || null,
    rule: row.rule || null,
    variant: row.variant || null,
    label: row.label || null,
  }
}
