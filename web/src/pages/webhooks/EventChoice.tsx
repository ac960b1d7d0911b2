import { WEBHOOK_GROUPS, type WebhookEvent } from '../../api/webhooks.ts'
import { useText } from '../../text/use-text.ts'

const GROUPS = Object.keys(WEBHOOK_GROUPS) as (keyof typeof WEBHOOK_GROUPS)[]
const ALL: readonly WebhookEvent[] = Object.values(WEBHOOK_GROUPS).flat()

type EventChoiceProps = {
  readonly chosen: readonly WebhookEvent[]
  readonly onChange: (events: WebhookEvent[]) => void
}

/** What an endpoint is called for, in words, with the names that programs see. */
export function EventChoice({ chosen, onChange }: EventChoiceProps) {
  const t = useText()
  return (
    <fieldset className="evs">
      <legend className="lab mb-1 p-0">{t.webhooks.calledWhen}</legend>
      {GROUPS.map((group) => (
        <div key={group}>
          <div className="grp">{t.webhooks.groups[group]}</div>
          {WEBHOOK_GROUPS[group].map((event) => (
            <label key={event}>
              <input
                type="checkbox"
                className="cb"
                checked={chosen.includes(event)}
                onChange={({ target }) =>
                  onChange(
                    ALL.filter((one) => (one === event ? target.checked : chosen.includes(one))),
                  )
                }
              />
              <span>{t.webhooks.events[event]}</span>
              <code>{event}</code>
            </label>
          ))}
        </div>
      ))}
      <p className="hint">{t.webhooks.clicksHint}</p>
    </fieldset>
  )
}
