import { useText } from '../../text/use-text.ts'
import { Chip } from '../../widgets/Chip.tsx'
import { localMinute } from './link-draft.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Spans from now. @param onChoose called with what a `datetime-local` input has */
export function ExpiryChips({ onChoose }: { onChoose: (expires: string) => void }) {
  const t = useText()
  const inMs = (ms: number) => () => onChoose(localMinute(new Date(Date.now() + ms)))
  const endOfYear = () => onChoose(`${new Date().getFullYear()}-12-31T23:59`)
  const chips = [
    [t.linkForm.expiresIn.day, inMs(DAY_MS)],
    [t.linkForm.expiresIn.week, inMs(7 * DAY_MS)],
    [t.linkForm.expiresIn.month, inMs(30 * DAY_MS)],
    [t.linkForm.expiresIn.year, endOfYear],
  ] as const
  return chips.map(([name, choose]) => (
    <Chip key={name} onClick={choose}>
      {name}
    </Chip>
  ))
}
